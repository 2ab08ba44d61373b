// From the data to the page: sections are made one after the other, those in sight first.

import { metricPairs } from "./correlations.js";
import { readReport } from "./data.js";
import { distributions } from "./distributions.js";
import { element, section } from "./elements.js";
import { explorer } from "./explorer.js";
import { startLeaderboard } from "./leaderboard.js";
import { lengthPlot } from "./lengths.js";
import { storyLengths } from "./stories.js";
import { gridTable } from "./tables.js";
import { wins } from "./wins.js";

function wanted() {
  const link = /[#&]item=([^&]*)/.exec(location.hash);
  try { return link ? decodeURIComponent(link[1]) : null; } catch { return null; }
}

function startTheme(redraw) {
  const root = document.documentElement, button = document.getElementById("theme");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const set = (theme) => {
    root.dataset.theme = theme;
    button.textContent = theme === "dark" ? "Light" : "Dark";
    button.setAttribute("aria-label", `Switch to ${theme === "dark" ? "light" : "dark"} colours`);
  };
  set(dark.matches ? "dark" : "light");
  button.hidden = false;
  button.addEventListener("click", () => { set(root.dataset.theme === "dark" ? "light" : "dark"); redraw(); });
  dark.addEventListener("change", () => { set(dark.matches ? "dark" : "light"); redraw(); });
  // Paper is light.
  let before;
  addEventListener("beforeprint", () => { before = root.dataset.theme; if (before === "dark") { set("light"); redraw(); } });
  addEventListener("afterprint", () => { if (before === "dark") { set("dark"); redraw(); } });
}

function furtherSection({ id, title, text, signatures, grids }) {
  const node = section(id, title, text.map((each) => element("p", {}, each)), grids.map(gridTable),
    signatures.map((each) => element("p", { class: "signature" }, each)));
  return { node, draw() {} };
}

async function start() {
  let parts = [];
  const redraw = () => parts.forEach((part) => part.draw());
  startTheme(redraw);
  const report = await readReport();
  if (report.metrics.length) startLeaderboard(report);
  const lengths = report.captions ? report.column("lengths") : report.stories ? storyLengths(report) : null;
  const more = document.getElementById("more");
  let items = null;
  const open = (item, system) => {
    items.open(item, system);
    document.getElementById("items").scrollIntoView();
  };
  report.sections.filter((each) => each.lead).forEach((each) => parts.push(furtherSection(each)));
  if (report.count) {
    items = explorer(report, lengths);
    parts.push({ node: items.node, draw: items.redraw });
  }
  if (report.count && report.metrics.length) {
    if (report.systems.length > 1) parts.push(wins(report));
    parts.push(distributions(report));
    if (report.metrics.length > 1) parts.push(metricPairs(report, open));
    if (lengths) parts.push(lengthPlot(report, lengths, report.stories ? "captions of the video" : "words", open));
  }
  report.sections.filter((each) => !each.lead).forEach((each) => parts.push(furtherSection(each)));
  more.replaceChildren(...parts.map((part) => part.node));
  const links = document.querySelector("#sections ul"), last = links.lastElementChild;
  for (const { node } of parts) {
    last.before(element("li", {}, element("a", { href: `#${node.id}` }, node.querySelector("h2").textContent)));
  }
  document.getElementById("made-title").after(...report.notes.map((note) => element("p", {}, note)));
  items?.start();
  parts.filter((part) => part.node !== items?.node).forEach((part) => part.draw());

  function follow() {
    const name = wanted(), item = Math.max(report.items.indexOf(name), report.ids?.indexOf(name) ?? -1);
    if (item >= 0) open(item);
  }
  items?.open(0, undefined, { quiet: true });
  follow();
  addEventListener("hashchange", follow);
  let resized;
  const { dataset } = document.documentElement;
  const fit = () => { redraw(); dataset.width = String(innerWidth); }; // the width that figures are drawn for
  addEventListener("resize", () => { clearTimeout(resized); resized = setTimeout(fit, 150); });
  dataset.width = String(innerWidth);
  dataset.ready = "yes";
}

start().catch((error) => {
  const problem = document.getElementById("problem");
  problem.textContent = error.message;
  problem.hidden = false;
  document.getElementById("loading")?.remove();
  throw error;
});
