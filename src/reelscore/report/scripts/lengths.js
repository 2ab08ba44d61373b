// Score against length: is a system rewarded for what it says or for how much?

/** @import { PageData } from "./data.js" */
import { mainMetric, metricOptions } from "./data.js";
import { choice, element, section } from "./elements.js";
import { COUNT, quantile, spearman } from "./numbers.js";
import { scatter } from "./scatter.js";

/** @param {PageData} report */
export function lengthPlot(report, lengths, unit, open) {
  const state = { metric: mainMetric(report), system: -1 };
  const plot = element("div", { class: "plot" });
  const say = element("p", { class: "key", role: "status" });

  function draw() {
    const x = [], y = [], item = [], system = [];
    const perItem = report.systems.length;
    for (let k = 0; k < lengths.length; k++) {
      if (state.system >= 0 && k % perItem !== state.system) continue;
      const score = report.scores[state.metric][k];
      if (Number.isNaN(score) || !lengths[k]) continue;
      x.push(lengths[k]);
      y.push(score);
      item.push(Math.floor(k / perItem));
      system.push(k % perItem);
    }
    const name = report.metrics[state.metric].name;
    const value = spearman(x, y);
    const end = quantile(Float64Array.from(x).sort(), 0.998); // a few endless captions would hide the rest
    const inside = x.map((_, k) => k).filter((k) => x[k] <= end);
    const within = (column) => inside.map((k) => column[k]);
    const about = `${name} against length of ${COUNT.format(x.length)} ${report.stories ? "stories" : "captions"}: Spearman ` +
      `${Number.isNaN(value) ? "not defined" : value.toFixed(3)}`;
    const beyond = x.length - inside.length;
    say.textContent = `${about}. The line is the mean at each length (of 5 or more).` +
      (beyond ? ` ${COUNT.format(beyond)} longer than ${end.toFixed(0)} are not shown.` : "");
    scatter(plot, { x: within(x), y: within(y), item: within(item), system: within(system),
                    line: means(within(x), within(y)), xName: unit, yName: name, about, open });
  }

  function means(x, y) {
    const sums = new Map();
    x.forEach((length, k) => {
      const [sum, count] = sums.get(length) ?? [0, 0];
      sums.set(length, [sum + y[k], count + 1]);
    });
    return [...sums].filter(([, [, count]]) => count >= 5).sort((a, b) => a[0] - b[0])
      .map(([length, [sum, count]]) => [length, sum / count]);
  }

  const systems = [[-1, "all systems"], ...report.systems.map((name, k) => [k, name])];
  return {
    node: section("length", "Score against length",
      element("div", { class: "controls" },
        choice("Score", metricOptions(report), state.metric, (v) => { state.metric = Number(v); draw(); }),
        choice("System", systems, state.system, (v) => { state.system = Number(v); draw(); })),
      say, plot),
    draw,
  };
}
