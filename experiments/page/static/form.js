/* The form */

const fields = new Map(KEYS.map((key) => [key, byId(`f-${key}`)]));
const choices = new Map();

function fill(key, values, name = (value) => value) {
  const select = fields.get(key);
  choices.set(key, [null, ...values]);
  select.replaceChildren(make("option", {}, "any"), ...values.map((value) => make("option", {}, name(value))));
  select.closest("label").hidden = values.length < 1;
}

function fillForm() {
  const parts = (part) => {
    const found = new Set(items.map((item) => item[part] ?? ""));
    return found.size > 1 || (found.size === 1 && !found.has("")) ? [...found].sort(collator.compare) : [];
  };
  fill("grader", head.graders.map((_, place) => String(place + 1)), (value) => head.graders[Number(value) - 1].name);
  fill("reference", head.labels);
  fill("verdict", head.labels);
  fill("error", head.positive < 0 || !items.some((item) => item.references.some((label) => label >= 0)) ? [] : Object.keys(ERRORS), (value) => ERRORS[value]);
  const failures = new Set(items.flatMap((item) => item.cells.flatMap((cell) => codesOf(cell).filter((code) => !isLabel(code)).map(labelOf))));
  fill("failure", failures.size ? ["any", ...[...failures].sort()] : [], (value) => (value === "any" ? "of any reason" : plain(value)));
  for (const part of ["kind", "topic", "answer_type"]) fill(part, parts(part), (value) => visible(value) || "(none)");
}

/** Kinds and topics are compared as they are, and shown without what would act on the reader. */
function visible(text) {
  return text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (sign) => `\\u${sign.codePointAt(0).toString(16).padStart(4, "0")}`);
}

function showGiven() {
  for (const [key, field] of fields) {
    const value = given[key];
    if (choices.has(key)) {
      const known = choices.get(key);
      if (value !== undefined && !known.includes(value)) {
        known.push(value);
        field.append(make("option", {}, visible(value)));
        field.closest("label").hidden = false;
      }
      field.selectedIndex = value === undefined ? 0 : known.indexOf(value);
    } else if (document.activeElement !== field) field.value = value ?? "";
    field.classList.toggle("set", value !== undefined);
  }
}

function takeGiven(key) {
  const field = fields.get(key);
  const value = choices.has(key) ? choices.get(key)[field.selectedIndex] : field.value.trim() || null;
  if (value === null) delete given[key];
  else given[key] = value;
  writeAddress();
  showGiven();
  apply();
}
