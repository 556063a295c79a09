const byId = (id) => document.getElementById(id);
const root = document.documentElement;

/** An element with properties and children; text is only ever text. */
function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name === "class") element.className = value;
    else if (value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/* Theme */

const prefersDark = matchMedia("(prefers-color-scheme: dark)");
const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : prefersDark.matches);
const tellTheme = () => byId("theme").setAttribute("aria-pressed", String(isDark()));
byId("theme").addEventListener("click", () => {
  root.dataset.theme = isDark() ? "light" : "dark";
  tellTheme();
});
prefersDark.addEventListener("change", tellTheme);
tellTheme();

/* Figures: what a mark says, and one stop of the tabulator for each figure */

const tip = byId("tip");

function showTip(mark) {
  tip.textContent = mark.getAttribute("aria-label");
  tip.hidden = false;
  const at = mark.getBoundingClientRect();
  const left = Math.min(at.left, root.clientWidth - tip.offsetWidth - 8);
  const above = at.top - tip.offsetHeight - 8;
  tip.style.left = `${Math.max(8, left)}px`;
  tip.style.top = `${above >= 4 ? above : at.bottom + 8}px`;
}

const hideTip = () => { tip.hidden = true; };
const markOf = (target) => (target instanceof Element ? target.closest("svg [aria-label]") : null);

function moveInFigure(event, marks) {
  const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -Infinity, End: Infinity };
  const from = marks.indexOf(document.activeElement);
  if (!(event.key in steps) || from < 0) return;
  event.preventDefault();
  const to = Math.min(marks.length - 1, Math.max(0, from + steps[event.key]));
  marks[from].setAttribute("tabindex", "-1");
  marks[to].setAttribute("tabindex", "0");
  marks[to].focus();
}

for (const drawing of document.querySelectorAll(".drawing")) {
  const svg = drawing.querySelector("svg");
  const title = svg.querySelector(":scope > title");
  if (title) {
    svg.setAttribute("aria-label", title.textContent);
    svg.removeAttribute("aria-labelledby");
    title.remove();
  }
  const marks = [...svg.querySelectorAll("a")];
  marks.slice(1).forEach((mark) => mark.setAttribute("tabindex", "-1"));
  svg.addEventListener("keydown", (event) => moveInFigure(event, marks));
  for (const kind of ["pointerover", "focusin"]) {
    svg.addEventListener(kind, (event) => { const mark = markOf(event.target); if (mark) showTip(mark); else hideTip(); });
  }
  for (const kind of ["pointerleave", "focusout"]) svg.addEventListener(kind, hideTip);
}
document.addEventListener("keydown", (event) => { if (event.key === "Escape") hideTip(); });
addEventListener("scroll", hideTip, { passive: true, capture: true });

/* What scrolls says so; what does not is no stop of the tabulator. */

function tellScrollers() {
  const boxes = [...document.querySelectorAll(".wide")];
  const scrolling = boxes.map((box) => box.scrollWidth > box.clientWidth);
  boxes.forEach((box, place) => {
    box.classList.toggle("scrolls", scrolling[place]);
    if (scrolling[place]) box.setAttribute("tabindex", "0");
    else box.removeAttribute("tabindex");
  });
}
tellScrollers();
addEventListener("resize", tellScrollers);
document.addEventListener("toggle", tellScrollers, true);
