// Mechanical Turk's own page: one task after the other, and one field with all answers. The page has
// a template for each shape of task, made of the same parts as the served pages.

import { answer, begin, seen } from "./task.js";

const turk = document.getElementById("turk");
const bytes = Uint8Array.from(atob(turk.dataset.tasks), (letter) => letter.charCodeAt(0));
const tasks = JSON.parse(new TextDecoder().decode(bytes));
const replies = [];

function open() {
  const task = tasks[replies.length];
  const scene = task.video ? "video" : task.context ? "words" : "none";
  const shape = scene + " " + task.captions.length;
  const templates = [...turk.querySelectorAll("template")];
  const { content } = templates.find((one) => one.dataset.shape === shape);
  const screen = /** @type {DocumentFragment} */ (content.cloneNode(true));
  screen.querySelectorAll("blockquote").forEach((quote, k) => { quote.textContent = task.captions[k]; });
  if (task.video) screen.querySelector("video").src = task.video;
  else if (task.context) screen.querySelector(".scene p").textContent = task.context;
  const number = replies.length + 1;
  document.getElementById("place").textContent = "Task " + number + " of " + tasks.length;
  document.getElementById("screen").replaceChildren(screen);
  document.getElementById("next").addEventListener("click", keep);
  begin(location.pathname + location.search + ":" + number);
}

function keep() {
  replies.push({ answer: answer(), watched: seen() });
  document.getElementById("broken").hidden = true;
  if (replies.length < tasks.length) {
    open();
    turk.querySelector("details").open = false;
    turk.scrollIntoView();
    return;
  }
  /** @type {HTMLInputElement} */ (turk.querySelector("[name=answers]")).value = JSON.stringify(replies);
  document.getElementById("place").hidden = true;
  document.getElementById("screen").replaceChildren(); // so that this one field is all that is posted
  document.getElementById("end").hidden = false;
}

turk.closest("form")?.addEventListener("submit", (event) => {
  if (replies.length === tasks.length) return;
  event.preventDefault();
  document.getElementById("hint").textContent = "Answer all tasks before you submit.";
});
open();
