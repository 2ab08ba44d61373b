// The table is in the page already; here it learns to be sorted, and gets a plot of intervals.

/** @import { PageData } from "./data.js" */
import { mainMetric } from "./data.js";
import { clipped, drawn, element, picture, textWidth } from "./elements.js";
import { rangeOf, ticksOf } from "./numbers.js";
import { fitToPaper } from "./tables.js";

/** @param {PageData} report */
export function startLeaderboard(report) {
  /** @type {HTMLTableElement} */
  const table = document.querySelector("#leaderboard table");
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  let sorted = { column: 0, falling: false };

  function sort(column, falling) {
    sorted = { column, falling };
    heads.forEach((head, k) => {
      if (k === column) head.setAttribute("aria-sort", falling ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    const metric = report.metrics[column - 1];
    const rows = [...body.rows].sort((a, b) => {
      const one = Number(a.dataset.system), other = Number(b.dataset.system);
      if (!metric) return (falling ? -1 : 1) * report.systems[one].localeCompare(report.systems[other]);
      const x = metric.own[one], y = metric.own[other];
      if (x === null || y === null) return Number(x === null) - Number(y === null); // those without come last
      if (metric.ranked[one] !== metric.ranked[other]) return metric.ranked[one] ? -1 : 1;
      return (falling ? y - x : x - y) || one - other;
    });
    body.append(...rows);
    rule(rows, metric);
    if (metric) drawIntervals(report, column - 1, rows.map((row) => Number(row.dataset.system)));
  }

  // On a narrow screen the column that was sorted by comes into sight, beside the names.
  function show(head) {
    const region = table.parentElement, names = heads[0].offsetWidth;
    const right = head.offsetLeft + head.offsetWidth, { scrollLeft, clientWidth } = region;
    if (right > scrollLeft + clientWidth) region.scrollLeft = right - clientWidth;
    else if (head.offsetLeft < scrollLeft + names) region.scrollLeft = head.offsetLeft - names;
  }

  // A line where a new group of systems begins: all above are better than all below.
  function rule(rows, metric) {
    const clusters = metric?.evidence?.clusters ?? [];
    rows.forEach((row, k) => {
      const before = k ? clusters[rows[k - 1].dataset.system] : undefined;
      const own = clusters[row.dataset.system];
      row.classList.toggle("edge", k > 0 && before != null && own != null && before !== own);
    });
    document.getElementById("leaderboard-key").replaceChildren(...legend(report, metric));
  }

  heads.forEach((head, k) => {
    const name = [...head.childNodes];
    head.replaceChildren(element("button", {
      type: "button",
      onclick: () => {
        const best = report.metrics[k - 1]?.better !== "low" && k > 0;
        sort(k, sorted.column === k ? !sorted.falling : best);
        show(head);
      },
    }, name));
  });
  fitToPaper(table);
  const first = mainMetric(report);
  sort(first + 1, report.metrics[first].better !== "low");
}

// No test is not the same as no difference.
export const untestedNote = ({ about, untested }) =>
  `was not tested${about ? " for every pair" : ""}: ${untested}.`;

/** @param {PageData} report */
function legend(report, metric) {
  const tested = metric?.evidence;
  const parts = metric ? [`Sorted by ${metric.name}. `] : [];
  if (report.metrics.some((each) => each.intervals.some(Boolean))) {
    parts.push("± is half a 95 % interval. ");
  }
  if (tested?.about) {
    parts.push(report.baseline !== null
      ? `▲ better, ▼ worse than ${report.baseline}, p < ${tested.level} (${tested.about}). `
      : `Letters: significantly better than the systems with these letters, p < ${tested.level} ` +
        `(${metric.name}: ${tested.about}). `);
    if (report.baseline === null) {
      parts.push("A heavy line separates groups: all systems above it are better than all below. ");
    }
  }
  if (tested?.untested) parts.push(`– ${metric.name} ${untestedNote(tested)} `);
  return parts;
}

// Scores of the systems by one metric, with their intervals.
/** @param {PageData} report */
function drawIntervals(report, index, order) {
  const place = document.getElementById("interval-plot");
  const metric = report.metrics[index];
  const systems = order.filter((k) => metric.own[k] !== null);
  const ends = systems.flatMap((k) => metric.intervals[k] ?? [metric.own[k]]);
  if (systems.length < 2 || !systems.some((k) => metric.intervals[k])) {
    place.replaceChildren();
    return;
  }
  const width = Math.min(720, place.clientWidth || 720), step = 24, bottom = systems.length * step + 8;
  const names = systems.map((k) => clipped(report.systems[k], Math.min(24, Math.floor(width / 19))));
  const left = Math.min(width * 0.4, 16 + Math.max(...names.map((n) => textWidth(n, "12px system-ui"))));
  const [low, high] = rangeOf(ends);
  const x = (value) => left + ((value - low) / (high - low)) * (width - left - 14);
  /** @type {SVGElement[]} */
  const parts = ticksOf(low, high, width / 90).flatMap((tick) => [
    drawn("line", { class: "rule", x1: x(tick), x2: x(tick), y1: 0, y2: bottom }),
    drawn("text", { class: "dim", x: x(tick), y: bottom + 15, "text-anchor": "middle" }, String(tick)),
  ]);
  systems.forEach((k, row) => {
    const y = row * step + 14;
    parts.push(drawn("text", { x: left - 10, y: y + 4, "text-anchor": "end" }, names[row]));
    if (metric.intervals[k]) {
      const [from, to] = metric.intervals[k].map(x);
      parts.push(drawn("path", { class: "stroke", d: `M${from} ${y - 4}v8m0 -4H${to}m0 -4v8` }));
    }
    parts.push(drawn("circle", { class: "dot", cx: x(metric.own[k]), cy: y, r: 5 }));
  });
  place.replaceChildren(
    element("h3", {}, `${metric.name} with 95 % intervals`),
    picture(width, bottom + 22, `${metric.name} of ${systems.length} systems with intervals`, parts));
}
