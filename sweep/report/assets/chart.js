// The frontiers as SVG: measured points solid, interpolation thin, bands, what the measurements alone prove, what is out of reach.

const SVG = "http://www.w3.org/2000/svg";
const MARGIN = { left: 62, right: 18, top: 18, bottom: 44 };
const CROWDED = 60; // points, from which on marks are smaller
const MARKS = ["circle", "square", "diamond", "triangle", "cross"];

function shape(name, attributes, parent) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (parent) parent.appendChild(made);
  return made;
}

const formats = new Map();

/** With commas, and from `least` to `most` decimals. A format is kept, since making one takes longer than writing a hundred numbers. */
function formatted(value, least, most) {
  const key = `${least} ${most}`;
  if (!formats.has(key)) formats.set(key, new Intl.NumberFormat("en-US", { minimumFractionDigits: least, maximumFractionDigits: most }));
  return formats.get(key).format(value);
}

/** So many digits, those before the point never fewer than there are: 43.2, 1,692, as the tables that are not drawn here. */
function significant(value, digits = 3) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const decimals = (number) => Math.min(Math.max(0, digits - 1 - Math.floor(Math.log10(Math.abs(number)))), 12);
  const rounded = Number(value.toFixed(decimals(value)));
  const places = rounded === 0 ? 0 : decimals(rounded);
  return formatted(rounded, places, places);
}

/** A load or a tick as it was asked for: `16`, `0.5`. */
function levelText(level) {
  return formatted(Number(level.toPrecision(6)), 0, 6);
}

const LEADS = [[1, 1.5, 2, 3, 4, 5, 6, 8], [1, 2, 3, 5], [1, 2, 5], [1]];

/** Round values along an axis, about as many as there is room for; where it is logarithmic, round in every decade. */
function ticks(low, high, log, room) {
  if (log) {
    const decades = Array.from({ length: Math.ceil(Math.log10(high)) - Math.floor(Math.log10(low)) + 1 }, (_, place) => 10 ** (Math.floor(Math.log10(low)) + place));
    const sets = LEADS.map((leads) => decades.flatMap((decade) => leads.map((lead) => lead * decade)).filter((value) => value >= low && value <= high));
    return sets.find((values) => values.length <= room) || sets[sets.length - 1];
  }
  const raw = (high - low) / Math.max(room, 2);
  const unit = 10 ** Math.floor(Math.log10(raw));
  const step = unit * [1, 2, 5, 10].find((lead) => lead * unit >= raw);
  const first = Math.ceil(low / step) * step;
  return Array.from({ length: Math.floor((high - first) / step + 1e-9) + 1 }, (_, place) => first + place * step);
}

function scaleOf(values, log, from, to) {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const low = log ? least / 1.15 : 0;
  const high = log ? most * 1.15 : most * 1.08;
  const place = log ? (v) => Math.log(v / low) / Math.log(high / low) : (v) => (v - low) / (high - low);
  return { low, high, at: (value) => from + (to - from) * place(value) };
}

/** Draws into `svg` and returns where every point lies: [{x, y, curve, point, node}]. */
function drawChart(svg, curves, options) {
  svg.replaceChildren();
  const [width, height] = [svg.clientWidth || 800, svg.clientHeight || 440];
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  const every = curves.flatMap((curve) => curve.points);
  if (!every.length) {
    shape("text", { x: width / 2, y: height / 2, "text-anchor": "middle", class: "axis" }, svg).textContent = "no point has a place on these axes";
    return [];
  }
  const xs = every.map((point) => point.x);
  const ys = every.map((point) => point.y);
  const [logX, logY] = options.log ? [Math.max(...xs) > 4 * Math.min(...xs), Math.max(...ys) > 4 * Math.min(...ys)] : [false, false];
  const x = scaleOf(xs, logX, MARGIN.left, width - MARGIN.right);
  const y = scaleOf(ys, logY, height - MARGIN.bottom, MARGIN.top);
  drawAxes(svg, x, y, logX, logY, width, height, options);
  const clip = (value, scale) => Math.min(Math.max(value, logX || logY ? scale.low : 0), scale.high);
  options = { ...options, crowded: every.length > CROWDED };
  const placed = [];
  const base = height - MARGIN.bottom;
  const ends = curves.flatMap((curve) => drawUnder(svg, curve, x, y, clip, options, base));
  for (const curve of curves) {
    const group = shape("g", { class: `side side-${curve.place}`, role: "group", "aria-label": curve.title }, svg);
    path(group, curve.line, x, y, "line");
    for (const point of curve.points) placed.push(drawPoint(group, curve, point, x, y, options));
  }
  const pathOf = (curve) => (curve.line.length ? curve.line : curve.points.map((point) => [point.x, point.y])).map(([u, v]) => [x.at(u), y.at(v)]);
  const area = { left: MARGIN.left + 2, right: width, top: MARGIN.top, bottom: base };
  const room = roomFor(placed.map((each) => [each.x, each.y]), curves.flatMap(pathOf), area);
  labelCurves(svg, curves, pathOf, room);
  labelLoads(svg, placed, room);
  labelEnds(svg, ends, base, room, options.many);
  return placed;
}

function drawAxes(svg, x, y, logX, logY, width, height, options) {
  const base = height - MARGIN.bottom;
  for (const value of ticks(x.low, x.high, logX, width / 90)) {
    const at = x.at(value);
    shape("line", { x1: at, x2: at, y1: MARGIN.top, y2: base, class: "grid" }, svg);
    shape("text", { x: at, y: base + 16, "text-anchor": "middle", class: "axis" }, svg).textContent = levelText(value);
  }
  for (const value of ticks(y.low, y.high, logY, height / 55)) {
    const at = y.at(value);
    shape("line", { x1: MARGIN.left, x2: width - MARGIN.right, y1: at, y2: at, class: "grid" }, svg);
    shape("text", { x: MARGIN.left - 8, y: at + 4, "text-anchor": "end", class: "axis" }, svg).textContent = levelText(value);
  }
  shape("text", { x: width - MARGIN.right, y: height - 8, "text-anchor": "end", class: "axis title" }, svg).textContent = (width < 560 ? options.xLabel.replace(/\s*\[.*\]$/, "") : options.xLabel) + " → better";
  shape("text", { x: 4, y: 12, class: "axis title" }, svg).textContent = "↑ " + options.yLabel;
}

function path(parent, line, x, y, name) {
  if (line.length < 2) return;
  const d = line.map(([u, v], place) => `${place ? "L" : "M"}${x.at(u).toFixed(1)} ${y.at(v).toFixed(1)}`).join("");
  shape("path", { d, class: name }, parent);
}

/** Behind the lines: the band through the points' limits, the bracket, and the end beyond which nothing was reached, which is returned. */
function drawUnder(svg, curve, x, y, clip, options, base) {
  const group = shape("g", { class: `side side-${curve.place}`, "aria-hidden": "true" }, svg);
  const polygon = (corners, name) => {
    if (corners.length < 3) return;
    const points = corners.map(([u, v]) => `${x.at(clip(u, x)).toFixed(1)},${y.at(clip(v, y)).toFixed(1)}`).join(" ");
    shape("polygon", { points, class: name }, group);
  };
  if (options.band) polygon([...curve.low, ...[...curve.high].reverse()], "band");
  if (options.proof) {
    for (let place = 1; place < curve.vertices.length; place++) {
      const [[left, above], [right, below]] = [curve.vertices[place - 1], curve.vertices[place]];
      polygon([[left, above], [right, above], [right, below], [left, below]], "proof");
    }
  }
  const last = curve.vertices[curve.vertices.length - 1];
  if (!last) return [];
  const at = x.at(last[0]);
  shape("line", { x1: at, x2: at, y1: y.at(last[1]), y2: base, class: "end" }, group);
  return [{ x: at, curve }];
}

function drawPoint(group, curve, point, x, y, options) {
  const [u, v] = [x.at(point.x), y.at(point.y)];
  const names = ["point", point.disqualified ? "hollow" : "", point.few ? "few" : ""].filter(Boolean).join(" ");
  const node = shape("g", { class: names, tabindex: -1, role: "img", transform: `translate(${u.toFixed(1)} ${v.toFixed(1)})` }, group);
  node.setAttribute("aria-label", options.describe(curve, point));
  mark(MARKS[curve.place % MARKS.length], options.crowded ? shape("g", { transform: "scale(.7)" }, node) : node);
  return { x: u, y: v, curve, point, node };
}

/** A ring around the points of the loads chosen, `label level` each. */
function ringChosen(placed, chosen) {
  for (const { curve, point, node } of placed) {
    const [wanted, ring] = [chosen.has(`${curve.label} ${point.level}`), node.querySelector(".ring")];
    if (ring && !wanted) ring.remove();
    if (wanted && !ring) node.prepend(shape("circle", { r: 10, class: "ring" }));
  }
}

/** Each side has a mark of its own, so that colour is never needed to tell them apart. */
function mark(kind, node) {
  if (kind === "circle") shape("circle", { r: 4.5 }, node);
  if (kind === "square") shape("rect", { x: -4, y: -4, width: 8, height: 8 }, node);
  if (kind === "diamond") shape("path", { d: "M0-6L5.5 0L0 6L-5.5 0Z" }, node);
  if (kind === "triangle") shape("path", { d: "M0-5.5L5.5 4.5L-5.5 4.5Z" }, node);
  if (kind === "cross") shape("path", { d: "M-5-2H-2V-5H2V-2H5V2H2V5H-2V2H-5Z" }, node);
}
