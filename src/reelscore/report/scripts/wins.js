// Who beats whom: the share of items on which one system scores higher than another.

/** @import { PageData } from "./data.js" */
import { mainMetric, metricOptions } from "./data.js";
import { choice, element, section } from "./elements.js";
import { untestedNote } from "./leaderboard.js";
import { shownP } from "./numbers.js";
import { matrixTable, shade } from "./tables.js";

/** @param {PageData} report */
export function wins(report) {
  const place = element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Win matrix" });
  const key = element("p", { class: "key" });
  const control = choice("Score", metricOptions(report), mainMetric(report), draw);

  function draw(chosen) {
    const metric = report.metrics[Number(chosen)];
    const order = report.systems.map((_, k) => k).filter((k) => metric.own[k] !== null)
      .sort((a, b) => (metric.better === "low" ? 1 : -1) * (metric.own[a] - metric.own[b]));
    const shares = order.map((one) => order.map((other) => share(Number(chosen), one, other)));
    place.replaceChildren(matrixTable(
      `Share of items won by ${metric.name}, in per cent`,
      order.map((k) => report.systems[k]),
      (i, j) => cell(metric, order[i], order[j], shares[i][j])));
    key.textContent = "Per cent of the items on which the system of the row scores better than that " +
      "of the column; ties count half." + (metric.evidence?.about
        ? ` Framed, bold and starred: significantly better, p < ${metric.evidence.level} (${metric.evidence.about}).` +
          (order.some((i) => order.some((j) => i !== j && untested(metric, i, j)))
            ? " –: this pair was not tested." : "")
        : "") + (metric.evidence?.untested ? ` – ${metric.name} ${untestedNote(metric.evidence)}` : "");
  }

  function share(metric, one, other) {
    const sign = report.metrics[metric].better === "low" ? -1 : 1;
    let won = 0, count = 0;
    for (let item = 0; item < report.count; item++) {
      const apart = sign * (report.score(metric, one, item) - report.score(metric, other, item));
      if (!Number.isNaN(apart)) { won += apart > 0 ? 1 : apart === 0 ? 0.5 : 0; count++; }
    }
    return count ? won / count : NaN;
  }

  // A pair has a p, in one of the two directions, or was not tested; scores without tests say nothing.
  function untested({ evidence }, one, other) {
    return Boolean(evidence) && (evidence.p[one][other] ?? evidence.p[other][one] ?? null) === null;
  }

  function cell(metric, one, other, value) {
    if (one === other) return element("td", {});
    const sure = metric.evidence?.wins[one][other] === 1;
    const p = metric.evidence?.p[one][other] ?? null;
    const mark = sure ? "*" : untested(metric, one, other) ? "–" : "";
    const text = Number.isNaN(value) ? "–" : `${Math.round(value * 100)}${mark}`;
    return element("td", { class: sure ? "sure" : null, title: shownP(p) || null,
                           style: shade(value * 2 - 1) }, text);
  }

  return { node: section("wins", "Who beats whom", element("div", { class: "controls" }, control), key, place),
           draw: () => draw(control.querySelector("select").value) };
}
