// What the page asks the server. A decision is shown only after the server has stored it.

const main = document.querySelector("main");
const home = `films/${encodeURIComponent(main.dataset.film)}`;

/** An answer that says no, with its words. */
export class Refusal extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

async function answered(request) {
  let response;
  try {
    response = await request;
  } catch {
    throw new Refusal("The server does not answer; nothing was stored. Is it still running?", 0);
  }
  const reply = await response.json().catch(() => ({}));
  if (!response.ok) throw new Refusal(reply.message || `The server says ${response.status}.`, response.status);
  return reply;
}

export const readState = () => answered(fetch(`${home}/state`));
export const readWindow = (start) => answered(fetch(`${home}/window?start=${start}`));

export const post = (decision) => answered(fetch(`${home}/decisions`, {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify(decision),
}));

export const pictureOf = (start) => `${home}/spectrogram?start=${start}`;
export const stillAt = (time) => `${home}/still?at=${time.toFixed(2)}`;
export const soundOf = (voice, start, end) =>
  `${home}/sound/${voice}?start=${start.toFixed(3)}&end=${end.toFixed(3)}`;
