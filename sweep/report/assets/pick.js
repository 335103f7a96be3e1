// Which load meets an SLO, by the same rules as sweep/curve/pick.py: brackets from joint tables, shares with their limits.

const ALPHA = 0.05;
const QUANTILES = { p50: 0.5, p75: 0.75, p90: 0.9, p95: 0.95, p99: 0.99, p999: 0.999 };
const LANCZOS = [
  0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059, 12.507343278686905,
  -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
];

function lnGamma(x) {
  if (x < 0.5) return Math.log(Math.PI / Math.sin(Math.PI * x)) - lnGamma(1 - x);
  const t = x + 6.5;
  const sum = LANCZOS.reduce((total, part, place) => (place ? total + part / (x - 1 + place) : part), 0);
  return 0.5 * Math.log(2 * Math.PI) + (x - 0.5) * Math.log(t) - t + Math.log(sum);
}

/** The regularised incomplete beta function, by Lentz's continued fraction. */
function betaIncomplete(a, b, x, lnBeta) {
  if (x <= 0 || x >= 1) return x <= 0 ? 0 : 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - betaIncomplete(b, a, 1 - x, lnBeta);
  let c = 1;
  let d = 1 / guard(1 - ((a + b) * x) / (a + 1));
  let fraction = d;
  for (let m = 1; m < 500; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / guard(1 + even * d);
    c = guard(1 + even / c);
    fraction *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / guard(1 + odd * d);
    c = guard(1 + odd / c);
    fraction *= d * c;
    if (Math.abs(d * c - 1) < 1e-15) break;
  }
  return (Math.exp(a * Math.log(x) + b * Math.log1p(-x) - lnBeta) * fraction) / a;
}

function guard(x) {
  return Math.abs(x) < 1e-300 ? 1e-300 : x;
}

/** Where the incomplete beta function has the value p: Newton's steps, kept inside by bisection. */
function betaInverse(a, b, p) {
  const lnBeta = lnGamma(a) + lnGamma(b) - lnGamma(a + b);
  let [low, high, x] = [0, 1, a / (a + b)];
  for (let step = 0; step < 80 && high - low > 1e-15; step++) {
    const off = betaIncomplete(a, b, x, lnBeta) - p;
    if (off > 0) high = x;
    else low = x;
    const next = x - off / Math.exp((a - 1) * Math.log(x) + (b - 1) * Math.log1p(-x) - lnBeta);
    const kept = next > low && next < high ? next : (low + high) / 2;
    if (Math.abs(kept - x) < 1e-15 * x) break;
    x = kept;
  }
  return x;
}

function proportionLimits(p, worth) {
  const k = p * worth;
  return [
    k <= 0 ? 0 : betaInverse(k, worth - k + 1, ALPHA / 2),
    k >= worth ? 1 : betaInverse(k + 1, worth - k, 1 - ALPHA / 2),
  ];
}

/** What keeps every bound: brackets that contain the records' own count of requests and of their tokens. */
function good(table, bounds) {
  const kept = { low: 0, high: 0, tokensLow: 0, tokensHigh: 0 };
  const limits = bounds.map((bound) => [table[bound.metric], Math.round(bound.limit_s * 1e9)]);
  for (let row = 0; row < table.counts.length; row++) {
    let [sure, maybe] = [true, true];
    for (const [edge, limit] of limits) {
      if (edge.high[row] * 1000 > limit) sure = false;
      if (Math.max(edge.low[row] - 1, 0) * 1000 >= Math.max(limit, 1)) maybe = false;
      if (!maybe) break;
    }
    if (sure) [kept.low, kept.tokensLow] = [kept.low + table.counts[row], kept.tokensLow + table.tokens[row]];
    if (maybe) [kept.high, kept.tokensHigh] = [kept.high + table.counts[row], kept.tokensHigh + table.tokens[row]];
  }
  return kept;
}

/** Effective per actual sample, as measured at the percentile nearest to the bound's. */
function worthOf(point, bound) {
  const q = bound.quantile ?? 1;
  let nearest = null;
  for (const [name, estimate] of Object.entries(point.metrics[bound.metric + "_s"] || {})) {
    if (!(name in QUANTILES) || !estimate.n || !estimate.n_eff) continue;
    const off = Math.abs(QUANTILES[name] - q);
    if (!nearest || off < nearest.off) nearest = { off, estimate };
  }
  return nearest ? Math.min(1, nearest.estimate.n_eff / nearest.estimate.n) : 1;
}

function sum(items, of) {
  return items.reduce((total, item) => total + of(item), 0);
}

function shareOf(repeats, bounds) {
  const kept = repeats.map((point) => good(point.table, bounds));
  const total = Object.fromEntries(Object.keys(kept[0]).map((key) => [key, sum(kept, (one) => one[key])]));
  const n = sum(repeats, (point) => point.cohort);
  const worth = sum(repeats, (point) => point.cohort * Math.min(1, ...bounds.map((bound) => worthOf(point, bound))));
  const [value, most] = [total.low / n, total.high / n];
  return { good: total, value, low: proportionLimits(value, worth)[0], high: proportionLimits(most, worth)[1], n };
}

function verdictOf(repeats, bound) {
  const share = shareOf(repeats, [bound]);
  if (bound.quantile === null) return share.good.low === share.n ? "met" : share.good.high < share.n ? "missed" : "undecided";
  return share.low >= bound.quantile ? "met" : share.high < bound.quantile ? "missed" : "undecided";
}

function judgedLoad(level, repeats, bounds) {
  const cohort = sum(repeats, (point) => point.cohort);
  if (!cohort || !bounds.length || repeats.some((point) => !point.table)) return { level, repeats, verdict: "undecided", cohort, attainment: null };
  const attainment = shareOf(repeats, bounds);
  const verdicts = bounds.map((bound) => verdictOf(repeats, bound));
  const seconds = sum(repeats, (point) => (point.window ? (point.window.end_ns - point.window.begin_ns) / 1e9 : NaN));
  const reqPerS = seconds > 0 ? attainment.value * (cohort / seconds) : null;
  const each = tokensEach(repeats, attainment.good);
  return {
    level,
    repeats,
    cohort,
    attainment,
    verdict: verdicts.includes("missed") ? "missed" : verdicts.includes("undecided") ? "undecided" : "met",
    reqPerS,
    tokPerS: reqPerS === null || !each ? null : reqPerS * each,
  };
}

/** Tokens of a good answer; where none is good, those of any answer. */
function tokensEach(repeats, kept) {
  if (kept.low && kept.high) return kept.tokensLow / kept.low;
  const answered = sum(repeats, (point) => sum([...point.table.counts], (count) => count));
  return answered ? sum(repeats, (point) => sum([...point.table.tokens], (count) => count)) / answered : 0;
}

/** Disqualified points answer nothing. `highest`: the highest load that meets the SLO; `best`: the one of most goodput. */
function pick(curve, bounds) {
  const levels = new Map();
  for (const point of curve.points) {
    if (!point.disqualified) levels.set(point.load.level, [...(levels.get(point.load.level) || []), point]);
  }
  const loads = [...levels].sort((a, b) => a[0] - b[0]).map(([level, repeats]) => judgedLoad(level, repeats, bounds));
  const place = loads.map((load) => load.verdict).lastIndexOf("met");
  const highest = place < 0 ? null : loads[place];
  const able = loads.filter((load) => load.reqPerS);
  return {
    loads,
    highest,
    boundary: highest && place + 1 < loads.length ? boundaryOf(loads, place, bounds) : null,
    best: able.reduce((best, load) => (!best || load.reqPerS > best.reqPerS ? load : best), null),
    verdict: highest ? "met" : !loads.length || loads.some((load) => load.verdict === "undecided") ? "undecided" : "missed",
  };
}

/** The load at which the first bound breaks: its percentile over the loads, PCHIP in logs. */
function boundaryOf(loads, place, bounds) {
  const [meets, fails] = [loads[place].level, loads[place + 1].level];
  let first = null;
  for (const bound of bounds) {
    const known = loads.map((load) => [load.level, percentileS(load, bound)]).filter(([, seconds]) => seconds);
    const at = new Map(known);
    if (!(at.get(meets) <= bound.limit_s && bound.limit_s < at.get(fails))) continue;
    const value = pchip(known.map(([level]) => Math.log(level)), known.map(([, seconds]) => Math.log(seconds)));
    let [low, high] = [meets, fails];
    for (let step = 0; step < 50; step++) {
      const middle = Math.sqrt(low * high);
      if (Math.exp(value(Math.log(middle))) <= bound.limit_s) low = middle;
      else high = middle;
    }
    if (!first || low < first.level) first = { level: low, bound };
  }
  return first;
}

function percentileS(load, bound) {
  const metric = bound.metric + "_s";
  load.repeats[0].together ??= {};
  load.repeats[0].together[metric] ??= pooled(load.repeats.map((point) => point.cells[metric]).filter(Boolean));
  const us = percentileUs(load.repeats[0].together[metric], bound.quantile ?? 1);
  return us === null ? null : us / 1e6;
}

/** The monotone cubic of Fritsch & Butland with scipy's end slopes, between the first and the last x. */
function pchip(x, y) {
  if (x.length === 1) return () => y[0];
  const h = x.slice(1).map((right, i) => right - x[i]);
  const m = h.map((width, i) => (y[i + 1] - y[i]) / width);
  const end = (h0, h1, m0, m1) => {
    const slope = ((2 * h0 + h1) * m0 - h0 * m1) / (h0 + h1);
    if (Math.sign(slope) !== Math.sign(m0)) return 0;
    return Math.sign(m0) !== Math.sign(m1) && Math.abs(slope) > 3 * Math.abs(m0) ? 3 * m0 : slope;
  };
  const last = h.length - 1;
  const slopes = x.map((_, i) => {
    if (!last) return m[0];
    if (i === 0) return end(h[0], h[1], m[0], m[1]);
    if (i > last) return end(h[last], h[last - 1], m[last], m[last - 1]);
    if (m[i - 1] * m[i] <= 0) return 0;
    const [w1, w2] = [2 * h[i] + h[i - 1], h[i] + 2 * h[i - 1]];
    return (w1 + w2) / (w1 / m[i - 1] + w2 / m[i]);
  });
  return (at) => {
    const i = Math.min(Math.max(x.findLastIndex((left) => left <= at), 0), last);
    const u = (at - x[i]) / h[i];
    return (1 + 2 * u) * (1 - u) ** 2 * y[i] + u * (1 - u) ** 2 * h[i] * slopes[i] + u ** 2 * (3 - 2 * u) * y[i + 1] + u ** 2 * (u - 1) * h[i] * slopes[i + 1];
  };
}
