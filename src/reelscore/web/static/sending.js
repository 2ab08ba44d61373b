// Answers are kept in the browser until the server has acknowledged them. It keeps each once,
// however often it is sent.

import { lasting } from "./storage.js";
import { answer, seen } from "./task.js";

const form = document.getElementById("task");
const banner = document.getElementById("banner");
const next = document.getElementById("next");
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

/** Send what waits; go on when everything is acknowledged. */
async function flush() {
  if (busy) return;
  busy = true;
  const waiting = lasting.all(prefix);
  let page = "work";
  try {
    for (const [key, body] of waiting) {
      const response = await fetch(send, {
        method: "POST",
        headers: { "content-type": "application/json", "x-form-proof": proof },
        body,
        signal: AbortSignal.timeout(20_000),
      });
      if (response.status === 429 || response.status >= 500) throw new Error("try again");
      if (response.status === 403) {
        const { message } = await response.json();
        say(`${message} Your answer is kept in this browser.`, "unlike");
        return;
      }
      lasting.drop(key);
      if (response.ok) page = (await response.json()).next;
      if (!response.ok) {
        const { message } = await response.json();
        say(message, "unlike");
        const link = document.createElement("a");
        link.href = `${form.dataset.home}work`;
        link.textContent = "Go on";
        banner.append(" ", link);
        return;
      }
    }
    if (waiting.size > 0) location.assign(form.dataset.home + page);
  } catch {
    say("No connection. Your answer is kept and will be sent as soon as there is one.", "unlike");
    setTimeout(flush, pause * 1000);
    pause = Math.min(2 * pause, 15);
  } finally {
    busy = false;
  }
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const given = answer();
  if (given === null || next.disabled) return;
  next.disabled = true;
  document.getElementById("questions").disabled = true;
  // The server's clock counts: those of phones and laptops may be hours off.
  const started = Number(now);
  const submitted = started + (performance.now() - shown) / 1000;
  lasting.set(prefix + task, JSON.stringify({
    assignment: Number(assignment), task: Number(task), answer: given, started, submitted,
    client: `${innerWidth}x${innerHeight}`, seen: seen(),
  }));
  flush();
});

addEventListener("online", flush);
if (lasting.all(prefix).size > 0) flush();
