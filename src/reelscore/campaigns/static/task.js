// One task: the slider without a preset value, the video that must be watched, the answer.
// Mechanical Turk's page has this script inside, and there a dollar sign with a brace stands for
// a column of a table: no template literals here.

import { lasting, passing } from "./storage.js";

const WATCHED = 0.9; // of the video; players skip a little at the end
/** @type {HTMLElement} */ let form;
/** @type {HTMLVideoElement} */ let video;
/** @type {HTMLButtonElement} */ let next;
/** @type {HTMLElement} */ let hint;
/** @type {HTMLFieldSetElement} */ let questions;
/** @type {string} */ let place;
/** @type {boolean} */ let watched;

/** Begin with the task that the page shows now; its name tells it from others. */
export function begin(name) {
  form = document.getElementById("task");
  video = /** @type {HTMLVideoElement} */ (document.getElementById("video"));
  next = /** @type {HTMLButtonElement} */ (document.getElementById("next"));
  hint = document.getElementById("hint");
  questions = /** @type {HTMLFieldSetElement} */ (document.getElementById("questions"));
  place = "reelscore:watched:" + name;
  watched = !video?.hasAttribute("data-watch") || passing.get(place) === "yes";
  if (form?.hasAttribute("data-missing")) watched = false;
  if (video) prepare();
  if (!form) return;
  questions.querySelectorAll("input[type=range]").forEach(slide);
  questions.addEventListener("change", show);
  show();
  if (video) watch(); // what was played before this script ran counts
  if (form.querySelector("[name=answer]")) { // a form that the browser itself sends
    form.addEventListener("submit", close);
    addEventListener("pageshow", (event) => { if (event.persisted) show(); });
  }
}

/** Take no more answers: this one is on its way. */
export function close() {
  next.disabled = true;
  questions.disabled = true;
}

/** The answer so far: scores by criterion, or null while something is open. */
export function answer() {
  const scores = {};
  /** @type {NodeListOf<HTMLElement>} */
  const parts = questions.querySelectorAll("[data-criterion]");
  for (const part of parts) {
    const given = READ[part.dataset.form](part);
    if (given === null) return null;
    scores[part.dataset.criterion] = given;
  }
  return scores;
}

const READ = {
  slider(part) {
    const input = part.querySelector("input");
    return input.classList.contains("untouched") ? null : [input.valueAsNumber];
  },
  choices(part) {
    const chosen = part.querySelector("input:checked");
    return chosen ? [Number(chosen.value)] : null;
  },
  ranking(part) {
    const ranks = [...part.querySelectorAll(".rank")].map((row) =>
      Number(row.querySelector("input:checked")?.value ?? NaN));
    if (ranks.some(Number.isNaN)) return null;
    const tied = new Set(ranks).size < ranks.length;
    return tied && part.hasAttribute("data-no-ties") ? null : ranks;
  },
};

/** Open what may be answered, and say what is missing. */
export function show() {
  questions.disabled = !watched;
  const given = watched ? answer() : null;
  next.disabled = given === null;
  /** @type {HTMLInputElement} */
  const hidden = form.querySelector("[name=answer]");
  if (hidden) hidden.value = given === null ? "" : JSON.stringify(given);
  hint.textContent = !watched && video ? "Watch the video to its end first."
    : given === null && watched && tie() ? "Each text needs a place of its own." : "";
}

function tie() {
  return [...questions.querySelectorAll("[data-no-ties]")].some((part) =>
    part.querySelectorAll("input:checked").length === part.querySelectorAll(".rank").length
    && READ.ranking(part) === null);
}

function slide(input) {
  const touched = () => {
    input.classList.remove("untouched");
    input.setAttribute("aria-valuetext", input.value + " of " + input.max);
    const number = input.closest("fieldset").querySelector("output");
    if (number) number.textContent = input.value;
    show();
  };
  for (const event of ["input", "change"]) input.addEventListener(event, touched);
  // A press in the very middle changes no value, so presses count too: whole ones, for a press
  // that began before the slider was open has moved nothing.
  let pressed = false;
  input.addEventListener("pointerdown", () => { pressed = true; });
  input.addEventListener("pointerup", () => { if (pressed) touched(); });
  input.addEventListener("keydown", (event) => {
    const isAnswer = event.key === " " || (event.key === "Enter" && input.classList.contains("untouched"));
    if (!isAnswer) return;
    event.preventDefault();
    if (!event.repeat) touched(); // not a key that is still held from the page before
  });
  // What was set before this script ran is an answer; a range without one stands in the middle.
  const unset = input.cloneNode();
  unset.value = "";
  if (input.value !== unset.value) touched();
}

/** The share of the video that was played, from 0 to 1; null where there is none. */
export function seen() {
  if (!video) return null;
  if (passing.get(place) === "yes") return 1;
  let played = 0;
  for (let k = 0; k < video.played.length; k++) played += video.played.end(k) - video.played.start(k);
  return Math.min(1, played / video.duration) || 0;
}

function watch() {
  if (passing.get(place) !== "yes" && seen() >= WATCHED) passing.set(place, "yes");
  if (!watched && seen() === 1) {
    watched = true;
    show();
    questions.querySelector("input")?.focus({ preventScroll: true });
  }
}

function failed() {
  const broken = document.getElementById("broken");
  if (broken) broken.hidden = false;
  /** @type {HTMLDetailsElement} */
  const more = document.querySelector("details.more");
  if (more) more.open = true;
}

function prepare() {
  const speed = /** @type {HTMLSelectElement} */ (document.getElementById("speed"));
  speed.value = lasting.get("reelscore:speed") ?? "1";
  const setSpeed = () => { video.playbackRate = Number(speed.value) || 1; };
  speed.addEventListener("change", () => {
    lasting.set("reelscore:speed", speed.value);
    setSpeed();
  });
  video.addEventListener("loadedmetadata", setSpeed);
  setSpeed();
  document.getElementById("replay").addEventListener("click", () => {
    video.currentTime = 0;
    video.play();
  });
  for (const event of ["timeupdate", "ended"]) video.addEventListener(event, watch);
  video.addEventListener("error", failed);
  if (video.error) failed();
}

// Enter sends a complete answer, except where it means something else. It never sends a form that
// the task is part of, as on Mechanical Turk's page.
document.addEventListener("keydown", (event) => {
  const target = /** @type {Element} */ (event.target);
  if (event.key !== "Enter" || event.defaultPrevented || !next?.isConnected) return;
  if (target !== document.body && !form.contains(target)) return;
  if (target.closest("button, a, summary, select, textarea")) return;
  event.preventDefault();
  if (!event.repeat) next.click(); // which does nothing while it is disabled
});

begin(location.pathname + ":" + (document.getElementById("task")?.dataset.assignment ?? ""));

// The next video is fetched when this one has come, so that nobody waits.
const ahead = document.getElementById("ahead");
if (ahead) {
  const load = () => {
    const other = document.createElement("video");
    other.preload = "auto";
    other.muted = true;
    other.src = ahead.dataset.video;
    ahead.append(other);
  };
  if (!video || video.readyState >= 3) load();
  else video.addEventListener("canplaythrough", load, { once: true });
}
