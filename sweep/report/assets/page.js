// The page: what the reader chooses, and what follows from it. Data come from the page itself; nothing is fetched.

const byId = (id) => document.getElementById(id);
const read = (id) => JSON.parse(byId(id).textContent);
const METRICS = ["ttft", "tpot", "e2e"];

const shown = read("shown"); // axes, sides, SLOs: made by sweep/report/plot.py
const files = shown.sides.map((side) => read(`curve-${side.label}`));
const state = { axis: shown.axis, log: true, band: shown.sides.length < 4, proof: shown.sides.length < 3, visible: new Set(shown.sides.map((side) => side.label)), chosen: new Set() };
let placed = [];
let current = null;

// --- the chart ------------------------------------------------------------------------------------------------------

function countOf(label) {
  return Number(byId(`count-${label}`).value) || null;
}

/** Throughput per accelerator once all counts are known, of whole systems until then. */
function perAccelerator() {
  return shown.sides.every((side) => countOf(side.label));
}

function curvesShown() {
  const axis = shown.axes[state.axis];
  const per = perAccelerator();
  return shown.sides
    .map((side, place) => {
      const drawn = axis.curves[side.label];
      const divide = per ? countOf(side.label) : 1;
      const scaled = (line) => line.map(([u, v]) => [u, v / divide]);
      return {
        ...side,
        place,
        points: drawn.points.map((point) => ({ ...point, y: point.y / divide, y_low: point.y_low && point.y_low / divide, y_high: point.y_high && point.y_high / divide })),
        line: scaled(drawn.line),
        low: scaled(drawn.low),
        high: scaled(drawn.high),
        vertices: scaled(drawn.vertices),
      };
    })
    .filter((curve) => state.visible.has(curve.label));
}

function describe(curve, point) {
  const axis = shown.axes[state.axis];
  const span = (low, high) => (low && high ? ` (${significant(low)} to ${significant(high)})` : "");
  const what = `${significant(point.y)}${span(point.y_low, point.y_high)} ${rateUnit()} at ${significant(point.x)}${span(point.x_low, point.x_high)} ${axis.x_unit}`;
  return `${shown.sides.length > 1 ? `${curve.label}, ` : ""}load ${point.load}: ${what}${point.disqualified ? ", disqualified" : ""}`;
}

function rateUnit() {
  const unit = (shown.axes[state.axis].y_label.match(/\[([^\]]*)\]/) || ["", ""])[1];
  return perAccelerator() ? `${unit}/accelerator` : unit;
}

function redraw() {
  const axis = shown.axes[state.axis];
  const yLabel = axis.y_label.replace(/\[.*\]$/, `[${rateUnit()}]`);
  placed = drawChart(byId("chart"), curvesShown(), { ...state, xLabel: axis.x_label, yLabel, describe, many: shown.sides.length > 1 });
  if (placed.length) placed[0].node.setAttribute("tabindex", 0);
  ringChosen(placed, state.chosen);
  hideDetails();
}

function showDetails(each) {
  if (current) current.node.classList.remove("current");
  current = each;
  each.node.classList.add("current");
  const box = byId("details");
  box.replaceChildren(...detailsOf(each));
  box.hidden = false;
  const room = byId("plot").clientWidth;
  const left = Math.min(Math.max(each.x - box.offsetWidth / 2, 0), Math.max(room - box.offsetWidth, 0));
  const below = each.y + 16;
  box.style.left = `${left}px`;
  box.style.top = `${below + box.offsetHeight > byId("plot").clientHeight + 60 ? Math.max(each.y - box.offsetHeight - 16, 0) : below}px`;
}

function hideDetails() {
  if (current) current.node.classList.remove("current");
  current = null;
  byId("details").hidden = true;
}

function detailsOf({ curve, point }) {
  const file = files[shown.sides.findIndex((side) => side.label === curve.label)];
  const full = file.points.find((each) => each.id === point.id);
  const line = (text, name) => Object.assign(document.createElement("p"), { textContent: text, className: name || "" });
  const lines = [line(describe(curve, point), "what")];
  for (const [metric, title, scale, unit] of [["ttft_s", "TTFT", 1e3, "ms"], ["tpot_s", "TPOT", 1e3, "ms"], ["e2e_s", "E2E", 1, "s"]]) {
    const said = ["p50", "p90", "p99"].map((name) => [name, (full.metrics[metric] || {})[name]]).filter(([, estimate]) => estimate && estimate.value !== null);
    if (said.length) lines.push(line(`${title} ${said.map(([name, estimate]) => `${name} ${spelled(estimate, scale)}`).join(", ")} ${unit}`));
  }
  lines.push(line(`${full.cohort.toLocaleString("en-US")} requests, ${full.outcomes.ok || 0} ok`));
  for (const said of point.findings) lines.push(line(said, "finding"));
  return lines;
}

/** `~` before what rests on too few requests. */
function spelled(estimate, scale) {
  const text = `${estimate.few ? "~" : ""}${significant(estimate.value * scale)}`;
  if (estimate.low === null) return text;
  const high = estimate.high === null ? "…" : significant(estimate.high * scale);
  return `${text} (${significant(estimate.low * scale)} to ${high})`;
}

function nearest(event) {
  const box = byId("chart").getBoundingClientRect();
  const [x, y] = [event.clientX - box.left, event.clientY - box.top];
  let best = null;
  for (const each of placed) {
    const off = Math.hypot(each.x - x, each.y - y);
    if (off < 32 && (!best || off < best.off)) best = { off, each };
  }
  return best && best.each;
}

/** Arrow keys walk along a curve and from curve to curve. */
function walk(event) {
  if (event.key === "Escape") return hideDetails();
  const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
  if (!step || !placed.length) return undefined;
  event.preventDefault();
  const here = current || placed[0];
  const labels = [...new Set(placed.map((each) => each.curve.label))];
  const along = (label) => placed.filter((each) => each.curve.label === label).sort((a, b) => a.x - b.x);
  let next;
  if (step[0]) {
    const own = along(here.curve.label);
    next = own[Math.min(Math.max(own.indexOf(here) + step[0], 0), own.length - 1)];
  } else {
    const label = labels[(labels.indexOf(here.curve.label) + step[1] + labels.length) % labels.length];
    next = along(label).reduce((best, each) => (!best || Math.abs(each.x - here.x) < Math.abs(best.x - here.x) ? each : best), null);
  }
  for (const each of placed) each.node.setAttribute("tabindex", -1);
  next.node.setAttribute("tabindex", 0);
  next.node.focus();
  return showDetails(next);
}

// --- the buyer's own SLO --------------------------------------------------------------------------------------------

const sliderRange = {};

function boundsAsked() {
  return METRICS.filter((metric) => byId(`use-${metric}`).checked && Number(byId(`limit-${metric}`).value) > 0).map((metric) => ({
    metric,
    limit_s: Number(byId(`limit-${metric}`).value) / 1000,
    quantile: byId(`share-${metric}`).value === "" ? null : Number(byId(`share-${metric}`).value),
  }));
}

/** From the least to the greatest latency that any curve measured, in ms. */
function rangeOf(metric) {
  const seen = files.flatMap((file) => file.points.flatMap((point) => ["min", "max"].map((name) => ((point.metrics[metric + "_s"] || {})[name] || {}).value)));
  const known = seen.filter((value) => value > 0).map((value) => value * 1e3);
  return known.length ? [Math.min(...known) * 0.8, Math.max(...known) * 1.25] : [1, 10000];
}

function slide(metric) {
  const [low, high] = sliderRange[metric];
  const raw = low * (high / low) ** (Number(byId(`slider-${metric}`).value) / 1000);
  byId(`limit-${metric}`).value = Number(raw.toPrecision(3));
}

function follow(metric) {
  const [low, high] = sliderRange[metric];
  const value = Number(byId(`limit-${metric}`).value);
  const slider = byId(`slider-${metric}`);
  if (value > 0) slider.value = Math.round(1000 * (Math.log(value / low) / Math.log(high / low)));
  slider.setAttribute("aria-valuetext", `${significant(value)} ms`);
}

function setBounds(bounds) {
  for (const metric of METRICS) {
    const bound = bounds.find((each) => each.metric === metric);
    byId(`use-${metric}`).checked = Boolean(bound);
    if (bound) {
      byId(`limit-${metric}`).value = Number((bound.limit_s * 1e3).toPrecision(9));
      byId(`share-${metric}`).value = bound.quantile === null ? "" : String(bound.quantile);
    }
    follow(metric);
  }
}

/** Every curve under the bounds asked for. What the tests read, too. */
function answer() {
  const bounds = boundsAsked();
  return shown.sides.map((side, place) => ({ side, bounds, picked: pick(files[place], bounds) }));
}

/** The unrounded numbers behind a row, for whoever reads the page with a program. */
function numbersOf({ verdict, highest, boundary, best, loads }) {
  const levelOf = (load) => load && load.level;
  return {
    verdict,
    highest: levelOf(highest),
    boundary: levelOf(boundary),
    best: levelOf(best),
    loads: loads.map((load) => [load.level, load.verdict, load.attainment && load.attainment.value, load.attainment && load.attainment.low, load.attainment && load.attainment.high, load.reqPerS, load.tokPerS]),
  };
}

function judgeAll() {
  for (const metric of METRICS) byId(`limit-${metric}`).disabled = byId(`slider-${metric}`).disabled = byId(`share-${metric}`).disabled = !byId(`use-${metric}`).checked;
  const results = answer();
  const rows = results.map(({ side, bounds, picked }) => {
    const strict = bounds.every((bound) => bound.quantile !== null);
    const here = strict ? picked.highest : picked.best;
    const cost = here && here.tokPerS ? costOf(side.label, here.tokPerS, here.attainment.value) : null;
    return [
      side.short,
      { met: "✓ met", missed: "✗ missed at every load", undecided: "? too few requests to decide" }[picked.verdict],
      picked.highest ? significant(picked.highest.level) : "–",
      picked.boundary ? significant(picked.boundary.level) : picked.highest ? significant(picked.highest.level) : "–",
      here ? `${significant(here.level)}` : "–",
      here ? `${significant(here.attainment.value * 100)} % (${significant(here.attainment.low * 100)} to ${significant(here.attainment.high * 100)})` : "–",
      here ? significant(here.reqPerS) : "–",
      here ? significant(perAccelerator() ? here.tokPerS / countOf(side.label) : here.tokPerS) : "–",
      cost === null ? "–" : significant(cost),
    ];
  });
  const body = byId("judged");
  body.replaceChildren(
    ...rows.map((cells, place) => {
      const row = document.createElement("tr");
      row.dataset.side = shown.sides[place].label;
      row.dataset.numbers = JSON.stringify(numbersOf(results[place].picked));
      row.append(...cells.map((text, column) => Object.assign(document.createElement(column ? "td" : "th"), { textContent: text })));
      row.firstChild.className = `words tag side-${place}`;
      row.firstChild.setAttribute("scope", "row");
      row.children[1].className = "words";
      return row;
    }),
  );
  byId("good-unit").textContent = rateUnit();
  state.chosen = new Set(results.filter(({ picked }) => picked.highest).map(({ side, picked }) => `${side.label} ${picked.highest.level}`));
  byId("said").textContent = results.map(({ side, picked }) => `${side.label}: ${picked.highest ? `up to load ${significant(picked.highest.level)}` : picked.verdict}`).join("; ");
}

// --- prices ---------------------------------------------------------------------------------------------------------

/** Per million output tokens; of good ones where `share` of all are, which matters where one pays for all. */
function costOf(label, tokPerS, share = 1) {
  const price = Number(byId(`price-${label}`).value);
  if (!(price > 0) || !(tokPerS > 0)) return null;
  if (byId(`unit-${label}`).value === "token") return price / share;
  return countOf(label) ? (price * countOf(label)) / (tokPerS * 0.0036) : null;
}

function reprice() {
  for (const cell of document.querySelectorAll("[data-cost-of]")) {
    const { costOf: label, tok, share } = cell.dataset;
    cell.textContent = significant(costOf(label, Number(tok), Number(share) || 1));
  }
}

// --- downloads ------------------------------------------------------------------------------------------------------

function download(name, text, type) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** What the chart shows, as CSV. Cells that a spreadsheet would take for a formula are quoted with an apostrophe. */
function pointsCsv() {
  const axis = shown.axes[state.axis];
  const cell = (value) => {
    const text = value === null || value === undefined ? "" : String(value);
    return `"${(/^[=+\-@\t]/.test(text) && !Number.isFinite(Number(text)) ? `'${text}` : text).replaceAll('"', '""')}"`;
  };
  const rows = [["curve", "name", "point", "load", `x: ${axis.x_label}`, "x low", "x high", `y: ${rateUnit()}`, "y low", "y high", "disqualified"]];
  for (const curve of curvesShown()) {
    for (const point of curve.points) rows.push([curve.label, curve.name, point.id, point.level, point.x, point.x_low, point.x_high, point.y, point.y_low, point.y_high, point.disqualified]);
  }
  return rows.map((row) => row.map(cell).join(",")).join("\r\n");
}

// --- begin ----------------------------------------------------------------------------------------------------------

async function decodeAll() {
  for (const file of files) {
    for (const point of file.points) {
      point.table = point.joint && (await jointTable(point.joint));
      point.cells = {};
      for (const metric of METRICS) {
        const text = point.histograms[metric + "_s"];
        if (text) point.cells[metric + "_s"] = await histogramCells(text);
      }
    }
  }
}

function everything() {
  judgeAll();
  reprice();
  redraw();
}

/** New bounds move the rings at most. */
function rejudge() {
  judgeAll();
  ringChosen(placed, state.chosen);
}

function listen() {
  byId("axis").addEventListener("change", (event) => {
    state.axis = event.target.value;
    redraw();
  });
  for (const name of ["log", "band", "proof"]) {
    byId(name).checked = state[name];
    byId(name).addEventListener("change", (event) => {
      state[name] = event.target.checked;
      redraw();
    });
  }
  for (const side of shown.sides) {
    for (const name of ["count", "price", "unit"]) byId(`${name}-${side.label}`).addEventListener("input", everything);
    const box = byId(`show-${side.label}`);
    if (!box) continue;
    box.addEventListener("change", () => {
      if (box.checked) state.visible.add(side.label);
      else state.visible.delete(side.label);
      redraw();
    });
  }
  const chart = byId("chart");
  chart.addEventListener("pointermove", (event) => {
    const each = nearest(event);
    if (each && each !== current) showDetails(each);
    else if (!each && current && document.activeElement !== current.node) hideDetails();
  });
  chart.addEventListener("pointerleave", () => current && document.activeElement !== current.node && hideDetails());
  chart.addEventListener("focusin", (event) => {
    const each = placed.find((one) => one.node === event.target);
    if (each) showDetails(each);
  });
  chart.addEventListener("focusout", hideDetails);
  chart.addEventListener("keydown", walk);
  for (const metric of METRICS) {
    byId(`slider-${metric}`).addEventListener("input", () => {
      slide(metric);
      follow(metric);
      rejudge();
    });
    byId(`limit-${metric}`).addEventListener("input", () => {
      follow(metric);
      rejudge();
    });
    for (const name of ["use", "share"]) byId(`${name}-${metric}`).addEventListener("change", rejudge);
  }
  for (const button of document.querySelectorAll("[data-slo]")) {
    button.addEventListener("click", () => {
      setBounds(shown.slos[Number(button.dataset.slo)].bounds);
      rejudge();
    });
  }
  for (const button of document.querySelectorAll("[data-curve]")) {
    button.addEventListener("click", () => download(button.dataset.name, byId(`curve-${button.dataset.curve}`).textContent, "application/json"));
  }
  byId("csv").addEventListener("click", () => download("points.csv", pointsCsv(), "text/csv"));
  if (byId("comparison")) byId("get-comparison").addEventListener("click", () => download("comparison.json", byId("comparison").textContent, "application/json"));
  new ResizeObserver(redraw).observe(byId("plot"));
}

async function begin() {
  document.documentElement.classList.add("live");
  for (const metric of METRICS) sliderRange[metric] = rangeOf(metric);
  listen();
  redraw();
  try {
    await decodeAll();
    setBounds(shown.slos[0].bounds);
    everything();
  } catch (error) {
    byId("judged").innerHTML = "<tr><td colspan='9' class='words'>This browser cannot read the joint tables in the files; the tables below hold without it.</td></tr>";
  }
  document.documentElement.dataset.ready = "yes";
}

begin();
