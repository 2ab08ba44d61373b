// The n-grams that a score counts, and how much each adds to it.

/** @import { PageData } from "./data.js" */
import { wordsOf } from "./alignment.js";
import { startsOf } from "./data.js";
import { bdi, element } from "./elements.js";

const MOST_NGRAMS = 12;

/** @param {PageData} report */
export function ngramsOf(report, item, system) {
  const counts = report.column("n-gram counts");
  if (!counts) return null;
  report.ngramStarts ??= startsOf(counts);
  const caption = item * report.systems.length + system;
  const text = report.textOffsets[item] + system;
  if (!report.column("texts")[text]) return null;
  const tokens = wordsOf(report, "n-gram tokens", text);
  const ngrams = [];
  for (let k = report.ngramStarts[caption]; k < report.ngramStarts[caption + 1]; k++) {
    const start = report.column("n-gram start")[k], order = report.column("n-gram order")[k];
    ngrams.push({ start, order, share: report.column("n-gram share")[k] / 1000,
                 words: tokens.slice(start, start + order).join(" ") });
  }
  return { tokens, ngrams };
}

export function drawNgrams({ tokens, ngrams }) {
  if (!ngrams.length) {
    return element("p", { class: "dim" }, "No n-gram of the caption adds to its score.");
  }
  // Each word carries its part of the n-grams it stands in, as the thickness of a line below it.
  const weights = new Float64Array(tokens.length);
  for (const { start, order, share } of ngrams) {
    for (let k = start; k < start + order; k++) weights[k] += share / order;
  }
  const most = Math.max(...weights), top = ngrams[0].share;
  const line = element("p", { class: "tokens", dir: "auto", "aria-hidden": "true" }, tokens.map((token, k) =>
    element("span", { class: weights[k] ? null : "none",
      style: weights[k] ? `border-bottom-width:${Math.max(1, Math.round((6 * weights[k]) / most))}px` : null }, token)));
  const rows = ngrams.slice(0, MOST_NGRAMS).map(({ words: text, share }) => element("tr", {},
    element("td", {}, bdi(text)), element("td", {}, share.toFixed(3)),
    element("td", { "aria-hidden": "true" },
      element("span", { class: "size", style: `width:${((4.5 * share) / top).toFixed(2)}rem` }))));
  const rest = ngrams.slice(MOST_NGRAMS);
  return element("div", {}, line,
    element("table", { class: "ngrams" },
      element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "n-gram"),
        element("th", { scope: "col" }, "adds"), element("td", {}))),
      element("tbody", {}, rows)),
    rest.length ? element("p", { class: "dim" }, `and ${rest.length} more, adding ` +
      `${rest.reduce((sum, each) => sum + each.share, 0).toFixed(3)}`) : null);
}
