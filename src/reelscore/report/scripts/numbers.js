// Numbers: how they are written, and what is computed from columns of them.

export const COUNT = new Intl.NumberFormat("en");

// One format for the numbers of a column, as the tables of reelscore have it: four decimals below
// 10, fewer above.
export function formatOf(values) {
  let most = 0, whole = true;
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    most = Math.max(most, Math.abs(value));
    whole &&= Number.isInteger(value);
  }
  const decimals = most < 10 ? 4 : whole || most >= 1000 ? 0 : 2;
  return (value) => Number.isFinite(value) ? value.toFixed(decimals) : "–";
}

export const shown = (value) => formatOf([value])(value);

export function shownP(p) {
  if (p === null) return "";
  if (p < 0.001) return "p < .001";
  return `p = ${p.toFixed(3).replace(/^0/, "")}`;
}

// Which of the systems' scores are the best by a metric, if there is one to be found; a bound never is.
export function areBest(metric, scores, bounds) {
  const known = scores.filter((score, k) => !Number.isNaN(score) && !bounds[k]);
  if (!metric || metric.better === "neither" || known.length < 2) return scores.map(() => false);
  const best = metric.better === "low" ? Math.min(...known) : Math.max(...known);
  return scores.map((score, k) => score === best && !bounds[k]);
}

// Sums, means and coefficients leave out what is missing (NaN).

export function meanOf(values) {
  let sum = 0, count = 0;
  for (const value of values) if (!Number.isNaN(value)) { sum += value; count++; }
  return count ? sum / count : NaN;
}

export function knownPairs(x, y) {
  const first = [], second = [];
  for (let k = 0; k < x.length; k++) {
    if (!Number.isNaN(x[k]) && !Number.isNaN(y[k])) { first.push(x[k]); second.push(y[k]); }
  }
  return [Float64Array.from(first), Float64Array.from(second)];
}

export function pearson(x, y) {
  const meanX = meanOf(x), meanY = meanOf(y);
  let xy = 0, xx = 0, yy = 0;
  for (let k = 0; k < x.length; k++) {
    const a = x[k] - meanX, b = y[k] - meanY;
    xy += a * b; xx += a * a; yy += b * b;
  }
  return x.length > 1 && xx > 0 && yy > 0 ? xy / Math.sqrt(xx * yy) : NaN;
}

// Ranks from 1; equal values share the mean of theirs, missing ones stay missing.
function ranksOf(values) {
  const order = orderOf(values);
  const ranks = new Float64Array(values.length).fill(NaN);
  for (let begin = 0; begin < order.length;) {
    let end = begin;
    while (end < order.length && values[order[end]] === values[order[begin]]) end++;
    for (let k = begin; k < end; k++) ranks[order[k]] = (begin + end + 1) / 2;
    begin = end;
  }
  return ranks;
}

// Places of the values that are there, lowest first, in the order of the data where equal.
export function orderOf(values) {
  const places = new Uint32Array(values.length);
  let count = 0;
  for (let k = 0; k < values.length; k++) if (!Number.isNaN(values[k])) places[count++] = k;
  return places.subarray(0, count).sort((a, b) => values[a] - values[b] || a - b);
}

export const spearman = (x, y) => pearson(ranksOf(x), ranksOf(y));

// Ranks as shares of the way from the lowest (0) to the highest (1).
export function shareRanks(values) {
  const ranks = ranksOf(values);
  const count = ranks.filter((rank) => !Number.isNaN(rank)).length;
  return ranks.map((rank) => (count > 1 ? (rank - 1) / (count - 1) : rank * 0));
}

export function quantile(sorted, share) {
  const place = (sorted.length - 1) * share, low = Math.floor(place);
  return sorted[low] + (place - low) * ((sorted[low + 1] ?? sorted[low]) - sorted[low]);
}

export function rangeOf(values) {
  let low = Infinity, high = -Infinity;
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (low > high) return [0, 1];
  return low === high ? [low - 0.5, high + 0.5] : [low, high];
}

// Round numbers inside a range, for an axis.
export function ticksOf(low, high, most = 6) {
  const rough = (high - low) / most;
  let step = 10 ** Math.floor(Math.log10(rough));
  step *= [1, 2, 5, 10].find((factor) => step * factor >= rough) ?? 10;
  const ticks = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k++) {
    ticks.push(Number((k * step).toPrecision(12)));
  }
  return ticks;
}
