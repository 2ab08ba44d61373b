// The list of passages: which are shown, in which order, and which one is chosen.

import { clock } from "./times.js";

const UNSURE = 0.5;
const list = document.getElementById("list");
const filters = ["state", "flag", "order"].map(
  (name) => /** @type {HTMLSelectElement} */ (document.getElementById(`by-${name}`)),
);

/** @type {Map<string, any>} */
export const passages = new Map();
/** The ids that are shown, in their order. */
let order = [];
/** @type {string | null} */
let chosen = null;
/** @type {(id: string) => void} */
let onChoice = () => {};

export const chosenId = () => chosen;
export const isUnsure = (passage) => passage.confidence !== null && passage.confidence < UNSURE;

export function prepare(callback) {
  onChoice = callback;
  for (const filter of filters) filter.addEventListener("change", () => { arrange(); chooseFirst(); });
  list.addEventListener("click", (event) => {
    const button = /** @type {Element} */ (event.target).closest("button");
    if (button) onChoice(button.dataset.id);
  });
}

function passes(passage) {
  const [state, flag] = filters.map((filter) => filter.value);
  if (state && passage.state !== state) return false;
  if (!flag) return true;
  if (flag === "unsure") return isUnsure(passage);
  if (flag === "script") return passage.origin === "script";
  if (flag === "wordless") return passage.text === "";
  return passage.flags.includes(flag) || passage.reason === flag;
}

/** Filter and order anew. What is decided later keeps its place until then. */
export function arrange() {
  const shown = [...passages.values()].filter(passes);
  const doubt = (passage) => (passage.state === "proposed" ? passage.confidence ?? UNSURE : 2);
  shown.sort((a, b) => (filters[2].value === "doubt" ? doubt(a) - doubt(b) : 0) || a.start - b.start);
  order = shown.map((passage) => passage.id);
  list.replaceChildren(...order.map(row));
  showNothing();
  mark();
}

function showNothing() {
  const note = document.getElementById("nothing");
  note.hidden = order.length > 0;
  note.textContent = passages.size ? "There is no such passage." : note.dataset.none;
}

export function chooseFirst() {
  if (order.length && !order.includes(chosen)) onChoice(order[0]);
}

function row(id) {
  const passage = passages.get(id);
  const item = document.createElement("li");
  const button = document.createElement("button");
  button.type = "button";
  button.tabIndex = -1;
  button.dataset.id = id;
  const time = document.createElement("span");
  time.className = "time";
  time.textContent = clock(passage.start);
  const words = document.createElement("span");
  words.className = "words";
  words.textContent = passage.text || `${(passage.end - passage.start).toFixed(1)} s without words`;
  if (!passage.text) words.classList.add("dim");
  const marks = document.createElement("span");
  marks.className = "marks";
  marks.append(...marksOf(passage).slice(passage.state === "proposed" ? 1 : 0)); // most are to do
  button.append(time, words, marks);
  item.append(button);
  return item;
}

/** The small signs of a passage: its state, what it may be rejected for, and doubt. */
export function marksOf(passage) {
  const marks = [chip(stateOf(passage), { accepted: "good", edited: "good", rejected: "poor" }[passage.state])];
  if (passage.state === "proposed") {
    if (isUnsure(passage)) marks.push(chip(`unsure ${passage.confidence.toFixed(2)}`, "wait"));
    marks.push(...passage.flags.map((flag) => chip(`${flag}?`, "wait")));
  }
  if (passage.origin === "script") marks.push(chip("script"));
  return marks;
}

export const stateOf = (passage) => {
  if (passage.state === "proposed") return "to do";
  return passage.reason ? `${passage.state}: ${passage.reason}` : passage.state;
};

export function chip(text, kind = "") {
  const element = document.createElement("span");
  element.className = `chip ${kind ?? ""}`;
  element.textContent = text;
  return element;
}

const buttonOf = (id) => /** @type {HTMLButtonElement | null} */ (
  list.querySelector(`button[data-id="${CSS.escape(id)}"]`));

/** Mark the chosen row. It is the only one that Tab stops at; the others are reached by keys. */
function mark() {
  const old = /** @type {HTMLButtonElement | null} */ (list.querySelector("[aria-current]"));
  old?.removeAttribute("aria-current");
  if (old) old.tabIndex = -1;
  const button = chosen === null ? null : buttonOf(chosen);
  button?.setAttribute("aria-current", "true");
  const stop = button ?? list.querySelector("button");
  if (stop) stop.tabIndex = 0;
}

/** Choose a passage; the focus goes to its row, unless somebody uses something else. */
export function choose(id) {
  const hadFocus = list.contains(document.activeElement) || document.activeElement === document.body;
  chosen = id;
  mark();
  const button = buttonOf(id);
  if (!button) return;
  if (hadFocus) button.focus({ preventScroll: true });
  const box = button.getBoundingClientRect();
  const frame = list.getBoundingClientRect();
  if (box.top < frame.top || box.bottom > frame.bottom) {
    list.scrollTop += box.top - frame.top - (frame.height - box.height) / 3;
  }
}

/** Give the focus back to the list, so that keys act on the chosen passage. */
export function focus() {
  if (chosen !== null) buttonOf(chosen)?.focus({ preventScroll: true });
}

/** The id of a row before or after the chosen one; null at the ends. */
export function neighbour(by) {
  const place = order.indexOf(chosen);
  return place < 0 ? order[0] ?? null : order[place + by] ?? null;
}

/** Take over what a decision changed. */
export function take(changed, removed) {
  for (const id of removed) {
    passages.delete(id);
    order = order.filter((each) => each !== id);
    buttonOf(id)?.parentElement.remove();
  }
  for (const passage of changed) {
    passages.set(passage.id, passage);
    const old = buttonOf(passage.id)?.parentElement;
    if (old) {
      const hadFocus = old.contains(document.activeElement);
      const renewed = row(passage.id);
      old.replaceWith(renewed);
      if (hadFocus) renewed.querySelector("button").focus({ preventScroll: true });
    } else { // new: behind the chosen one
      const place = order.indexOf(chosen) + 1;
      order.splice(place, 0, passage.id);
      list.insertBefore(row(passage.id), list.children[place] ?? null);
    }
  }
  showNothing();
  mark();
}
