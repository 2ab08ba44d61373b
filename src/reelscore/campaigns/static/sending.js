// Answers are kept in the browser until the server has acknowledged them. It keeps each once,
// however often it is sent.

import { lasting } from "./storage.js";
import { answer, close, seen, show } from "./task.js";

const form = document.getElementById("task");
const banner = document.getElementById("banner");
const next = /** @type {HTMLButtonElement} */ (document.getElementById("next"));
const { send, campaign, assignment, task, proof, now } = form.dataset;
const prefix = `reelscore:answer:${campaign}:${assignment}:`;
const shown = performance.now();
let busy = false;
let pause = 1; // seconds before the next attempt

function say(text, kind = "") {
  banner.textContent = text;
  banner.className = `notice ${kind}`;
  banner.hidden = !text;
}

/** What the server says about one answer: only its own words count, not a stranger's page. */
async function replied(body) {
  const response = await fetch(send, {
    method: "POST",
    headers: { accept: "application/json", "content-type": "application/json", "x-form-proof": proof },
    body,
    redirect: "error", // the server never redirects an answer; whoever does is not the server
    signal: AbortSignal.timeout(20_000),
  });
  const reply = await response.json();
  const sent = JSON.parse(body);
  const isAbout = reply.assignment === sent.assignment && reply.task === sent.task;
  return {
    ...reply,
    message: reply.message || "The server has not confirmed your answer.",
    status: response.status,
    isKept: response.ok && isAbout,
    isFinal: response.status < 500 && isAbout,
  };
}

/** Send what waits; go on when everything is acknowledged. */
async function flush() {
  if (busy) return;
  busy = true;
  const waiting = lasting.all(prefix);
  let page = "work";
  try {
    for (const [key, body] of waiting) {
      const reply = await replied(body);
      if (reply.isKept) {
        lasting.drop(key);
        page = reply.next;
      } else if (reply.isFinal) {
        lasting.drop(key);
        say(reply.message, "unlike");
        const link = document.createElement("a");
        link.href = `${form.dataset.home}work`;
        link.textContent = "Go on";
        banner.append(" ", link);
        return;
      } else if (reply.status === 403) {
        say(`${reply.message} Your answer is kept in this browser.`, "unlike");
        return;
      } else if (reply.status === 422) { // something is wrong with it: another may take its place
        say(reply.message, "unlike");
        show();
        return;
      } else {
        wait(reply.message);
        return;
      }
    }
    if (waiting.size > 0) location.assign(form.dataset.home + page);
  } catch { // no connection, or the words of somebody else
    wait("No connection to the server.");
  } finally {
    busy = false;
  }
}

function wait(why) {
  say(`${why} Your answer is kept in this browser and will be sent again.`, "unlike");
  setTimeout(flush, pause * 1000);
  pause = Math.min(2 * pause, 15);
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const given = answer();
  if (given === null || next.disabled) return;
  close();
  // The server's clock counts: those of phones and laptops may be hours off.
  const started = Number(now);
  const submitted = started + (performance.now() - shown) / 1000;
  lasting.set(prefix + task, JSON.stringify({
    assignment: Number(assignment), task: Number(task), answer: given, started, submitted,
    client: `${innerWidth}x${innerHeight}`, seen: seen(),
  }));
  flush();
});

// A page that the browser has kept whole comes back as it was left: closed, if it was sent.
addEventListener("pageshow", (event) => { if (event.persisted && next.disabled) location.reload(); });
addEventListener("online", flush);
if (lasting.all(prefix).size > 0) flush();
