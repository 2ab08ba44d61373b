// A long caption sentence by sentence: what references bear out, and what it leaves out.

/** @import { PageData } from "./data.js" */
import { bdi, element, marked } from "./elements.js";

/** @param {PageData} report */
export function sentencesOf(report, item, system) {
  const caption = item * report.systems.length + system;
  const told = report.column("sentences told")?.[caption];
  if (!told) return null;
  const asked = report.column("sentences asked")[caption], end = asked.indexOf("\t");
  return { told: matchesIn(told), reference: Number(asked.slice(0, end)), asked: matchesIn(asked.slice(end + 1)),
           ...report.explanations.sentences };
}

const isAlone = (borneOut) => ({ score }) => borneOut !== null && score < borneOut;

// A text whose sentences that nothing bears out, or tells, stand out, where they are in it as read.
export function markedSentences(text, query, matches, borneOut) {
  const parts = [];
  let from = 0;
  for (const each of matches.filter(isAlone(borneOut))) {
    const at = text.indexOf(each.text, from);
    if (at < 0) continue;
    const end = at + each.text.length;
    parts.push(marked(text.slice(from, at), query),
      element("span", { class: "alone" }, marked(text.slice(at, end), query)));
    from = end;
  }
  return [...parts, marked(text.slice(from), query)];
}

export function drawSentences({ told, asked, reference, borneOut, part, beside }) {
  const alone = isAlone(borneOut);
  const count = (list) => `${list.length - list.filter(alone).length} of ${list.length}`;
  const about = borneOut === null || beside !== "nearest" ? "" : ` ${part === "event" ? "An event" : "A sentence"} counts from ${borneOut.toFixed(2)}.`;
  const beneath = (side) => beside === "nearest" ? `beside what is nearest in the ${side}` : `with the ${beside}`;
  return element("div", {},
    borneOut === null ? null : element("p", {}, `References bear out ${count(told)} ${part}s; the caption tells ` +
      `${count(asked)} of reference ${reference}.${about}`),
    element("h4", {}, `Said by the caption, ${beneath("references")}`),
    list(told, alone, "not borne out"),
    element("h4", {}, `Said by reference ${reference}, ${beneath("caption")}`),
    list(asked, alone, "left out"));
}

function list(matches, alone, mark) {
  return element("ol", { class: "sentences" }, matches.map((each) => {
    const nothing = alone(each);
    return element("li", { class: nothing ? "alone" : null },
      element("div", {}, element("span", { class: "score" }, each.score.toFixed(2)), " ", bdi(each.text),
        nothing ? element("strong", {}, ` ✗ ${mark}`) : null),
      element("div", { class: "dim" }, bdi(each.match)));
  }));
}

function matchesIn(line) {
  return line.split("\t").map((each) => {
    const [text, match, score] = each.split("\v");
    return { text, match, score: Number(score) };
  });
}
