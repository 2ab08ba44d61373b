// The data of the page: unpacked once; columns are typed arrays, texts are split when first used.

/**
 * What page.py writes, for tsc.
 * @typedef {{ about: string, untested: string, level: number, p: number[][], wins: number[][],
 *   clusters: number[] }} Tests
 * @typedef {{ name: string, human: boolean, better: "high" | "low" | "neither", own: number[],
 *   ranked: boolean[], intervals: [number, number][], evidence: Tests }} Metric
 * @typedef {{ systems: string[], baseline: string, bounds: boolean[], items: string[], ids?: string[],
 *   metrics: Metric[], interest: number[], sections: any[], video: string,
 *   videos: Record<number, string>, notes: string[], captions?: boolean,
 *   previews?: { folder: string }, pictures?: string[],
 *   stories?: { method: string, annotators: string[] },
 *   explanations?: { alignments?: { score: string, kinds: string[] }, "n-grams"?: { score: string },
 *     tuples?: { score: string },
 *     sentences?: { score: string, borneOut: number | null, part: string, beside: string } },
 *   column: (name: string) => any, count: number, scores: Float32Array[],
 *   score: (metric: number, system: number, item: number) => number,
 *   textOffsets: Uint32Array, alignmentStarts?: Uint32Array, ngramStarts?: Uint32Array,
 *   tupleStarts?: Uint32Array,
 *   storyStarts?: Record<"comparisons" | "captions" | "matches", Uint32Array> }} PageData
 */

/** @returns {Promise<PageData>} */
export async function readReport() {
  if (typeof DecompressionStream === "undefined") {
    throw new Error(
      "This browser cannot unpack the items of the report (it lacks DecompressionStream). " +
      "Any browser of 2023 or later can: Chrome 80, Firefox 113, Safari 16.4.");
  }
  const raw = await inflate(document.getElementById("data").textContent);
  const length = new DataView(raw).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(raw, 4, length)));
  const places = new Map(head.columns.map((column) => [column.name, column]));
  const known = new Map();

  function column(name) {
    if (!known.has(name)) {
      const place = places.get(name);
      known.set(name, place ? readColumn(raw, 4 + length + place.at, place) : null);
    }
    return known.get(name);
  }

  const report = { ...head, column };
  report.count = head.items.length;
  report.scores = head.metrics.map((_, k) => column(`score${k}`));
  report.score = (metric, system, item) =>
    report.scores[metric][item * head.systems.length + system];
  report.textOffsets = textOffsets(report);
  return report;
}

async function inflate(text) {
  const packed = atob(text);
  const bytes = new Uint8Array(packed.length);
  for (let k = 0; k < packed.length; k++) bytes[k] = packed.charCodeAt(k);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}

function readColumn(raw, at, { kind, bytes }) {
  if (kind === "text") {
    return new TextDecoder().decode(new Uint8Array(raw, at, bytes)).split("\n");
  }
  if (kind === "u1") return new Uint8Array(raw, at, bytes);
  if (kind === "u2") return new Uint16Array(raw, at, bytes / 2);
  if (kind === "u4") return new Uint32Array(raw, at, bytes / 4);
  // Floats lie with their first bytes together, then their second, and so on.
  const sorted = new Uint8Array(raw, at, bytes);
  const count = bytes / 4;
  const whole = new Uint8Array(bytes);
  for (let k = 0; k < count; k++) {
    for (let b = 0; b < 4; b++) whole[4 * k + b] = sorted[b * count + k];
  }
  return new Float32Array(whole.buffer);
}

// Where the texts of each item begin: one caption for each system, then the references.
/** @param {PageData} report */
function textOffsets(report) {
  const references = report.column("references");
  const offsets = new Uint32Array(report.count + 1);
  for (let k = 0; references && k < report.count; k++) {
    offsets[k + 1] = offsets[k] + report.systems.length + references[k];
  }
  return offsets;
}

// Sums of the entries before each: where the parts of a column begin.
export function startsOf(counts) {
  const starts = new Uint32Array(counts.length + 1);
  for (let k = 0; k < counts.length; k++) starts[k + 1] = starts[k] + counts[k];
  return starts;
}

// The scores to choose from.
/** @param {PageData} report */
export const metricOptions = (report) =>
  report.metrics.map((metric, k) => [k, metric.human ? `${metric.name} (people)` : metric.name]);

// The score that figures show first.
/** @param {PageData} report */
export const mainMetric = (report) => report.interest[0];

// Two scores to be set against each other first: a metric, and people or another metric.
/** @param {PageData} report */
export function twoMetrics(report) {
  const { interest, metrics } = report;
  const one = interest.find((k) => !metrics[k].human) ?? interest[0];
  return [one, interest.find((k) => k !== one) ?? one];
}
