// Thirty seconds of the film: spectrogram, bars of the passages, waveforms, subtitles, cursor.

import { pictureOf, readWindow } from "./server.js";
import { bounded, clock } from "./times.js";

const main = document.querySelector("main");
const SECONDS = Number(main.dataset.window);
const STEP = 10; // windows begin at multiples of it, so that neighbours share them
const EDGE = 9; // pixels at the end of a bar by which it is pulled
const byId = (id) => document.getElementById(id);
const timeline = byId("timeline");
const picture = /** @type {HTMLImageElement} */ (byId("spectrogram"));
const bars = byId("bars");
const cursorLine = byId("cursor");
const selectionBox = byId("selection");
const spanBox = byId("span");

let start = -1;
let cursor = 0;
/** @type {[number, number] | null} */
let selection = null;
let waves = {};
/** @type {{ choose: (id: string) => void, move: (id: string, start: number, end: number) => void }} */
let actions;
let isFixed = false;

export function prepare(given, readOnly) {
  actions = given;
  isFixed = readOnly;
}

const share = (time) => `${((time - start) / SECONDS) * 100}%`;
const inside = (passage) => passage.end > start && passage.start < start + SECONDS;

function windowAround(passage) {
  const middle = (passage.start + passage.end) / 2;
  return Math.max(0, Math.round((middle - SECONDS / 2) / STEP) * STEP);
}

/** Let the browser keep the window around a passage that will be shown soon. */
export function fetchAhead(passage) {
  const wanted = windowAround(passage);
  if (wanted === start || timeline.classList.contains("silent")) return;
  new Image().src = pictureOf(wanted);
  readWindow(wanted).catch(() => {}); // it is asked for again when it is needed
}

/** Show the window around a passage; the sound of the window comes a little later. */
export function showAround(passage, passages, chosen) {
  const wanted = windowAround(passage);
  if (wanted !== start) {
    start = wanted;
    waves = {};
    if (!timeline.classList.contains("silent")) picture.src = pictureOf(start);
    drawAxis();
    drawWaves();
    showCues([]);
    load(start);
  }
  drawBars(passages, chosen);
}

async function load(wanted) {
  try {
    const reply = await readWindow(wanted);
    if (wanted !== start) return; // somebody went on
    waves = reply.waves;
    drawWaves();
    showCues(reply.cues);
  } catch { /* no sound: the rest of the page works */ }
}

export function drawBars(passages, chosen) {
  const shown = passages.filter(inside).sort((a, b) => a.start - b.start);
  bars.replaceChildren(...shown.map((passage) => bar(passage, passage.id === chosen)));
  const list = shown.map((each) => `${clock(each.start)} to ${clock(each.end)}`).join(", ");
  picture.alt = `Spectrogram of the sound from ${clock(start)} to ${clock(start + SECONDS)}, 80 to `
    + `8000 hertz. ${shown.length ? `Passages: ${list}.` : "No passages."}`;
  const current = shown.find((passage) => passage.id === chosen);
  spanBox.hidden = !current;
  if (current) stretch(spanBox, current.start, current.end);
  place();
}

function stretch(element, from, to) {
  element.style.left = share(from);
  element.style.width = `${(Math.max(0.01, to - from) / SECONDS) * 100}%`;
}

function bar(passage, isChosen) {
  const element = document.createElement("div");
  element.className = `bar ${passage.state} ${passage.origin}`;
  element.classList.toggle("chosen", isChosen);
  element.dataset.id = passage.id;
  element.textContent = passage.text || "…";
  stretch(element, passage.start, passage.end);
  element.addEventListener("pointerdown", (event) => pull(event, element, passage));
  return element;
}

/** Pull a bar or one of its edges: an outline goes with the pointer, the bar follows when stored. */
function pull(event, element, passage) {
  event.preventDefault();
  event.stopPropagation();
  actions.choose(passage.id);
  if (isFixed) return;
  const box = element.getBoundingClientRect();
  const edge = event.clientX < box.left + EDGE ? "start" : event.clientX > box.right - EDGE ? "end" : "";
  const from = timeAt(event);
  let times = [passage.start, passage.end];
  const outline = document.createElement("div");
  outline.className = "outline";
  bars.append(outline);
  const follow = (moved) => {
    const by = timeAt(moved) - from;
    times = [passage.start + (edge === "end" ? 0 : by), passage.end + (edge === "start" ? 0 : by)];
    stretch(outline, times[0], times[1]);
  };
  track(event, follow, () => {
    outline.remove();
    if (Math.abs(times[0] - passage.start) + Math.abs(times[1] - passage.end) > 0.02) {
      actions.move(passage.id, times[0], times[1]);
    }
  });
}

function track(event, follow, done) {
  const stop = () => {
    removeEventListener("pointermove", follow);
    removeEventListener("pointerup", stop);
    removeEventListener("pointercancel", stop);
    done();
  };
  addEventListener("pointermove", follow);
  addEventListener("pointerup", stop);
  addEventListener("pointercancel", stop);
}

function timeAt(event) {
  const box = bars.getBoundingClientRect();
  return start + bounded((event.clientX - box.left) / box.width, 0, 1) * SECONDS;
}

// Cursor and selection

timeline.addEventListener("pointerdown", (event) => {
  if (event.button !== 0) return;
  event.preventDefault();
  const from = timeAt(event);
  setCursor(from);
  setSelection(null);
  track(event, (moved) => {
    const to = timeAt(moved);
    if (Math.abs(to - from) > 0.1) setSelection([Math.min(from, to), Math.max(from, to)]);
  }, () => {});
});

export const getCursor = () => cursor;
export const getSelection = () => selection;

export function setCursor(time) {
  cursor = Math.max(0, time);
  place();
}

export function setSelection(span) {
  selection = span && span[1] > span[0] ? span : null;
  place();
}

function place() {
  cursorLine.hidden = !inside({ start: cursor, end: cursor + 1e-6 });
  cursorLine.style.left = share(cursor);
  cursorLine.dataset.time = clock(cursor, 2);
  selectionBox.hidden = !selection || !inside({ start: selection[0], end: selection[1] });
  if (selection) stretch(selectionBox, selection[0], selection[1]);
}

// Waveforms, subtitles, times

function drawWaves() {
  for (const voice of ["ad", "film"]) {
    const canvas = /** @type {HTMLCanvasElement} */ (byId(`wave-${voice}`));
    const values = waves[voice] ?? [];
    const { width, height } = canvas.getBoundingClientRect();
    canvas.width = Math.round(width * devicePixelRatio);
    canvas.height = Math.round(height * devicePixelRatio);
    const context = canvas.getContext("2d");
    context.fillStyle = getComputedStyle(canvas).color;
    const loudest = Math.max(20, ...values);
    values.forEach((value, number) => {
      const tall = Math.max(1, (value / loudest) * canvas.height);
      const left = (number / values.length) * canvas.width;
      context.fillRect(left, (canvas.height - tall) / 2, Math.max(1, canvas.width / values.length - 0.3), tall);
    });
  }
}

function showCues(cues) {
  byId("cues").replaceChildren(...cues.map(([from, to, text]) => {
    const cue = document.createElement("span");
    cue.textContent = text;
    cue.title = text;
    stretch(cue, from, to);
    return cue;
  }));
  byId("cues").hidden = cues.length === 0;
}

function drawAxis() {
  const every = timeline.clientWidth < 500 ? 10 : 5;
  const marks = [];
  for (let time = start; time <= start + SECONDS; time += every) {
    const mark = document.createElement("span");
    mark.textContent = clock(time, 0);
    mark.style.left = share(time);
    marks.push(mark);
  }
  byId("axis").replaceChildren(...marks);
}

new ResizeObserver(() => {
  if (start < 0) return;
  drawWaves();
  drawAxis();
}).observe(timeline);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawWaves);
