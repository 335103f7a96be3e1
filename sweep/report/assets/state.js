// What the page holds and what its reader has chosen. Data come from the page itself; nothing is fetched.

const byId = (id) => document.getElementById(id);
const read = (id) => JSON.parse(byId(id).textContent);
const METRICS = ["ttft", "tpot", "e2e"];

const shown = read("shown"); // axes, sides, SLOs: made by sweep/report/plot.py
const files = shown.sides.map((side) => read(`curve-${side.label}`));
const state = { axis: shown.axis, log: true, band: shown.sides.length < 4, proof: shown.sides.length < 3, visible: new Set(shown.sides.map((side) => side.label)), chosen: new Set() };
let placed = [];
let current = null;
