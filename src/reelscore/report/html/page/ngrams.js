// The n-grams that count for CIDEr, and how much each adds to the score.

const MOST_NGRAMS = 12;

/** @param {PageData} report */
function ngramsOf(report, item, system) {
  const counts = report.column("cider counts");
  if (!counts) return null;
  report.ciderStarts ??= startsOf(counts);
  const caption = item * report.systems.length + system;
  const text = report.textOffsets[item] + system;
  if (!report.column("texts")[text]) return null;
  const tokens = wordsOf(report, "cider tokens", text);
  const found = [];
  for (let k = report.ciderStarts[caption]; k < report.ciderStarts[caption + 1]; k++) {
    const start = report.column("cider start")[k], order = report.column("cider order")[k];
    found.push({ start, order, share: report.column("cider share")[k] / 1000,
                 words: tokens.slice(start, start + order).join(" ") });
  }
  return { tokens, found };
}

function drawNgrams({ tokens, found }) {
  if (!found.length) {
    return element("p", { class: "dim" }, "No n-gram of the caption adds to its score.");
  }
  // Each word carries its part of the n-grams it stands in, as the thickness of a line below it.
  const weights = new Float64Array(tokens.length);
  for (const { start, order, share } of found) {
    for (let k = start; k < start + order; k++) weights[k] += share / order;
  }
  const most = Math.max(...weights), top = found[0].share;
  const line = element("p", { class: "tokens", dir: "auto", "aria-hidden": "true" }, tokens.map((token, k) =>
    element("span", { class: weights[k] ? null : "none",
      style: weights[k] ? `border-bottom-width:${Math.max(1, Math.round((6 * weights[k]) / most))}px` : null }, token)));
  const rows = found.slice(0, MOST_NGRAMS).map(({ words: text, share }) => element("tr", {},
    element("td", {}, bdi(text)), element("td", {}, share.toFixed(3)),
    element("td", { "aria-hidden": "true" },
      element("span", { class: "size", style: `width:${((4.5 * share) / top).toFixed(2)}rem` }))));
  const rest = found.slice(MOST_NGRAMS);
  return element("div", {}, line,
    element("table", { class: "ngrams" },
      element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "n-gram"),
        element("th", { scope: "col" }, "adds"), element("td", {}))),
      element("tbody", {}, rows)),
    rest.length ? element("p", { class: "dim" }, `and ${rest.length} more, adding ` +
      `${rest.reduce((sum, each) => sum + each.share, 0).toFixed(3)}`) : null);
}
