// Which items the explorer lists, and in what order.

/** @import { PageData } from "./data.js" */
import { startsOf } from "./data.js";
import { meanOf, orderOf, shareRanks } from "./numbers.js";
import { storyOf } from "./stories.js";

// The kinds of order; each gives a value for every item, NaN where it has none.
export const ORDERS = {
  order: { name: "order of the data", needs: [] },
  score: { name: "score", needs: ["metric", "system"] },
  spread: { name: "systems differ most", needs: ["metric"] },
  systems: { name: "two systems differ", needs: ["metric", "system", "system2"] },
  scores: { name: "two scores disagree", needs: ["metric", "metric2", "system"] },
  length: { name: "length of the caption", needs: ["system"] },
};

/** @param {PageData} report */
export function itemValues(report, lengths, { by, metric, metric2, system, system2 }) {
  const count = report.count, systems = report.systems.length;
  const values = new Float64Array(count);
  const mean = (column, item) => {
    if (system >= 0) return column[item * systems + system];
    return meanOf(column.subarray(item * systems, (item + 1) * systems));
  };
  if (by === "order") return values.map((_, item) => item);
  if (by === "scores") return disagreement(report, metric, metric2, system);
  for (let item = 0; item < count; item++) {
    if (by === "length") {
      values[item] = mean(lengths, item);
      continue;
    }
    const own = report.scores[metric].subarray(item * systems, (item + 1) * systems);
    if (by === "score") values[item] = mean(report.scores[metric], item);
    else if (by === "spread") values[item] = spreadOf(own);
    else values[item] = own[Math.max(0, system)] - own[system2];
  }
  return values;
}

function spreadOf(values) {
  let low = Infinity, high = -Infinity;
  for (const value of values) {
    if (Number.isNaN(value)) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return high >= low ? high - low : NaN;
}

// How much higher the first score ranks a caption than the second; ranks are shares from 0 to 1,
// so that scores of any scale can be compared. Without a system, the item's largest difference.
/** @param {PageData} report */
function disagreement(report, metric, metric2, system) {
  const systems = report.systems.length;
  const both = (k) => !Number.isNaN(report.scores[metric][k]) && !Number.isNaN(report.scores[metric2][k]);
  const kept = (column) => Float64Array.from(column, (value, k) =>
    (system < 0 || k % systems === system) && both(k) ? value : NaN);
  const first = shareRanks(kept(report.scores[metric]));
  const second = shareRanks(kept(report.scores[metric2]));
  const values = new Float64Array(report.count).fill(NaN);
  for (let k = 0; k < first.length; k++) {
    const apart = first[k] - second[k], item = Math.floor(k / systems);
    if (!Number.isNaN(apart) && !(Math.abs(apart) <= Math.abs(values[item]))) values[item] = apart;
  }
  return values;
}

// All texts in lower case, in one string: a search is one pass over it.
export class TextIndex {
  /** @param {PageData} report */
  constructor(report) {
    this.report = report;
    this.lower = null;
  }

  prepare() {
    if (this.lower !== null) return;
    const { report } = this;
    const lines = report.items.map((id, item) => {
      const texts = searchedTexts(report, item);
      return `${id}\n${texts.join("\n")}`.toLowerCase().replaceAll("\0", " ");
    });
    this.lower = lines.join("\0");
    this.starts = startsOf(lines.map((line) => line.length + 1));
  }

  // The items whose id, captions or references hold the query.
  find(query) {
    this.prepare();
    const matches = new Uint8Array(this.report.count);
    let item = 0;
    for (let at = this.lower.indexOf(query); at >= 0; at = this.lower.indexOf(query, at)) {
      while (this.starts[item + 1] <= at) item++;
      matches[item] = 1;
      at = this.starts[item + 1];
    }
    return matches;
  }
}

/** @param {PageData} report */
function searchedTexts(report, item) {
  if (report.stories) return storyOf(report, item).sentences;
  const texts = report.column("texts");
  return texts ? texts.slice(report.textOffsets[item], report.textOffsets[item + 1]) : [];
}

/** @param {PageData} report */
export function chosenItems(report, index, values, { query, from, to, falling, by }) {
  const matches = query ? index.find(query) : null;
  const kept = values.map((value, k) =>
    (matches && !matches[k]) || value < from || value > to ? NaN : value);
  const order = orderOf(kept);
  if (!falling || by === "order") return order;
  return Uint32Array.from(order).reverse();
}
