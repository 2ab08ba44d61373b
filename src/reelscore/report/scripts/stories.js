// Stories: timed captions of the annotators and systems, and what was matched.

/** @import { PageData } from "./data.js" */
import { startsOf } from "./data.js";
import { drawn, element, marked, picture, textWidth } from "./elements.js";
import { shown, ticksOf } from "./numbers.js";

// The layout of the columns is that of columns.py.
/** @param {PageData} report */
export function storyOf(report, item) {
  const column = (name) => report.column(`story ${name}`);
  const systems = report.systems.length;
  report.storyStarts ??= {
    comparisons: startsOf(column("comparisons")), captions: startsOf(column("counts")),
    matches: startsOf(column("matches")),
  };
  const { comparisons, captions, matches } = report.storyStarts;
  const count = column("comparisons")[item], before = comparisons[item];
  const firstStory = before + systems * item;

  function story(number) {
    const told = [];
    for (let k = captions[number]; k < captions[number + 1]; k++) {
      told.push({ start: column("times")[2 * k], end: column("times")[2 * k + 1],
                   sentence: column("sentences")[k] });
    }
    return told;
  }

  function compared(system, annotator) {
    const number = systems * before + system * count + annotator, pairs = [];
    for (let k = matches[number]; k < matches[number + 1]; k++) {
      pairs.push({ reference: column("pairs")[2 * k], candidate: column("pairs")[2 * k + 1],
                   iou: column("values")[2 * k], f: column("values")[2 * k + 1] });
    }
    const [precision, recall, f1] = column("scores").subarray(3 * number, 3 * number + 3);
    return { pairs, precision, recall, f1 };
  }

  return {
    annotators: Array.from({ length: count }, (_, k) =>
      ({ name: report.stories.annotators[column("annotators")[before + k]], captions: story(firstStory + k) })),
    candidates: (system) => story(firstStory + count + system),
    compared,
    get sentences() {
      return column("sentences").slice(captions[firstStory], captions[firstStory + count + systems]);
    },
  };
}

// How many captions each system has of each video.
/** @param {PageData} report */
export function storyLengths(report) {
  const comparisons = startsOf(report.column("story comparisons"));
  const counts = report.column("story counts"), systems = report.systems.length;
  return Uint32Array.from({ length: report.count * systems }, (_, k) => {
    const item = Math.floor(k / systems);
    return counts[comparisons[item + 1] + systems * item + (k % systems)];
  });
}

/** @param {PageData} report */
export function drawStory(report, item, system, width, query) {
  const story = storyOf(report, item);
  const candidates = story.candidates(system);
  const all = [...candidates, ...story.annotators.flatMap((each) => each.captions)];
  const end = Math.max(1, ...all.map((caption) => Math.max(caption.start, caption.end)));
  const begin = Math.min(0, ...all.map((caption) => Math.min(caption.start, caption.end)));
  return element("div", { class: "story" },
    element("p", { class: "key" }, `${report.stories.method}. ` +
      "R are references, C candidates, in time order; lines join what was matched; dashed hollow bars are unmatched."),
    story.annotators.map((annotator, k) => {
      const comparison = story.compared(system, k);
      return [
        element("h4", {}, `${annotator.name}: precision ${shown(comparison.precision)}, recall ${shown(comparison.recall)}, F1 ${shown(comparison.f1)}`),
        timeline(annotator.captions, candidates, comparison.pairs, begin, end, width),
        captionRows(annotator.captions, candidates, comparison.pairs, query),
      ];
    }));
}

function timeline(references, candidates, pairs, begin, end, width) {
  const x = (time) => 2 + ((time - begin) / (end - begin)) * (width - 4);
  const sides = [
    { captions: references, matched: new Set(pairs.map((pair) => pair.reference)), letter: "R" },
    { captions: candidates, matched: new Set(pairs.map((pair) => pair.candidate)), letter: "C" },
  ];
  for (const side of sides) {
    const order = side.captions.map((_, k) => k).sort((a, b) => Number(side.matched.has(b)) - Number(side.matched.has(a)));
    side.spans = side.captions.map(({ start, end: stop }, k) => {
      const least = textWidth(`${side.letter}${k + 1}`, "11px system-ui") + 8;
      const from = Math.min(x(Math.min(start, stop)), width - 2 - least);
      return [from, Math.max(x(Math.max(start, stop)) - 1, from + least)];
    });
    const rows = rowsOf(order.map((k) => side.spans[k]));
    side.row = [];
    order.forEach((k, place) => { side.row[k] = rows[place]; });
    side.rows = Math.max(0, ...rows) + 1;
  }
  const [above, below] = sides;
  const middle = (side, k) => (side.spans[k][0] + side.spans[k][1]) / 2;
  const labels = pairs.map(({ reference, candidate, iou, f }) => {
    const text = `IoU ${iou.toFixed(2)} f ${f.toFixed(2)}`;
    const half = textWidth(text, "11px system-ui") / 2 + 2;
    const at = (middle(above, reference) + middle(below, candidate)) / 2;
    return { text, half, x: Math.min(Math.max(at, half), width - half) };
  });
  const labelRows = rowsOf(labels.map((label) => [label.x - label.half, label.x + label.half + 4]));
  const gapTop = above.rows * 20 + 2, gap = 34 + Math.max(0, ...labelRows) * 15;
  above.y = (k) => (above.rows - 1 - above.row[k]) * 20;
  below.y = (k) => gapTop + gap + below.row[k] * 20;
  const bottom = gapTop + gap + below.rows * 20, parts = [];
  for (const tick of ticksOf(begin, end, width / 90)) {
    parts.push(drawn("line", { class: "rule", x1: x(tick), x2: x(tick), y1: 0, y2: bottom + 3 }),
      drawn("text", { class: "dim", x: Math.min(Math.max(x(tick), 12), width - 16), y: bottom + 15, "text-anchor": "middle" }, `${tick} s`));
  }
  for (const side of sides) {
    side.captions.forEach((caption, k) => {
      const matched = side.matched.has(k), name = `${side.letter}${k + 1}`;
      parts.push(drawn("rect", { class: `bar-of ${matched ? side.letter.toLowerCase() : "alone"}`, x: side.spans[k][0], y: side.y(k),
          width: side.spans[k][1] - side.spans[k][0], height: 17, rx: 3 },
          drawn("title", {}, `${name}${matched ? "" : ", unmatched"}: ${caption.sentence}`)),
        drawn("text", { x: side.spans[k][0] + 4, y: side.y(k) + 12.5 }, name));
    });
  }
  pairs.forEach(({ reference, candidate }, k) => {
    const y = gapTop + 20 + labelRows[k] * 15;
    parts.push(drawn("path", { class: "join", d: `M${middle(above, reference)} ${above.y(reference) + 17}` +
      `L${labels[k].x} ${y - 4}L${middle(below, candidate)} ${below.y(candidate)}` }));
  });
  labels.forEach(({ text, half, x: at }, k) => {
    const y = gapTop + 20 + labelRows[k] * 15;
    parts.push(drawn("rect", { class: "box", x: at - half, y: y - 11, width: 2 * half, height: 14 }),
      drawn("text", { x: at, y, "text-anchor": "middle" }, text));
  });
  return picture(width, bottom + 20, `Timeline: ${references.length} references, ${candidates.length} candidates, ${pairs.length} matched`, parts);
}

// The first row in which each span overlaps none before it.
function rowsOf(spans) {
  const rows = [];
  return spans.map(([from, to]) => {
    let row = rows.findIndex((taken) => taken.every(([a, b]) => b <= from || a >= to));
    if (row < 0) row = rows.push([]) - 1;
    rows[row].push([from, to]);
    return row;
  });
}

function captionRows(references, candidates, pairs, query) {
  const lone = (captions, side, key) => captions
    .map((caption, k) => ({ start: caption.start, [key]: k }))
    .filter((row) => !pairs.some((pair) => pair[key] === row[key]));
  const rows = [
    ...pairs.map((pair) => ({ ...pair, start: references[pair.reference].start })),
    ...lone(references, "R", "reference"), ...lone(candidates, "C", "candidate"),
  ].sort((a, b) => a.start - b.start);
  const line = (letter, number, caption, matched) => element("p", {},
    element("b", {}, `${letter}${number + 1}`), " ",
    element("bdi", { dir: "auto" }, marked(caption.sentence, query)), " ",
    element("span", { class: "dim" }, `${caption.start.toFixed(1)}–${caption.end.toFixed(1)} s`), " ",
    matched ? null : element("span", { class: "unmatched" }, "unmatched"));
  return element("ol", {}, rows.map((row) => {
    const matched = row.iou !== undefined;
    return element("li", {},
      matched ? element("span", { class: "dim" }, `IoU ${row.iou.toFixed(3)} · f ${row.f.toFixed(3)}`) : null,
      row.reference !== undefined ? line("R", row.reference, references[row.reference], matched) : null,
      row.candidate !== undefined ? line("C", row.candidate, candidates[row.candidate], matched) : null);
  }));
}
