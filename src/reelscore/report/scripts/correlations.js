// Metric beside metric: how they correlate, and the captions on which they do not.

/** @import { PageData } from "./data.js" */
import { twoMetrics } from "./data.js";
import { choice, element, section } from "./elements.js";
import { COUNT, knownPairs, pearson, spearman } from "./numbers.js";
import { scatter } from "./scatter.js";
import { matrixTable, shade } from "./tables.js";

/** @param {PageData} report */
export function metricPairs(report, open) {
  const [one, other] = twoMetrics(report);
  const state = { level: "captions", coefficient: "pearson", one, other };
  const table = element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Correlations" });
  const plot = element("div", { class: "plot" });
  const say = element("p", { class: "key", role: "status" });
  const known = new Map();
  const texts = report.stories ? "stories" : "captions";

  function columns() {
    return report.metrics.map((metric, k) =>
      state.level === "captions" ? report.scores[k]
        : Float64Array.from(metric.own, (value) => value ?? NaN));
  }

  function coefficient(values, i, j) {
    const key = `${state.level} ${state.coefficient} ${Math.min(i, j)} ${Math.max(i, j)}`;
    if (!known.has(key)) {
      const [x, y] = knownPairs(values[i], values[j]);
      known.set(key, state.coefficient === "pearson" ? pearson(x, y) : spearman(x, y));
    }
    return known.get(key);
  }

  function draw() {
    const values = columns();
    const names = report.metrics.map((metric) => metric.name);
    table.replaceChildren(matrixTable(`Correlations of scores over ${state.level === "captions" ? texts : state.level}`, names, (i, j) => {
      if (i === j) return element("td", {});
      const value = coefficient(values, i, j);
      const chosen = (i === state.other && j === state.one) || (i === state.one && j === state.other);
      return element("td", { class: chosen ? "chosen" : null, style: shade(value) },
        element("button", { type: "button", "aria-label": `${names[i]} and ${names[j]}: ${value.toFixed(2)}`,
          "aria-pressed": String(chosen),
          onclick: () => { state.one = j; state.other = i; draw(); } },
          Number.isNaN(value) ? "–" : value.toFixed(2)));
    }));
    drawPair(values);
  }

  function drawPair(values) {
    const { one, other } = state;
    const first = [], second = [], item = [], system = [];
    const perItem = report.systems.length;
    for (let k = 0; k < values[one].length; k++) {
      if (Number.isNaN(values[one][k]) || Number.isNaN(values[other][k])) continue;
      first.push(values[one][k]);
      second.push(values[other][k]);
      item.push(Math.floor(k / perItem));
      system.push(k % perItem);
    }
    const names = [one, other].map((k) => report.metrics[k].name);
    const value = coefficient(values, one, other);
    const about = `${names[0]} and ${names[1]} of ${COUNT.format(first.length)} ${state.level === "captions" ? texts : state.level}: ` +
      `${state.coefficient} ${Number.isNaN(value) ? "not defined" : value.toFixed(3)}`;
    const captions = state.level === "captions";
    say.replaceChildren(`${about}.`, captions ? element("span", { class: "screen" }, " A click on a dot opens its item.") : "");
    scatter(plot, { x: first, y: second, item: captions ? item : null, system,
                    xName: names[0], yName: names[1], about, open });
  }

  const set = (name) => (value) => { state[name] = value; draw(); };
  return {
    node: section("metrics", "Score against score",
      element("div", { class: "controls" },
        choice("Of", [["captions", texts], ["systems", "systems"]], state.level, set("level")),
        choice("Coefficient", [["pearson", "Pearson"], ["spearman", "Spearman"]], state.coefficient, set("coefficient"))),
      say, element("div", { class: "side" }, table, plot)),
    draw,
  };
}
