// A caption aligned with its best reference, word by word: kinds of matches differ by their line.

/** @import { PageData } from "./data.js" */
import { startsOf } from "./data.js";
import { drawn, element, picture, textWidth } from "./elements.js";

const WORD_FONT = "15px system-ui, 'Segoe UI', Roboto, Arial, sans-serif";
const MOST_LINES = 40; // of a picture with a word in each line

const plainWords = (text) =>
  text.toLowerCase().replace(/[.,;:!?"]/g, "").split(/\s+/).filter(Boolean);

// The words of a text as a metric sees them, where they are not the plain ones.
/** @param {PageData} report */
export function wordsOf(report, column, text) {
  const stored = report.column(column)[text];
  return stored ? stored.split(" ") : plainWords(report.column("texts")[text]);
}

// The alignment of the caption of a system, or null where there is none.
/** @param {PageData} report */
export function alignmentOf(report, item, system) {
  const best = report.column("alignment best");
  const caption = item * report.systems.length + system;
  if (!best || !best[caption]) return null;
  report.alignmentStarts ??= startsOf(report.column("alignment counts"));
  const first = report.textOffsets[item];
  const reference = first + report.systems.length + best[caption] - 1;
  const columns = ["start", "length", "reference start", "reference length", "kind"]
    .map((name) => report.column(`alignment ${name}`));
  const { kinds } = report.explanations.alignments, matches = [];
  for (let k = report.alignmentStarts[caption]; k < report.alignmentStarts[caption + 1]; k++) {
    const [start, length, otherStart, otherLength, kind] = columns.map((column) => column[k]);
    matches.push({ start, length, otherStart, otherLength, kind: kinds[kind] });
  }
  return { reference: best[caption] - 1, matches,
           ours: wordsOf(report, "alignment words", first + system),
           theirs: wordsOf(report, "alignment words", reference) };
}

export function drawAlignment(alignment, width) {
  const wide = Math.max(...[alignment.ours, alignment.theirs].map((words) =>
    words.reduce((sum, word) => sum + textWidth(word, WORD_FONT) + 12, 0)));
  const longest = Math.max(alignment.ours.length, alignment.theirs.length);
  if (wide > width && longest > MOST_LINES) return inText(alignment);
  const about = alignment.matches.map(({ start, length, otherStart, otherLength, kind }) =>
    `${alignment.ours.slice(start, start + length).join(" ")} = ` +
    `${alignment.theirs.slice(otherStart, otherStart + otherLength).join(" ")} (${kind})`).join("; ");
  const drawing = wide <= width ? sideways(alignment, wide) : downwards(alignment, width);
  return element("div", { class: "drawn" },
    picture(drawing.width, drawing.height, `Matched words: ${about || "none"}`, drawing.parts));
}

// Arabic, Hebrew and their like are read from the right.
const fromRight = (words) => /^[^\p{L}]*[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u.test(words.join(" "));

// Caption above, reference below.
function sideways({ ours, theirs, matches }, width) {
  const place = (words) => {
    const turned = fromRight(words);
    let x = 2;
    return words.map((word) => {
      const wide = textWidth(word, WORD_FONT);
      const span = turned ? { from: width + 2 - x - wide, to: width + 2 - x } : { from: x, to: x + wide };
      x += wide + 12;
      return span;
    });
  };
  const above = place(ours), below = place(theirs), parts = [];
  for (const { start, length, otherStart, otherLength, kind } of matches) {
    const one = [above[start].from, above[start + length - 1].to];
    const two = [below[otherStart].from, below[otherStart + otherLength - 1].to];
    const middle = (span) => (span[0] + span[1]) / 2;
    parts.push(...join(kind, `M${one[0]} 26H${one[1]}M${middle(one)} 26L${middle(two)} 94M${two[0]} 94H${two[1]}`));
  }
  parts.push(...words(ours, above.map((s) => [s.from, 18]), matches, "start", "length", "start"),
             ...words(theirs, below.map((s) => [s.from, 112]), matches, "otherStart", "otherLength", "start"));
  return { width: Math.ceil(width) + 4, height: 120, parts };
}

// Where there is no room: caption on the left, reference on the right, a word in each line.
function downwards({ ours, theirs, matches }, width) {
  const step = 24, widest = (list) => Math.max(0, ...list.map((word) => textWidth(word, WORD_FONT)));
  const gap = Math.min(260, Math.max(92, width / 3)); // the broader, the less steep the lines
  const left = widest(ours) + 4, right = left + gap + 20;
  const y = (k) => k * step + 18, parts = [];
  for (const { start, length, otherStart, otherLength, kind } of matches) {
    const one = [y(start) - 13, y(start + length - 1) + 4];
    const two = [y(otherStart) - 13, y(otherStart + otherLength - 1) + 4];
    const middle = (span) => (span[0] + span[1]) / 2;
    parts.push(...join(kind, `M${left + 6} ${one[0]}V${one[1]}M${left + 6} ${middle(one)}` +
      `L${right - 6} ${middle(two)}M${right - 6} ${two[0]}V${two[1]}`));
  }
  parts.push(...words(ours, ours.map((_, k) => [left, y(k)]), matches, "start", "length", "end"),
             ...words(theirs, theirs.map((_, k) => [right, y(k)]), matches, "otherStart", "otherLength", "start"));
  return { width: Math.ceil(right + widest(theirs) + 4),
           height: Math.max(ours.length, theirs.length) * step + 8, parts };
}

// Long captions are written out: matched words are underlined, and numbers tell which belong
// together. Words that follow each other on both sides have one number.
function inText({ ours, theirs, matches }) {
  const ordered = [...matches].sort((one, other) => one.start - other.start);
  let chunk = 0;
  const numbered = ordered.map((match, k) => {
    const before = ordered[k - 1];
    const goesOn = before && match.start === before.start + before.length &&
      match.otherStart === before.otherStart + before.otherLength;
    return { ...match, chunk: goesOn ? chunk : ++chunk };
  });
  const paragraph = (title, words, start, length) => {
    const parts = [], own = [...numbered].sort((one, other) => one[start] - other[start]);
    let k = 0;
    own.forEach((match, i) => {
      parts.push(...words.slice(k, match[start]).map((word) =>
        [element("span", { class: "left" }, word), " "]));
      k = match[start] + match[length];
      parts.push(element("span", { class: `run ${match.kind}`, "data-chunk": match.chunk },
        words.slice(match[start], k).join(" ")));
      const ends = own[i + 1]?.chunk !== match.chunk;
      parts.push(ends ? element("sup", { "data-chunk": match.chunk }, String(match.chunk)) : null, " ");
    });
    parts.push(...words.slice(k).map((word) => [element("span", { class: "left" }, word), " "]));
    return element("div", {}, element("h4", {}, title), element("p", { dir: "auto" }, parts));
  };
  const shown = element("div", { class: "runs", onpointerover: (event) => {
    const chosen = event.target.dataset.chunk;
    for (const run of shown.querySelectorAll("[data-chunk]"))
      run.classList.toggle("here", chosen !== undefined && run.getAttribute("data-chunk") === chosen);
  } }, paragraph("Caption", ours, "start", "length"),
       paragraph("Reference", theirs, "otherStart", "otherLength"));
  return element("div", {}, element("p", { class: "dim" }, "A number stands behind words that " +
    "follow each other in both texts; words without a line are not matched."), shown);
}

function words(list, places, matches, start, length, anchor) {
  const matched = new Set(matches.flatMap((match) =>
    Array.from({ length: match[length] }, (_, k) => match[start] + k)));
  return list.map((word, k) => drawn("text", { x: places[k][0], y: places[k][1], "text-anchor": anchor,
    class: matched.has(k) ? null : "alone", style: `font:${WORD_FONT}` }, word));
}

// A paraphrase is a double line: a broad one with a thin one of the paper's colour in it.
function join(kind, path) {
  const line = drawn("path", { class: `match ${kind}`, d: path });
  return kind === "paraphrase" ? [line, drawn("path", { class: "match inner", d: path })] : [line];
}

/** @param {PageData} report */
export function kindsKey({ explanations }) {
  return element("ul", { class: "kinds", "aria-label": "Kinds of matches" }, explanations.alignments.kinds.map((kind) =>
    element("li", {}, drawn("svg", { width: 34, height: 12, viewBox: "0 0 34 12", "aria-hidden": "true" },
      join(kind, "M1 6H33")), kind)));
}
