// The reader's own SLO: bounds by slider or by hand, and what every curve answers to them.

const sliderRange = {};
let answered = {}; // the latest bounds and their answers, which prices leave as they are

/** None where one of them is impossible: an SLO without it would be easier to meet. */
function boundsAsked() {
  const used = METRICS.filter((metric) => byId(`use-${metric}`).checked);
  if (!used.every((metric) => numberIn(`limit-${metric}`))) return [];
  return used.map((metric) => ({
    metric,
    limit_s: numberIn(`limit-${metric}`) / 1000,
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
  const value = numberIn(`limit-${metric}`);
  const slider = byId(`slider-${metric}`);
  if (value) slider.value = Math.round(1000 * (Math.log(value / low) / Math.log(high / low)));
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
  const asked = JSON.stringify(bounds);
  if (asked !== answered.asked) answered = { asked, results: shown.sides.map((side, place) => ({ side, bounds, picked: pick(files[place], bounds) })) };
  return answered.results;
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

/** The load whose figures a row shows: the highest that meets the SLO; with bounds on every request, the one of most good requests. */
function figuresOf({ bounds, picked }) {
  return bounds.every((bound) => bound.quantile !== null) ? picked.highest : picked.best;
}

function unclear({ loads }) {
  if (!boundsAsked().length) return METRICS.some((metric) => byId(`use-${metric}`).checked) ? "a bound is no number above zero" : "no bound is asked for";
  if (!loads.length) return "no point can be trusted";
  return loads.every((load) => load.repeats.some((point) => !point.table)) ? "its file holds no joint table" : "too few requests to decide";
}

function judgeAll() {
  markFields();
  for (const metric of METRICS) byId(`limit-${metric}`).disabled = byId(`slider-${metric}`).disabled = byId(`share-${metric}`).disabled = !byId(`use-${metric}`).checked;
  const results = answer();
  const heads = [...document.querySelectorAll("#judged-heads th")].map((head) => head.textContent);
  const rows = results.map(({ side, bounds, picked }) => {
    const here = figuresOf({ bounds, picked });
    const cost = here && here.tokPerS ? costOf(side.label, here.tokPerS, here.attainment.value) : null;
    return [
      side.short,
      { met: "✓ met", missed: "✗ missed at every load", undecided: `? ${unclear(picked)}` }[picked.verdict],
      picked.highest ? levelText(picked.highest.level) : "–",
      picked.boundary ? significant(picked.boundary.level) : picked.highest ? levelText(picked.highest.level) : "–",
      here ? levelText(here.level) : "–",
      here ? `${significant(here.attainment.value * 100)} % (${significant(here.attainment.low * 100)} to ${significant(here.attainment.high * 100)})` : "–",
      here ? significant(here.reqPerS) : "–",
      here ? significant(perAccelerator() ? here.tokPerS / countOf(side.label) : here.tokPerS) : "–",
      money(side.label, cost),
      "", // joules, below
    ];
  });
  const body = byId("judged");
  body.replaceChildren(
    ...rows.map((cells, place) => {
      const row = document.createElement("tr");
      row.dataset.side = shown.sides[place].label;
      row.dataset.numbers = JSON.stringify(numbersOf(results[place].picked));
      row.append(...cells.map((text, column) => Object.assign(document.createElement(column ? "td" : "th"), { textContent: text })));
      row.querySelectorAll("td").forEach((cell, column) => (cell.dataset.head = heads[column + 1]));
      const here = figuresOf(results[place]);
      row.lastChild.classList.add("joules");
      writeJoules(row.lastChild, here && powerOf(shown.sides[place].label, measuredWatts(here.repeats)), here && here.tokPerS);
      row.firstChild.className = `words tag side-${place}`;
      row.firstChild.setAttribute("scope", "row");
      row.children[1].className = "words";
      return row;
    }),
  );
  byId("good-unit").textContent = rateUnit();
  state.chosen = new Set(results.filter(({ picked }) => picked.highest).map(({ side, picked }) => `${side.label} ${picked.highest.level}`));
  byId("said").textContent = results.map(({ side, picked }) => `${side.label}: ${picked.highest ? `up to load ${levelText(picked.highest.level)}` : picked.verdict}`).join("; ");
}
