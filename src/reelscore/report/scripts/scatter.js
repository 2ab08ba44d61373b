// Many dots on a canvas; a click opens the item of the nearest.

import { colour, element } from "./elements.js";
import { rangeOf, ticksOf } from "./numbers.js";

const MOST_DOTS = 20_000;

// points: {x, y, item} as arrays; line: [[x, y], …] drawn over them.
export function scatter(plot, { x, y, item, system, line = null, xName, yName, about, open }) {
  const width = Math.min(560, plot.clientWidth || 560), height = Math.round(width * 0.72);
  const scale = window.devicePixelRatio || 1;
  const canvas = element("canvas", { width: width * scale, height: height * scale, role: "img",
    "aria-label": about, style: `width:${width}px;aspect-ratio:${width}/${height}` });
  const pen = canvas.getContext("2d");
  pen.scale(scale, scale);
  const [lowX, highX] = rangeOf(x), [lowY, highY] = rangeOf(y);
  const left = 56, bottom = height - 38;
  const atX = (value) => left + 6 + ((value - lowX) / (highX - lowX)) * (width - left - 16);
  const atY = (value) => bottom - 6 - ((value - lowY) / (highY - lowY)) * (bottom - 16);

  pen.font = "12px system-ui, sans-serif";
  pen.strokeStyle = colour("rule");
  pen.fillStyle = colour("dim");
  pen.textAlign = "center";
  for (const tick of ticksOf(lowX, highX, width / 90)) {
    stroke(pen, [[atX(tick), 6], [atX(tick), bottom]]);
    pen.fillText(String(tick), atX(tick), bottom + 15);
  }
  pen.textAlign = "right";
  for (const tick of ticksOf(lowY, highY, height / 60)) {
    stroke(pen, [[left, atY(tick)], [width - 6, atY(tick)]]);
    pen.fillText(String(tick), left - 6, atY(tick) + 4);
  }
  pen.fillStyle = colour("ink");
  pen.fillText(xName, width - 8, height - 4);
  pen.save();
  pen.translate(12, 8);
  pen.rotate(-Math.PI / 2);
  pen.fillText(yName, 0, 0);
  pen.restore();

  const every = Math.max(1, Math.ceil(x.length / MOST_DOTS));
  pen.fillStyle = colour("dots");
  pen.globalAlpha = Math.max(0.12, Math.min(0.7, 300 / Math.sqrt(x.length * 100)));
  const radius = x.length > 3000 ? 1.6 : x.length > 300 ? 2.2 : 4;
  for (let k = 0; k < x.length; k += every) {
    pen.beginPath();
    pen.arc(atX(x[k]), atY(y[k]), radius, 0, 2 * Math.PI);
    pen.fill();
  }
  pen.globalAlpha = 1;
  if (line?.length) {
    pen.strokeStyle = colour("line");
    pen.lineWidth = 2.5;
    stroke(pen, line.map(([a, b]) => [atX(a), atY(b)]));
  }
  canvas.addEventListener("click", (event) => {
    const near = nearest(event.offsetX, event.offsetY);
    if (near !== null && item) open(item[near], system?.[near]);
  });
  canvas.style.cursor = item ? "pointer" : "";
  plot.replaceChildren(canvas, every > 1
    ? element("p", { class: "key" }, `One of ${every} dots is drawn.`) : "");

  function nearest(px, py) {
    let best = null, least = 400;
    for (let k = 0; k < x.length; k += every) {
      const away = (atX(x[k]) - px) ** 2 + (atY(y[k]) - py) ** 2;
      if (away < least) { least = away; best = k; }
    }
    return best;
  }
}

function stroke(pen, points) {
  pen.beginPath();
  points.forEach(([x, y], k) => (k ? pen.lineTo(x, y) : pen.moveTo(x, y)));
  pen.stroke();
}
