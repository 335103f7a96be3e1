// Where texts go on the chart: off each other, off the marks, inside the frame, and over as little of the lines as can be.

const LETTER = 6.4; // width of one at the size of a load, px
const NAME_LETTER = 8;
const LINE_HEIGHT = 13;

/** `marks` and `lines` are places in px; `place` finds room for a text among the spots wanted, best first, or null. */
function roomFor(marks, lines, area) {
  const taken = marks.map(([x, y]) => ({ left: x - 6, right: x + 6, top: y - 6, bottom: y + 6 }));
  const free = (box) =>
    box.left >= area.left && box.right <= area.right && box.top >= area.top && box.bottom <= area.bottom &&
    !taken.some((other) => box.left < other.right && other.left < box.right && box.top < other.bottom && other.top < box.bottom);
  const covered = (box) => lines.filter(([x, y]) => box.left < x && x < box.right && box.top < y && y < box.bottom).length;
  const best = (spots, cost) => {
    let found = null;
    for (const box of spots) {
      if (!free(box)) continue;
      const price = cost(box);
      if (!found || price < found.price) found = { box, price };
      if (price <= 0) break;
    }
    if (found) taken.push(found.box);
    return found && found.box;
  };
  return { place: (spots, cost = covered) => best(spots, cost) };
}

function boxAt(left, base, width) {
  return { left, right: left + width, top: base - LINE_HEIGHT + 3, bottom: base + 3, base };
}

/** Round a point: the diagonals first, then straight. */
function spotsAround(x, y, width) {
  const places = [[8, -8], [-8 - width, 16], [8, 16], [-8 - width, -8], [-width / 2, -10], [-width / 2, 20], [10, 4], [-10 - width, 4]];
  return places.map(([dx, dy]) => boxAt(x + dx, y + dy, width));
}

/** The name of each curve at its line, where the others are farthest. */
function labelCurves(svg, curves, pathOf, room) {
  if (curves.length < 2) return;
  const paths = curves.map(pathOf);
  curves.forEach((curve, place) => {
    const width = NAME_LETTER * curve.short.length;
    const others = paths.flatMap((path, other) => (other === place ? [] : path));
    const away = (box) => {
      const gap = (path, scale) => path.reduce((least, [x, y]) => Math.min(least, scale * Math.hypot(Math.max(box.left - x, 0, x - box.right), Math.max(box.top - y, 0, y - box.bottom))), 70);
      return 71 - Math.min(gap(others, 1), gap(paths[place], 5));
    };
    const spots = paths[place].flatMap(([x, y]) => [boxAt(x + 10, y - 10, width), boxAt(x + 10, y + 18, width), boxAt(x - 10 - width, y + 18, width), boxAt(x - 10 - width, y - 10, width)]);
    write(svg, room.place(spots, away), curve.short, `name side-${curve.place}`);
  });
}

/** Each load once beside its first point; where there is no room, hovering or the arrow keys tell. */
function labelLoads(svg, placed, room) {
  const told = new Set();
  for (const { x, y, curve, point } of placed) {
    const key = `${curve.label} ${point.level}`;
    if (told.has(key)) continue;
    told.add(key);
    const text = levelText(point.level);
    write(svg, room.place(spotsAround(x, y, LETTER * text.length)), text, `load side-${curve.place}`);
  }
}

/** Beyond its last vertex a curve was not seen to reach. */
function labelEnds(svg, ends, base, room, many) {
  for (const { x, curve } of ends) {
    const text = many ? `${curve.label} unreachable →` : "unreachable →";
    const width = LETTER * text.length;
    const spots = [4, 17, 30].flatMap((up) => [boxAt(x + 4, base - up, width), boxAt(x - 4 - width, base - up, width)]);
    write(svg, room.place(spots), text, `end-label side-${curve.place}`);
  }
}

function write(svg, box, text, name) {
  if (box) shape("text", { x: box.left.toFixed(1), y: box.base.toFixed(1), class: name, "aria-hidden": "true" }, svg).textContent = text;
}
