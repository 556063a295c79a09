// Keys, focus, and what is told to screen readers. Without this script the pages work by their forms and links.
"use strict";

(() => {
  // A second press of a key that was meant for the item before must not label the one that has just come.
  const SETTLE_MS = 250;
  let shownAt = performance.now();
  let waiting = 0;

  const page = () => document.getElementById("page");
  const settled = () => waiting === 0 && performance.now() - shownAt >= SETTLE_MS;
  const isWriting = (element) => element.matches?.("textarea, input, select, [contenteditable]") ?? false;
  const say = (id, text) => { document.getElementById(id).textContent = text; };

  function findByKey(attribute, key) {
    return [...document.querySelectorAll(`[${attribute}]`)].find((one) => one.getAttribute(attribute) === key);
  }

  function press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (isWriting(event.target)) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const field = findByKey("data-key-focus", key);
    const list = findByKey("data-key-toggle", key);
    const button = findByKey("data-key", key);
    if (!(field || list || button)) return;
    event.preventDefault();
    if (event.repeat) return;
    if (field) field.focus();
    if (list) toggle(list);
    if (button && settled()) button.click();
  }

  function toggle(list) {
    list.open = !list.open;
    list.querySelector("summary").focus();
  }

  // One decision a press: the second click of a double click, and clicks before the page has settled, decide nothing.
  function guard(event) {
    if (!event.target.closest?.("[data-decides]")) return;
    if (event.detail > 1 || !settled()) {
      event.preventDefault();
      event.stopImmediatePropagation();
    }
  }

  const isQuiet = (event) => event.target.matches?.("[data-quiet]") ?? false;

  // A note is saved on leaving its field, and while it is written. Until then the browser keeps it for this tab.
  const PAUSE_MS = 1000;
  let pause = 0;
  const drafts = findDrafts();
  const field = () => document.getElementById("note");
  const savedNote = () => field().form.elements.noted;
  const draftKey = () => page().dataset.draft ?? "";
  const isChanged = () => field() !== null && field().value !== savedNote().value;

  function findDrafts() {
    try {
      return window.sessionStorage;
    } catch {
      return null; // a browser that may keep nothing
    }
  }

  function saveSoon() {
    clearTimeout(pause);
    pause = setTimeout(saveNote, PAUSE_MS);
  }

  function write(event) {
    if (event.target !== field()) return;
    if (isChanged()) drafts?.setItem(draftKey(), field().value);
    else drafts?.removeItem(draftKey());
    saveSoon();
  }

  function saveNote() {
    if (isChanged()) field().dispatchEvent(new Event("change", { bubbles: true }));
  }

  function takeDraft() {
    const text = drafts?.getItem(draftKey()) ?? null;
    if (field() === null || text === null) return;
    field().value = text;
    saveSoon();
  }

  function forgetDraft(sent) {
    if (drafts?.getItem(sent.key) === sent.note) drafts.removeItem(sent.key);
    if (sent.key !== draftKey() || field() === null) return;
    savedNote().value = sent.note;
    saveSoon(); // what was written, or taken back, since it was sent
  }

  function begin(event) {
    const answers = field() !== null && event.target.closest?.("form.answer") === field().form;
    if (answers) clearTimeout(pause);
    if (answers && isQuiet(event) && !isChanged()) {
      event.preventDefault();
      return;
    }
    if (answers) event.detail.ctx.sent = { key: draftKey(), note: field().value };
    if (isQuiet(event)) return;
    waiting += 1;
    event.detail.ctx.counted = true;
    page().setAttribute("aria-busy", "true");
  }

  function end(event) {
    if (!event.detail.ctx.counted) return;
    waiting = Math.max(0, waiting - 1);
    if (waiting === 0) page().removeAttribute("aria-busy");
  }

  function arrive(event) {
    if (!event.detail.ctx.counted || event.detail.ctx.swap === "none") return;
    if (event.detail.ctx.response?.status < 400) {
      clearTimeout(looking);
      say("alert", "");
    }
    const before = shownItem;
    show();
    const stays = before === shownItem && document.activeElement !== document.body;
    if (!stays) {
      document.querySelector("[data-focus]")?.focus({ preventScroll: true });
      window.scrollTo(0, 0);
    }
  }

  let shownItem = "";
  function show() {
    shownItem = page().dataset.item ?? "";
    shownAt = performance.now();
    say("status", page().dataset.announce ?? "");
    takeDraft();
  }

  function receive(event) {
    const { sent, response } = event.detail.ctx;
    if (sent && response.status < 400) forgetDraft(sent);
  }

  function refuse(event) {
    const told = new DOMParser().parseFromString(event.detail.ctx.text ?? "", "text/html").getElementById("problem");
    const reason = told ? told.textContent : `the server answered ${event.detail.ctx.response.status}`;
    say("alert", `Not done: ${reason}`);
  }

  // The answer is lost, and with it whether the server had stored what it was asked to: only the server can say.
  const LOOK_MS = 1500;
  let looking = 0;

  function lose() {
    say(
      "alert",
      "The server does not answer: this may not have been recorded. Start the program again if it has ended; " +
        "this page will then show what is recorded.",
    );
    clearTimeout(looking);
    looking = setTimeout(lookAgain, LOOK_MS);
  }

  async function lookAgain() {
    const here = page().dataset.here;
    if (!here) return;
    try {
      const answer = await fetch(here);
      if (!answer.ok) throw new Error(answer.statusText);
      const found = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("shell");
      if (waiting === 0 && page().dataset.here === here) renew(found);
    } catch {
      looking = setTimeout(lookAgain, LOOK_MS);
    }
  }

  function renew(found) {
    const wasWriting = document.activeElement === field() && field() !== null;
    document.getElementById("shell").replaceWith(found);
    window.htmx.process(found);
    const said = document.querySelector(".standing b")?.textContent ?? "nothing yet";
    say("alert", `The server answers again. Your decision on this item, as it is recorded: ${said}.`);
    show();
    if (wasWriting) field()?.focus();
  }

  // The token has become a cookie; it need not stand in the address or in the history.
  function dropToken() {
    const address = new URL(window.location.href);
    if (!address.searchParams.has("token")) return;
    address.searchParams.delete("token");
    window.history.replaceState(null, "", address);
  }

  dropToken();
  document.addEventListener("keydown", press);
  document.addEventListener("click", guard, true);
  document.addEventListener("input", write);
  document.addEventListener("htmx:before:request", begin);
  document.addEventListener("htmx:after:request", receive);
  document.addEventListener("htmx:finally:request", end);
  document.addEventListener("htmx:after:swap", arrive);
  document.addEventListener("htmx:response:error", refuse);
  document.addEventListener("htmx:error", lose);
  document.documentElement.classList.add("scripted");
  show();
  document.querySelector("[data-focus]")?.focus({ preventScroll: true });
})();
