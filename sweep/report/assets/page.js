// The page begins: controls get their meaning, tables are decoded, everything is drawn; and data can be taken away.

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
  spend();
  redraw();
}

/** New prices and powers move no point. */
function spend() {
  judgeAll();
  reprice();
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
    byId(`count-${side.label}`).addEventListener("input", everything);
    for (const name of ["price", "unit", "power"]) byId(`${name}-${side.label}`).addEventListener("input", spend);
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
    byId(`share-${metric}`).addEventListener("change", rejudge);
    byId(`use-${metric}`).addEventListener("change", () => {
      if (isEmpty(byId(`limit-${metric}`))) slide(metric);
      rejudge();
    });
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
  window.addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((each) => (each.open = true)));
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
    byId("judged").innerHTML = "<tr><td colspan='10' class='words'>This browser cannot read the joint tables in the files; the tables below hold without it.</td></tr>";
  }
  document.documentElement.dataset.ready = "yes";
}

begin();
