/* Start */

const giver = byId("f-reference").closest("label").firstChild.textContent.replace(/ said$/, "");

if (head) {
  fillForm();
  fillLegend();
  byId("filter-box").open = !matchMedia("(max-width: 44rem)").matches || location.hash.startsWith("#items?");
  for (const [key, field] of fields) field.addEventListener(choices.has(key) ? "change" : "input", () => takeGiven(key));
  byId("filter").addEventListener("submit", (event) => event.preventDefault());
  byId("filter").addEventListener("reset", (event) => {
    event.preventDefault();
    given = {};
    for (const field of fields.values()) if (!choices.has(field.id.slice(2))) field.value = "";
    writeAddress();
    showGiven();
    apply();
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
  addEventListener("hashchange", () => follow(true));
  // A mark whose items are shown already changes no address.
  document.addEventListener("click", (event) => {
    if (event.target instanceof Element && event.target.closest("svg a")?.getAttribute("href") === location.hash) follow(true);
  });
  apply();
  follow(false);
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
