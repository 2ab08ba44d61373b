// How the scores of each system are spread over the items.

/** @import { PageData } from "./data.js" */
import { mainMetric, metricOptions } from "./data.js";
import { choice, clipped, drawn, element, picture, section } from "./elements.js";
import { COUNT, meanOf, quantile, shown, ticksOf } from "./numbers.js";

const BINS = 96;

/** @param {PageData} report */
export function distributions(report) {
  const plot = element("div", {});
  const control = choice("Score", metricOptions(report), mainMetric(report), draw);
  const about = element("p", { class: "key" },
    "Each shape is the distribution of a system's scores over the items. " +
    "The bar spans the middle half, with a line at the median; the dot is the mean.");

  function draw(chosen) {
    const metric = Number(chosen);
    plot.replaceChildren(ridges(report, metric, Math.min(760, plot.clientWidth || 760)));
  }

  return { node: section("distributions", "Distributions", element("div", { class: "controls" }, control), about, plot),
           draw: () => draw(control.querySelector("select").value) };
}

// The scores of one system by one metric, those that are there.
/** @param {PageData} report */
function scoresOf(report, metric, system) {
  const scores = [];
  for (let item = 0; item < report.count; item++) {
    const score = report.score(metric, system, item);
    if (!Number.isNaN(score)) scores.push(score);
  }
  return Float64Array.from(scores).sort();
}

// Counts in bins, smoothed by a bell of Silverman's width, which is folded back at the ends: few
// items make no comb of spikes, and many at the lowest score stay a hill there.
function density(sorted, low, high) {
  const step = (high - low) / BINS, counts = new Float64Array(BINS);
  for (const value of sorted) counts[Math.min(BINS - 1, Math.floor((value - low) / step))]++;
  const mean = meanOf(sorted), deviation = Math.sqrt(meanOf(sorted.map((value) => (value - mean) ** 2)));
  const middle = (quantile(sorted, 0.75) - quantile(sorted, 0.25)) / 1.34;
  const spread = middle > 0 ? Math.min(deviation, middle) : deviation;
  const width = Math.max(1, (0.9 * spread * sorted.length ** -0.2) / step), reach = Math.ceil(3 * width);
  const smooth = new Float64Array(BINS);
  counts.forEach((count, bin) => {
    if (!count) return;
    for (let away = -reach; away <= reach; away++) {
      let at = bin + away;
      if (at < 0) at = -1 - at;
      if (at >= BINS) at = 2 * BINS - 1 - at;
      if (at >= 0 && at < BINS) smooth[at] += count * Math.exp(-0.5 * (away / width) ** 2);
    }
  });
  return smooth;
}

/** @param {PageData} report */
function ridges(report, metric, width) {
  const scores = report.systems.map((_, system) => scoresOf(report, metric, system));
  const there = report.systems.map((_, k) => k).filter((k) => scores[k].length);
  const low = Math.min(...there.map((k) => scores[k][0]));
  let high = Math.max(...there.map((k) => scores[k][scores[k].length - 1]));
  if (high <= low) high = low + 1;
  const name = report.metrics[metric].name, step = 62, bottom = there.length * step + 4;
  const x = (value) => 8 + ((value - low) / (high - low)) * (width - 16);
  /** @type {SVGElement[]} */
  const parts = ticksOf(low, high, width / 90).flatMap((tick) => [
    drawn("line", { class: "rule", x1: x(tick), x2: x(tick), y1: 0, y2: bottom }),
    drawn("text", { class: "dim", x: x(tick), y: bottom + 15, "text-anchor": "middle" }, String(tick)),
  ]);
  there.forEach((k, row) => {
    const sorted = scores[k], base = row * step + 50;
    const heights = density(sorted, low, high), top = Math.max(...heights);
    const y = (bin) => (base - (heights[bin] / top) * 30).toFixed(1);
    const points = [...heights].map((_, bin) => `${x(low + ((bin + 0.5) / BINS) * (high - low)).toFixed(1)} ${y(bin)}`);
    const [first, middle, third] = [0.25, 0.5, 0.75].map((share) => x(quantile(sorted, share)));
    parts.push(
      drawn("path", { class: "shape", d: `M${x(low)} ${base}V${y(0)}L${points.join("L")}H${x(high)}V${base}Z` }),
      drawn("rect", { class: "shape", x: first, y: base + 1, width: Math.max(1, third - first), height: 6 }),
      drawn("line", { class: "stroke", x1: middle, x2: middle, y1: base, y2: base + 8 }),
      drawn("circle", { class: "dot", cx: x(meanOf(sorted)), cy: base + 4, r: 4 }),
      drawn("text", { x: 8, y: base - 34 },
        `${clipped(report.systems[k], 40)} `,
        drawn("tspan", { class: "dim" }, `${COUNT.format(sorted.length)} items, median ${shown(quantile(sorted, 0.5))}`)));
  });
  return picture(width, bottom + 22, `Distributions of ${name} of ${there.length} systems`, parts);
}
