// The review page: keys and buttons become decisions, and what the server stored is shown.

import * as list from "./list.js";
import * as names from "./names.js";
import * as player from "./player.js";
import { post, readState, stillAt } from "./server.js";
import * as timeline from "./timeline.js";
import { clock } from "./times.js";

const byId = (id) => document.getElementById(id);
const main = document.querySelector("main");
const isReadOnly = "readOnly" in main.dataset;
const editor = /** @type {HTMLFormElement} */ (byId("editor"));
const words = /** @type {HTMLTextAreaElement} */ (byId("words"));
const help = /** @type {HTMLDialogElement} */ (byId("keys"));
const useKeys = /** @type {HTMLInputElement} */ (byId("use-keys"));
const still = /** @type {HTMLImageElement} */ (byId("still"));

const AHEAD = 700; // milliseconds after which what comes next is fetched

let film; // what the server said last, without the passages
let voice = "ad";
let pending = { id: "", start: 0, end: 0 }; // how far edges are still to be moved
let queue = Promise.resolve();

const current = () => list.passages.get(list.chosenId());
const all = () => [...list.passages.values()];

// What is shown

function say(text) {
  byId("said").textContent = text;
}

function warn(text) {
  byId("alert").textContent = text;
  byId("alert").hidden = !text;
}

function showPassage() {
  const passage = current();
  if (!passage) return;
  byId("times").textContent =
    `${clock(passage.start, 2)} – ${clock(passage.end, 2)}`;
  byId("state").replaceWith(Object.assign(list.marksOf(passage)[0], { id: "state" }));
  byId("flags").replaceChildren(...list.marksOf(passage).slice(1));
  byId("doubt").textContent = `${(passage.end - passage.start).toFixed(2)} s`
    + (passage.confidence === null ? "" : `, confidence ${passage.confidence.toFixed(2)}`);
  byId("text").textContent = passage.text || "No words yet: press E to write them.";
  byId("text").classList.toggle("dim", !passage.text);
  timeline.showAround(passage, all(), passage.id);
}

function showSummary() {
  const counts = all().filter((passage) => passage.state === "proposed").length;
  byId("left").textContent = `${counts} of ${list.passages.size} to do`
    + (film.orphaned ? `; ${film.orphaned} decisions are about what is no longer there` : "");
  const sources = { ad: "narration", script: "script" };
  byId("report").replaceChildren(...film.report.map((row) => {
    const line = document.createElement("tr");
    const cells = [sources[row.source], `${(100 * row.lost).toFixed(1)} %`, row.paper];
    line.append(...cells.map((text, number) => {
      const cell = document.createElement(number ? "td" : "th");
      if (number) cell.className = "number";
      else cell.setAttribute("scope", "row");
      cell.textContent = text;
      return cell;
    }));
    return line;
  }));
  document.querySelector(".report").toggleAttribute("hidden", film.report.length === 0);
}

function choose(id) {
  if (!list.passages.has(id)) return;
  const isOther = id !== list.chosenId();
  list.choose(id);
  if (isOther) {
    player.stop();
    closeEditor();
    const passage = current();
    timeline.setSelection(null);
    timeline.setCursor((passage.start + passage.end) / 2);
    showStill(passage);
    setTimeout(() => {
      const next = list.passages.get(list.neighbour(1));
      if (next && id === list.chosenId()) timeline.fetchAhead(next);
    }, AHEAD);
  }
  showPassage();
}

function showStill(passage) {
  still.hidden = !film.video;
  if (film.video) still.src = stillAt((passage.start + passage.end) / 2);
}

async function load() {
  const { passages, ...rest } = await readState();
  film = rest;
  list.passages.clear();
  for (const passage of passages) list.passages.set(passage.id, passage);
  list.arrange();
  showSummary();
  if (!film.voices.includes(voice)) voice = film.voices[0] ?? "";
  showVoices();
  const id = list.chosenId();
  if (id !== null && list.passages.has(id)) showPassage();
  else list.chooseFirst();
}

function showVoices() {
  for (const button of document.querySelectorAll("[data-voice]")) {
    const name = /** @type {HTMLButtonElement} */ (button).dataset.voice;
    button.setAttribute("aria-pressed", String(name === voice));
    button.toggleAttribute("disabled", !film.voices.includes(name));
  }
  document.querySelector("[data-do=play]").toggleAttribute("disabled", film.voices.length === 0);
  byId("timeline").classList.toggle("silent", film.voices.length === 0);
}

// Decisions

const SAID = {
  accept: "Accepted", reject: "Rejected", move: "Moved", edit: "Words stored", split: "Split",
  merge: "Merged", new: "New segment", name: "Is a name now", "no-name": "Is no name now",
};

/** Decide one thing after the other; what is asked for is worked out when its turn comes. */
function decide(request) {
  queue = queue.then(async () => {
    const body = request();
    if (!body) return;
    if (isReadOnly) {
      say("This review is read-only.");
      return;
    }
    try {
      const reply = await post({ version: film.version, ...body });
      warn("");
      take(reply);
    } catch (error) {
      if (error.status === 409) {
        await load();
        warn(error.message);
      } else if (error.status === 422) {
        say(error.message);
      } else {
        warn(error.message);
      }
    }
  });
  return queue;
}

function take(reply) {
  const { changed, removed, target, done, undone, ...rest } = reply;
  const before = list.chosenId();
  film = { ...film, ...rest };
  const isAhead = (done === "accept" || done === "reject") && target === before;
  const next = isAhead ? list.neighbour(1) : null;
  list.take(changed, removed);
  showSummary();
  const shown = list.passages.get(target);
  const about = shown ? `: ${clock(shown.start, 2)} – ${clock(shown.end, 2)}` : "";
  say(done === "undo" ? `Undone: ${SAID[undone].toLowerCase()}${about}` : `${SAID[done]}${about}`);
  if (done === "new") timeline.setSelection(null);
  const wanted = next ?? target ?? before;
  if (list.passages.has(wanted)) choose(wanted);
  else list.chooseFirst();
}

const about = (action, more = {}) => decide(() => current() && ({ action, target: list.chosenId(), ...more }));

/** Move edges of the chosen passage; what comes while the server stores is added up. */
function nudge(edge, by) {
  const id = list.chosenId();
  const isWaiting = pending.id === id;
  if (!isWaiting) pending = { id, start: 0, end: 0 };
  pending[edge] += by;
  if (isWaiting) return;
  decide(() => {
    const moved = pending;
    if (pending.id === id) pending = { id: "", start: 0, end: 0 };
    const passage = list.passages.get(id);
    return passage && {
      action: "move", target: id, start: passage.start + moved.start, end: passage.end + moved.end,
    };
  });
}

function openEditor() {
  const passage = current();
  if (!passage || isReadOnly) return;
  editor.hidden = false;
  byId("text").hidden = true;
  words.value = passage.text;
  words.focus();
}

function closeEditor() {
  if (editor.hidden) return;
  const hadFocus = editor.contains(document.activeElement);
  editor.hidden = true;
  byId("text").hidden = false;
  if (hadFocus) list.focus();
}

editor.addEventListener("submit", (event) => {
  event.preventDefault();
  const text = words.value;
  about("edit", { text });
  closeEditor();
});
editor.addEventListener("keydown", (event) => {
  if (event.key === "Escape") closeEditor();
  if (event.key === "Enter" && !event.shiftKey && event.target === words) {
    event.preventDefault();
    editor.requestSubmit();
  }
});

// Hearing

async function hear(name) {
  if (name && film.voices.includes(name)) voice = name;
  showVoices();
  if (!current() || !voice) {
    say("There is no sound to hear.");
    return;
  }
  try {
    await player.play(voice, current());
  } catch {
    say("The sound cannot be played.");
  }
}

player.onPlaying((time) => {
  byId("playing").textContent = time === null ? "Play" : "Pause";
  if (time !== null) timeline.setCursor(time);
});

// Keys and buttons

const ACTIONS = {
  play: () => (player.isPlaying() ? player.pause() : hear()),
  next: () => go(1),
  previous: () => go(-1),
  accept: () => about("accept"),
  reject: (note = "") => about("reject", { note }),
  undo: () => decide(() => ({ action: "undo" })),
  split: () => about("split", { at: timeline.getCursor() }),
  merge: () => about("merge"),
  new: () => {
    const selection = timeline.getSelection();
    if (selection) decide(() => ({ action: "new", start: selection[0], end: selection[1] }));
    else say("Select the new segment first: drag over the picture, or press [ and ] at the cursor.");
  },
  edit: openEditor,
  cancel: closeEditor,
  names: () => current() && names.show(current(), film.names),
  keys: () => help.showModal(),
};

function go(by) {
  const id = list.neighbour(by);
  if (id === null) say(by > 0 ? "This is the last passage." : "This is the first passage.");
  else choose(id);
}

const REASONS = [...document.querySelectorAll("[data-note]")].map(
  (button) => /** @type {HTMLButtonElement} */ (button).dataset.note,
);
const KEYS = {
  " ": ACTIONS.play, j: ACTIONS.next, k: ACTIONS.previous, Enter: ACTIONS.accept,
  x: () => ACTIONS.reject(), s: ACTIONS.split, m: ACTIONS.merge, n: ACTIONS.new, e: ACTIONS.edit,
  p: ACTIONS.names, u: ACTIONS.undo, "?": ACTIONS.keys,
  f: () => hear("film"), a: () => hear("ad"), r: () => hear("residual"),
  ",": () => step(-0.1), ".": () => step(0.1), "<": () => step(-1), ">": () => step(1),
  ";": () => step(-1), ":": () => step(1), // the same keys with Shift on other keyboards
  "[": () => select(timeline.getCursor(), timeline.getSelection()?.[1]),
  "]": () => select(timeline.getSelection()?.[0], timeline.getCursor()),
  ...Object.fromEntries(REASONS.map((reason, number) => [String(number + 1), () => ACTIONS.reject(reason)])),
};

function step(by) {
  timeline.setCursor(timeline.getCursor() + by);
  say(`Cursor at ${clock(timeline.getCursor(), 2)}`);
}

function select(from, to) {
  const cursor = timeline.getCursor();
  const span = [from ?? Math.min(cursor, current()?.start ?? cursor), to ?? cursor + 1];
  timeline.setSelection([Math.min(...span), Math.max(...span)]);
  const selection = timeline.getSelection();
  if (selection) say(`Selected ${clock(selection[0], 2)} – ${clock(selection[1], 2)}`);
}

/** Tell whether a key belongs to what has the focus: a field, another button, a dialog. */
function isTaken(event) {
  const target = /** @type {HTMLElement} */ (event.target);
  if (document.querySelector("dialog[open]")) return true;
  if (target.closest("input, select, textarea")) return true;
  const isPress = event.key === " " || event.key === "Enter";
  return isPress && target.closest("button, a, summary") !== null && !target.closest("#list");
}

document.addEventListener("keydown", (event) => {
  if (!film || event.ctrlKey || event.metaKey || isTaken(event)) return;
  if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
    event.preventDefault();
    const by = (event.shiftKey ? 0.01 : 0.05) * (event.key === "ArrowLeft" ? -1 : 1);
    nudge(event.altKey ? "start" : "end", by);
    return;
  }
  const isUp = event.key === "ArrowUp";
  if ((isUp || event.key === "ArrowDown") && byId("list").contains(/** @type {Node} */ (event.target))) {
    event.preventDefault();
    go(isUp ? -1 : 1);
    return;
  }
  if (event.altKey || !(useKeys.checked || event.key === "Enter" || event.key === " ")) return;
  const action = KEYS[event.key] ?? KEYS[event.key.toLowerCase()];
  if (!action || (event.repeat && !"jk,.<>".includes(event.key))) return;
  event.preventDefault();
  action();
});

document.addEventListener("click", (event) => {
  const button = /** @type {Element} */ (event.target).closest("button");
  if (!button || !film) return;
  const { do: name, note, voice: chosen, edge, by } = button.dataset;
  if (name) ACTIONS[name](note);
  else if (chosen) hear(chosen);
  else if (edge) nudge(edge, Number(by));
  const isMouse = event.detail > 0; // Enter would press the button again
  if (isMouse && button.closest(".tools") && !main.querySelector("form:not([hidden])")) list.focus();
});

byId("film").addEventListener("change", (event) => {
  const id = /** @type {HTMLSelectElement} */ (event.target).value;
  location.search = `?film=${encodeURIComponent(id)}`;
});
useKeys.addEventListener("change", () => localStorage.setItem("reelscore:keys", String(useKeys.checked)));
useKeys.checked = localStorage.getItem("reelscore:keys") !== "false";

list.prepare(choose);
names.prepare(async (word, isName) => {
  await about(isName ? "name" : "no-name", { text: word });
  if (names.isShown() && current()) names.show(current(), film.names);
});
timeline.prepare({
  choose,
  move: (id, start, end) => decide(() => ({ action: "move", target: id, start, end })),
}, isReadOnly);

try {
  await load();
  main.dataset.ready = "";
} catch (error) {
  warn(error.message);
}
