// Prices and power: what the reader fills in, and every cost and energy that follows from it.

function countOf(label) {
  return Number(byId(`count-${label}`).value) || null;
}

/** Throughput per accelerator once all counts are known, of whole systems until then. */
function perAccelerator() {
  return shown.sides.every((side) => countOf(side.label));
}

/** Per million output tokens; of good ones where `share` of all are, which matters where one pays for all. */
function costOf(label, tokPerS, share = 1) {
  const price = Number(byId(`price-${label}`).value);
  if (!(price > 0) || !(tokPerS > 0)) return null;
  if (byId(`unit-${label}`).value === "token") return price / share;
  return countOf(label) ? (price * countOf(label)) / (tokPerS * 0.0036) : null;
}

/** Watts of the whole system: as filled in for one accelerator, else as measured. */
function powerOf(label, measured) {
  const each = Number(byId(`power-${label}`).value);
  if (each > 0) return countOf(label) ? { watts: each * countOf(label), known: "declared" } : null;
  return measured > 0 ? { watts: measured, known: "measured" } : null;
}

/** The mean over the windows of a load's runs; null where one of them was not metered. */
function measuredWatts(points) {
  const watts = points.map((point) => (point.energy_j > 0 && point.window ? (point.energy_j * 1e9) / (point.window.end_ns - point.window.begin_ns) : NaN));
  const mean = sum(watts, (each) => each) / watts.length;
  return Number.isFinite(mean) ? mean : null;
}

/** A cell with joules for a unit of work and, small, how the power is known. */
function writeJoules(cell, power, tokPerS) {
  cell.textContent = power && tokPerS > 0 ? significant(power.watts / tokPerS) : "–";
  if (power && tokPerS > 0) cell.append(Object.assign(document.createElement("small"), { textContent: power.known }));
}

/** The tables at the targets. */
function reprice() {
  for (const cell of document.querySelectorAll("[data-cost-of]")) {
    const { costOf: label, tok, share } = cell.dataset;
    const cost = costOf(label, Number(tok), Number(share) || 1);
    cell.textContent = significant(cost);
    if (cell.parentNode.matches(".priced")) cell.parentNode.hidden = cost === null;
  }
  for (const cell of document.querySelectorAll("[data-joules-of]")) {
    const { joulesOf: label, tok, watts } = cell.dataset;
    writeJoules(cell, powerOf(label, Number(watts)), Number(tok));
  }
  const measured = files.some((file) => file.points.some((point) => point.energy_j));
  document.body.classList.toggle("powered", measured || shown.sides.some((side) => Number(byId(`power-${side.label}`).value) > 0));
}
