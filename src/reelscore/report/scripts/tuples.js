// The tuples that a caption and its references state, and which of them match.

/** @import { PageData } from "./data.js" */
import { startsOf } from "./data.js";
import { bdi, element } from "./elements.js";

/** @param {PageData} report */
export function tuplesOf(report, item, system) {
  const counts = report.column("tuple counts");
  if (!counts) return null;
  report.tupleStarts ??= startsOf(counts);
  const caption = item * report.systems.length + system;
  if (!report.column("texts")[report.textOffsets[item] + system]) return null;
  const theirs = tuplesIn(report.column("reference tuples")[item]);
  const first = report.tupleStarts[caption], matches = report.column("tuple matches");
  const ours = tuplesIn(report.column("tuples")[caption]).map((words, k) =>
    ({ words, match: matches[first + k] ? theirs[matches[first + k] - 1] : null }));
  const hit = new Set(ours.map(({ match }) => match));
  return { ours, theirs: theirs.map((words) => ({ words, match: hit.has(words) ? words : null })) };
}

export function drawTuples({ ours, theirs }) {
  const correct = ours.filter(({ match }) => match).length;
  return element("div", {},
    element("p", {}, `${correct} of the caption’s ${tupleCount(ours)} match; the references have ${theirs.length}.`),
    element("h4", {}, "The caption"), tupleList(ours),
    element("h4", {}, "The references together"), tupleList(theirs));
}

function tupleList(tuples) {
  if (!tuples.length) return element("p", { class: "dim" }, "No tuples.");
  return element("ul", { class: "tuples" }, tuples.map(({ words, match }) => {
    const same = !match || match.join(", ") === words.join(", ");
    return element("li", { class: match ? "hit" : null },
      match ? element("span", { title: "matches" }, "✓ ") : null, bdi(words.join(", ")),
      same ? null : element("span", { class: "dim" }, " = ", bdi(match.join(", "))));
  }));
}

function tupleCount(tuples) {
  return tuples.length === 1 ? "1 tuple" : `${tuples.length} tuples`;
}

function tuplesIn(line) {
  return line ? line.split("\t").map((tuple) => tuple.split("\v")) : [];
}
