// Short pieces of sound, one at a time.

import { soundOf } from "./server.js";

const BEFORE = 0.5; // seconds that are heard before a passage
const LONGEST = 60;
const audio = new Audio();
let piece = { key: "", start: 0 };

/** @type {(time: number | null) => void} */
let moved = () => {};

/** Call a function with the film's time while sound is playing, and with null when it stops. */
export function onPlaying(callback) {
  moved = callback;
}

export const isPlaying = () => !audio.paused && !audio.ended;

/** Play a passage, or go on with it where it was paused. */
export async function play(voice, passage) {
  const start = Math.max(0, passage.start - BEFORE);
  const end = Math.min(passage.end, start + LONGEST);
  const key = soundOf(voice, start, end);
  if (key !== piece.key || audio.ended) {
    piece = { key, start };
    audio.src = key;
  }
  await audio.play();
  follow();
}

export function pause() {
  audio.pause();
}

/** Forget where a passage was paused: the next play begins anew. */
export function stop() {
  audio.pause();
  piece = { key: "", start: 0 };
}

function follow() {
  if (!isPlaying()) {
    moved(null);
    return;
  }
  moved(piece.start + audio.currentTime);
  requestAnimationFrame(follow);
}
