/* Items */

async function unpack(id) {
  const packed = JSON.parse(byId(id).textContent);
  if (!packed) return [];
  const raw = atob(packed);
  const bytes = new Uint8Array(raw.length);
  for (let place = 0; place < raw.length; place += 1) bytes[place] = raw.charCodeAt(place);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return (await new Response(stream).text()).trimEnd().split("\n");
}

const KEYS = ["text", "grader", "reference", "verdict", "error", "failure", "kind", "topic", "answer_type", "agreement_low", "agreement_high"];
const ERRORS = { false_negative: "false negative", false_positive: "false positive" };
const PER_PAGE = 25;
const MOST_PRINTED = 200;
const WORST_PRINTED = 50;
const DASH = "–";
const count = (n) => n.toLocaleString("en-US");
const percent = (share) => (share === null ? DASH : `${(100 * share).toFixed(0)}%`);
const plain = (word) => word.replaceAll("_", " ");

const [head, ...items] = (await unpack("item-data")).map((line) => JSON.parse(line)).map((read, place) => (place ? readItem(read, place - 1) : read));
let replyLines = null;

function readItem(read, place) {
  const [id, question, reference, response, range, kind, topic, answerType, respondent, references, votes, outcome, cells] = read;
  return { place, id, question, reference, range, response, kind, topic, answer_type: answerType, respondent, references, votes, outcome, cells, found: null };
}

const labelOf = (code) => (code < head.labels.length ? head.labels[code] : head.failures[code - head.labels.length]);
const codesOf = (cell) => Array.from(cell[0], (letter) => letter.charCodeAt(0) - 48);
const OTHERS = [0, 1, 3, 4, 5];
const colours = head?.labels.map((_, code) => (code === head.positive ? 2 : OTHERS[(code > head.positive && head.positive >= 0 ? code - 1 : code) % OTHERS.length]));
const isLabel = (code) => code < head.labels.length;

/** Whether a verdict is an error of this kind, of one item with this label of people. */
function isError(code, reference, error) {
  if (!isLabel(code) || reference < 0 || head.positive < 0) return false;
  return error === "false_negative"
    ? reference === head.positive && code !== head.positive
    : reference !== head.positive && code === head.positive;
}

function readFilter(given) {
  const filter = { ...given };
  filter.graders = head.graders.map((_, place) => place);
  if ("grader" in given) filter.graders = filter.graders.filter((place) => String(place + 1) === given.grader);
  filter.label = "reference" in given ? head.labels.indexOf(given.reference) : null;
  filter.code = "verdict" in given ? head.labels.indexOf(given.verdict) : null;
  filter.words = (given.text ?? "").toLowerCase();
  filter.low = "agreement_low" in given ? Number(given.agreement_low) : null;
  filter.high = "agreement_high" in given ? Number(given.agreement_high) : null;
  return filter;
}

function holdsFor(item, filter, grader) {
  const cell = item.cells[grader];
  const reference = item.references[head.graders[grader].rubric];
  if (filter.label !== null && (filter.label < 0 || reference !== filter.label)) return false;
  if (filter.low !== null && !(cell[1] !== null && cell[1] >= filter.low)) return false;
  if (filter.high !== null && !(cell[1] !== null && cell[1] <= filter.high)) return false;
  if (filter.code === null && !("error" in filter) && !("failure" in filter)) return true;
  const codes = codesOf(cell);
  if ("failure" in filter && !codes.some((code) => !isLabel(code) && (filter.failure === "any" || labelOf(code) === filter.failure))) return false;
  if (filter.code === null && !("error" in filter)) return true;
  return codes.some((code) => isLabel(code) && (filter.code === null || code === filter.code) && (!("error" in filter) || isError(code, reference, filter.error)));
}

/** What the text filter looks through. */
function wordsOf(item) {
  item.found ??= [item.id, item.question, item.reference, item.response, item.respondent].join("\n").toLowerCase();
  return item.found;
}

function holds(item, filter) {
  for (const part of ["kind", "topic", "answer_type"]) if (part in filter && (item[part] ?? "") !== filter[part]) return false;
  if (filter.words && !wordsOf(item).includes(filter.words)) return false;
  return filter.graders.some((grader) => holdsFor(item, filter, grader));
}

/** Least agreement of an item's repeats, over these graders. */
function agreementOf(item, graders) {
  const known = graders.map((grader) => item.cells[grader][1]).filter((share) => share !== null);
  return known.length ? Math.min(...known) : null;
}

/** Share of these graders' valid verdicts that are not people's label. */
function wrongOf(item, graders) {
  let wrong = 0;
  let valid = 0;
  for (const grader of graders) {
    const reference = item.references[head.graders[grader].rubric];
    if (reference < 0) continue;
    const shares = item.cells[grader][2];
    if (shares) { valid += 1; wrong += 1 - shares[reference]; continue; }
    for (const code of codesOf(item.cells[grader])) if (isLabel(code)) { valid += 1; wrong += code !== reference; }
  }
  return valid ? wrong / valid : null;
}

/* State: the filter is the address, the rest is of the moment. */

let given = {};
let filter = readFilter(given);
let shown = items;
let page = 0;
let order = { by: null, down: false };

function readAddress() {
  const [path, query] = [location.hash.split("?")[0], location.hash.split("?").slice(1).join("?")];
  if (path !== "#items") return false;
  const read = new URLSearchParams(query);
  given = Object.fromEntries(KEYS.filter((key) => read.has(key)).map((key) => [key, read.get(key)]));
  return true;
}

function writeAddress() {
  const keys = KEYS.filter((key) => key in given).sort();
  const query = keys.map((key) => `${key}=${encodeURIComponent(given[key])}`).join("&");
  history.replaceState(null, "", query ? `#items?${query}` : "#items");
}

const collator = new Intl.Collator("en", { numeric: true });
const SORTS = {
  id: (item) => item.id,
  label: (item) => item.references[0] ?? -1,
  agreement: (item) => agreementOf(item, filter.graders),
  wrong: (item) => wrongOf(item, filter.graders),
};

/** What is not known stands last, whichever way round. */
function sorted(found) {
  if (!order.by) return found;
  const keyed = found.map((item) => [SORTS[order.by](item), item]);
  const sign = order.down ? -1 : 1;
  keyed.sort(([a, first], [b, second]) => {
    if (a === null || b === null) return (a === null) - (b === null) || first.place - second.place;
    return sign * (typeof a === "string" ? collator.compare(a, b) : a - b) || first.place - second.place;
  });
  return keyed.map(([, item]) => item);
}

function apply() {
  filter = readFilter(given);
  shown = sorted(items.filter((item) => holds(item, filter)));
  page = 0;
  draw();
}
