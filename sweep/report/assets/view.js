// The chart as chosen: what is drawn, what a point tells, and walking over the points by pointer and key.

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
  lines.push(line(`${formatted(full.cohort, 0, 0)} requests, ${full.outcomes.ok || 0} ok`));
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
