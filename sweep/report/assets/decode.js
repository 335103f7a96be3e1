// What a curve file holds in coded form, as sweep/measure/jointcode.py and histogram.py write it.
// Whole numbers stay exact: every one is below 2^53.

const HALF = 1024; // sub-buckets of a log-linear cell
const TOP = 2 ** 53;

async function inflated(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function bytesOf(text) {
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
}

function cellOf(value, shift) {
  const high = Math.floor(value / 2 ** 32);
  const bits = high ? 64 - Math.clz32(high) : 32 - Math.clz32(value >>> 0);
  const bucket = Math.max(bits - 11, 0);
  return Math.floor(((bucket + 1) * HALF + Math.floor(value / 2 ** bucket) - HALF) / 2 ** shift);
}

function lowEdge(cell, shift) {
  const fine = cell * 2 ** shift;
  const bucket = Math.max(Math.floor(fine / HALF) - 1, 0);
  return fine < 2 * HALF ? fine : ((fine % HALF) + HALF) * 2 ** bucket;
}

function highEdge(cell, shift) {
  return lowEdge(cell + 1, shift) - 1;
}

/** The least and greatest µs of every row on each axis, how often each occurs, its tokens, and how many requests failed. */
async function jointTable(stored) {
  const bytes = await inflated(bytesOf(stored.data));
  const view = new DataView(bytes.buffer);
  const shift = view.getUint8(1) ? view.getUint8(1) - 1 : null;
  const rows = view.getUint32(2, true);
  const typical = Number(view.getBigUint64(6, true)); // tokens after the first
  const [tpot, ttft, e2e, counts, tokens] = [0, 1, 2, 3, 4].map((column) => fromPlanes(bytes, 14 + 8 * rows * column, rows));
  const us = (held) => (shift === null ? held : lowEdge(held, shift));
  for (let row = 0; row < rows; row++) {
    tpot[row] += row ? tpot[row - 1] : 0;
    const each = tpot[row] > 0 ? us(tpot[row] - 1) : 0;
    const sameTpot = row > 0 && tpot[row] === tpot[row - 1];
    if (sameTpot) ttft[row] += ttft[row - 1];
    if (sameTpot && ttft[row] === ttft[row - 1]) e2e[row] += e2e[row - 1];
    else {
      const expected = Math.min(us(ttft[row]) + Math.min(each, Math.floor(TOP / Math.max(typical, 1))) * typical, TOP);
      e2e[row] = unzigzag(e2e[row]) + (shift === null ? expected : cellOf(expected, shift));
    }
    const steps = tpot[row] > 0 ? Math.max(us(e2e[row]) - us(ttft[row]), 0) / Math.max(each, 1) : 0;
    tokens[row] = unzigzag(tokens[row]) + halfToEven(counts[row] * (steps + 1));
  }
  const answered = tpot.map((held) => (held > 0 ? 1 : 0));
  return {
    failed: stored.failed,
    counts,
    tokens,
    ttft: edges(ttft, shift, null),
    tpot: edges(tpot.map((held) => Math.max(held - 1, 0)), shift, answered),
    e2e: edges(e2e, shift, null),
  };
}

function unzigzag(value) {
  return value % 2 ? -(value + 1) / 2 : value / 2;
}

function halfToEven(value) {
  const below = Math.floor(value);
  return value - below === 0.5 ? below + (below % 2) : Math.round(value);
}

function fromPlanes(bytes, start, rows) {
  const values = new Float64Array(rows);
  for (let row = 0; row < rows; row++) {
    const byte = (plane) => bytes[start + plane * rows + row];
    const low = (byte(0) | (byte(1) << 8) | (byte(2) << 16) | (byte(3) << 24)) >>> 0;
    const high = byte(4) | (byte(5) << 8) | (byte(6) << 16) | (byte(7) << 24);
    values[row] = high * 2 ** 32 + low;
  }
  return values;
}

/** Answers of one token have no TPOT: they keep any bound on it. */
function edges(held, shift, answered) {
  if (shift === null) return { low: held, high: held };
  const edge = (of) => held.map((cell, row) => (answered && !answered[row] ? 0 : of(cell, shift)));
  return { low: edge(lowEdge), high: edge(highEdge) };
}

/** HdrHistogram V2: [cell, count] of every cell that is not empty. */
async function histogramCells(text) {
  const plain = await inflated(bytesOf(text).subarray(8));
  const cells = [];
  let cell = 0;
  for (let at = 40; at < plain.length; ) {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = plain[at++];
      value += (shift === 56 ? byte : byte & 127) * 2 ** shift;
      if (shift === 56 || byte < 128) break;
    }
    if (value % 2) cell += (value + 1) / 2;
    else cells.push([cell++, value / 2]);
  }
  return cells;
}

/** Several histograms as one: its cells in order and how many values lie in each or below. */
function pooled(histograms) {
  const counts = new Map();
  for (const cells of histograms) for (const [cell, count] of cells) counts.set(cell, (counts.get(cell) || 0) + count);
  const cells = [...counts.keys()].sort((a, b) => a - b);
  let seen = 0;
  return { cells, upTo: cells.map((cell) => (seen += counts.get(cell))) };
}

/** The highest µs equivalent to the q-quantile; null when nothing was counted. */
function percentileUs({ cells, upTo }, q) {
  if (!cells.length) return null;
  const wanted = Math.max(1, Math.ceil(q * upTo[upTo.length - 1] - 1e-9));
  return highEdge(cells[upTo.findIndex((count) => count >= wanted)], 0);
}
