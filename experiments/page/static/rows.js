/* Rows */

function fillLegend() {
  const labels = head.labels.map((label, code) => [`l${colours[code]}`, head.short[code], label]);
  const missing = choices.get("failure").length > 1 ? [["none", "×", "no verdict"]] : [];
  byId("legend").replaceChildren(...[...labels.reverse(), ...missing].map(([kind, short, name]) => make("span", {}, make("i", { class: kind }, short), name)));
}

/** The verdicts of one grader as a bar: each label as wide as its share, with its first letters. */
function bar(cell, grader) {
  const counted = new Map();
  if (cell[2]) cell[2].forEach((share, code) => { if (share >= 0.005) counted.set(code, share); });
  else for (const code of codesOf(cell)) counted.set(code, (counted.get(code) ?? 0) + 1);
  const parts = [...counted].sort(([a], [b]) => b - a);
  const told = parts.map(([code, n]) => `${labelOf(code)} ${cell[2] ? percent(n) : n}`).join(", ");
  const whole = parts.reduce((sum, [, n]) => sum + n, 0);
  const marks = parts.map(([code, n]) => {
    const mark = make("i", { class: isLabel(code) ? `l${colours[code]}` : "none" }, n / whole >= 0.095 ? (isLabel(code) ? head.short[code] : "×") : "");
    mark.style.flexGrow = n;
    return mark;
  });
  return make("span", { class: "mix", role: "img", "aria-label": `${head.graders[grader].name}: ${told}`, title: `${head.graders[grader].name}: ${told}` }, ...marks);
}

function spread(item) {
  const graders = filter.graders.length ? filter.graders : head.graders.map((_, place) => place);
  const list = make("div", { class: graders.length > 4 ? "spread two" : "spread" });
  for (const grader of graders) {
    list.append(make("span", { class: "of", "aria-hidden": "true" }, String(grader + 1)), bar(item.cells[grader], grader));
  }
  return list;
}

/** Long labels may break behind an underscore. */
function breakable(text) {
  return text.split(/(?<=_)/).flatMap((part, place) => (place ? [make("wbr"), part] : [part]));
}

function labelCell(item) {
  const given = [...new Set(item.references)].map((label) => (label < 0 ? "no common label" : head.labels[label]));
  const votes = new Map();
  for (const [, label] of item.votes) votes.set(label, (votes.get(label) ?? 0) + 1);
  const told = votes.size > 1 ? [...votes].map(([label, n]) => `${head.labels[label]} ${n}`).join(", ") : item.votes.length > 1 ? `${item.votes.length} alike` : null;
  return make("td", { class: "label", role: "cell", "data-name": giver }, make("div", {}, make("b", {}, ...breakable(given.join(" / "))), told ? make("small", {}, told) : null));
}

function line(name, text, extra, clamped) {
  return make("p", { class: clamped ? "said clamp" : "said" }, make("span", { class: "tag" }, name), make("span", { class: "text" }, text), extra ? " " : null, extra ? make("span", { class: "range" }, extra) : null);
}

const opened = new Set();

function row(item) {
  const parts = [item.id, item.kind, item.topic, item.answer_type].filter((part) => part).map(visible);
  const isOpen = opened.has(item.place);
  const more = make("button", { type: "button", class: "quiet more", "aria-expanded": String(isOpen), "aria-label": `Texts and replies of ${item.id}` }, "Texts and replies");
  const what = make("td", { class: "what", role: "cell" }, make("p", { class: "id" }, parts.join(" · ")), make("p", { class: "question text clamp" }, item.question),
    line("Reference", item.reference, item.range, true), line("Response", item.response, null, true), more);
  const agreement = agreementOf(item, filter.graders);
  const made = make("tr", { role: "row", class: isOpen ? "open" : null }, what, labelCell(item), make("td", { role: "cell", "data-name": "Verdicts" }, spread(item)),
    make("td", { class: "number", role: "cell", "data-name": "Lowest agreement" }, make("span", {}, percent(agreement))),
    make("td", { class: "number", role: "cell", "data-name": "Wrong" }, make("span", {}, percent(wrongOf(item, filter.graders)))));
  const rows = [made];
  more.addEventListener("click", () => toggle(item, made, more));
  if (isOpen) rows.push(inside(item));
  return rows;
}

function toggle(item, made, more) {
  const open = !opened.has(item.place);
  if (open) opened.add(item.place);
  else opened.delete(item.place);
  more.setAttribute("aria-expanded", String(open));
  made.classList.toggle("open", open);
  if (open) made.after(inside(item));
  else made.nextElementSibling.remove();
}

function inside(item) {
  const cell = make("td", { colspan: "5", role: "cell", class: "inside" });
  const facts = [["question", item.question], ["reference", item.reference], ["range", item.range && item.outcome ? `${item.range}; the response is ${plain(item.outcome)} by the range check` : item.range],
    ["response", item.response], ["respondent", item.respondent], [giver.toLowerCase(), item.votes.map(([rater, label]) => `${rater}: ${head.labels[label]}`).join(", ")]];
  cell.append(make("dl", { class: "texts" }, ...facts.filter(([, text]) => text).map(([name, text]) => make("div", {}, make("dt", {}, name), make("dd", { class: "text" }, text)))));
  const list = make("div", { class: "replies" });
  cell.append(list);
  fillReplies(item, list);
  return make("tr", { role: "row", class: "within" }, cell);
}

async function fillReplies(item, list) {
  replyLines ??= unpack("reply-data");
  const lines = await replyLines;
  const told = item.place < lines.length ? JSON.parse(lines[item.place]) : null;
  if (!told) list.append(make("p", { class: "note" }, "The raw replies of this item have no room on this page; they are in the store."));
  const graders = filter.graders.length ? filter.graders : head.graders.map((_, place) => place);
  for (const grader of graders) list.append(...repliesOf(item.cells[grader], grader, told ? told[grader] : []));
}

function repliesOf(cell, grader, told) {
  const rows = codesOf(cell).map((code, repeat) => {
    const reply = told[repeat];
    const text = Array.isArray(reply) ? make("span", { class: "note" }, `no reply: ${reply[0]}`) : typeof reply === "string" ? make("span", { class: "reply text" }, reply === "" ? "(empty)" : reply) : null;
    return make("li", {}, make("b", {}, labelOf(code)), text);
  });
  const chances = cell[2] ? make("p", { class: "note" }, `chances: ${cell[2].map((share, code) => `${head.labels[code]} ${(100 * share).toFixed(1)}%`).join(", ")}`) : null;
  return [make("h4", {}, head.graders[grader].name), ...(chances ? [chances] : []), make("ol", {}, ...rows)];
}

function told(from, to) {
  const filtered = Object.keys(given).length ? `${count(shown.length)} of ${count(items.length)} items` : `${count(items.length)} items`;
  return shown.length ? `${filtered}, ${count(from + 1)} to ${count(to)} shown` : `No item of ${count(items.length)} fits the filter`;
}

function draw(from = page * PER_PAGE, to = Math.min(shown.length, (page + 1) * PER_PAGE)) {
  byId("rows").replaceChildren(...shown.slice(from, to).flatMap(row));
  byId("count").textContent = told(from, to);
  const pages = Math.max(1, Math.ceil(shown.length / PER_PAGE));
  byId("page-of").textContent = `page ${count(page + 1)} of ${count(pages)}`;
  for (const id of ["previous", "previous-below"]) byId(id).disabled = page === 0;
  for (const id of ["next", "next-below"]) byId(id).disabled = page + 1 >= pages;
}

function turn(by, toTop) {
  page += by;
  draw();
  if (toTop) byId("items-heading").scrollIntoView();
}
