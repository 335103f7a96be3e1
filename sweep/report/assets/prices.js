// Prices and power: what the reader fills in, and every cost and energy that follows from it.

function isEmpty(field) {
  return field.value === "" && !field.validity.badInput;
}

/** Above zero, and whole where the field asks for it. */
function isPossible(field) {
  const value = Number(field.value);
  return value > 0 && Number.isFinite(value) && (field.step !== "1" || Number.isInteger(value));
}

/** What a field holds; null where that is nothing or impossible. */
function numberIn(id) {
  const field = byId(id);
  return isPossible(field) ? Number(field.value) : null;
}

/** Says of every field that holds something impossible that nothing is made of it, and what would do. */
function markFields() {
  for (const field of document.querySelectorAll("input[type=number]")) {
    const wrong = !isEmpty(field) && !isPossible(field);
    field.setAttribute("aria-invalid", wrong);
    byId(`why-${field.id}`).hidden = !wrong;
  }
}

function countOf(label) {
  return numberIn(`count-${label}`);
}

/** Throughput per accelerator once all counts are known, of whole systems until then. */
function perAccelerator() {
  return shown.sides.every((side) => countOf(side.label));
}

/** Per million output tokens; of good ones where `share` of all are, which matters where one pays for all. */
function costOf(label, tokPerS, share = 1) {
  const price = numberIn(`price-${label}`);
  if (!price || !(tokPerS > 0)) return null;
  if (byId(`unit-${label}`).value === "token") return price / share;
  return countOf(label) ? (price * countOf(label)) / (tokPerS * 0.0036) : null;
}

function money(label, cost) {
  const { currency } = byId(`price-${label}`).dataset;
  return cost !== null && currency ? `${significant(cost)} ${currency}` : significant(cost);
}

/** Watts of the whole system: as filled in for one accelerator; where that is empty, as measured. */
function powerOf(label, measured) {
  if (isEmpty(byId(`power-${label}`))) return measured > 0 ? { watts: measured, known: "measured" } : null;
  const each = numberIn(`power-${label}`);
  return each && countOf(label) ? { watts: each * countOf(label), known: "declared" } : null;
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
    cell.textContent = money(label, cost);
    if (cell.parentNode.matches(".priced")) cell.parentNode.hidden = cost === null;
  }
  for (const cell of document.querySelectorAll("[data-joules-of]")) {
    const { joulesOf: label, tok, watts } = cell.dataset;
    writeJoules(cell, powerOf(label, Number(watts)), Number(tok));
  }
  const measured = files.some((file) => file.points.some((point) => point.energy_j));
  document.body.classList.toggle("powered", measured || shown.sides.some((side) => numberIn(`power-${side.label}`)));
}
