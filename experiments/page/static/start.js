/* Start */

const giver = byId("f-reference").closest("label").firstChild.textContent.replace(/ said$/, "");

if (head) {
  fillForm();
  fillLegend();
  byId("filter-box").open = !matchMedia("(max-width: 44rem)").matches || location.hash.startsWith("#items?");
  for (const [key, field] of fields) field.addEventListener(choices.has(key) ? "change" : "input", () => takeGiven(key));
  byId("filter").addEventListener("submit", (event) => event.preventDefault());
  const clear = () => {
    given = {};
    for (const [key, field] of fields) if (!choices.has(key)) field.value = "";
    showGiven();
    apply();
  };
  byId("filter").addEventListener("reset", (event) => {
    event.preventDefault();
    clear();
    writeAddress();
  });
  for (const header of document.querySelectorAll(".items th[data-sort]")) {
    header.querySelector("button").addEventListener("click", () => {
      const by = header.dataset.sort;
      const down = order.by === by ? !order.down : by === "wrong";
      order = { by, down };
      for (const other of document.querySelectorAll(".items th[data-sort]")) other.removeAttribute("aria-sort");
      header.setAttribute("aria-sort", down ? "descending" : "ascending");
      apply();
    });
  }
  byId("previous").addEventListener("click", () => turn(-1, false));
  byId("next").addEventListener("click", () => turn(1, false));
  byId("previous-below").addEventListener("click", () => turn(-1, true));
  byId("next-below").addEventListener("click", () => turn(1, true));
  const follow = (focus) => {
    if (!readAddress()) return;
    showGiven();
    apply();
    byId("item-list").scrollIntoView();
    if (focus) byId("items-heading").focus({ preventScroll: true });
  };
  // Back to where nothing was chosen is back to all items, at the place where the browser puts its reader.
  addEventListener("hashchange", () => {
    if (location.hash) follow(true);
    else if (Object.keys(given).length) clear();
  });
  // A mark whose items are shown already changes no address.
  document.addEventListener("click", (event) => {
    if (event.target instanceof Element && event.target.closest("svg a")?.getAttribute("href") === location.hash) follow(true);
  });
  apply();
  follow(false);
  // Before somebody types, so that the first letter does not wait for it.
  (globalThis.requestIdleCallback ?? setTimeout)(() => items.forEach(wordsOf));
} else {
  byId("count").textContent = "This run has no items, or none has room on this page.";
  byId("filter-box").hidden = true;
}

/* Print: all parts open, and the items as filtered, or the worst. */

let closed = [];
addEventListener("beforeprint", () => {
  closed = [...document.querySelectorAll("details:not([open])")];
  closed.forEach((part) => { part.open = true; });
  if (!head) return;
  const most = Object.keys(given).length ? MOST_PRINTED : WORST_PRINTED;
  draw(0, Math.min(shown.length, most));
});
addEventListener("afterprint", () => {
  closed.forEach((part) => { part.open = false; });
  if (head) draw();
});
