// The hands of two positions on the clock face of every pair, and the dot product of the two:
// with sines and cosines it depends on their distance alone.

const { frequencies, last, farthest } = data; // p goes up to last, the distance k to farthest
const pairs = frequencies.length, KINDS = ["sines and cosines", "sines alone"];
let { p, k } = data, kind = KINDS[0];

const encode = (position) => frequencies.flatMap((each) =>
  kind === KINDS[0] ? [Math.sin(each * position), Math.cos(each * position)]
    : [Math.sin(each * position)]);
function product(a, b) {
  const other = encode(b);
  return encode(a).reduce((sum, number, i) => sum + number * other[i], 0);
}

// ---- what stays: the two positions on the ruler -----------------------------------------------

const under = svg("g");
let ruler = null; // its scale, in the layout of now
const setP = (to) => (p = clamp(Math.round(to), 0, last), redraw());
const setK = (to) => (k = clamp(Math.round(to), 0, farthest), redraw());
const tip = (isLater, r) => isLater
  ? svg("path", { d: `M0-${r + 2}l${r + 2} ${r + 2}l-${r + 2} ${r + 2}l-${r + 2}-${r + 2}Z`,
    fill: "var(--orange)" })
  : svg("circle", { r, fill: "var(--ink)" });

function mover(isLater, aloud, value, range, drag, nudge) {
  const made = svg("g", {}, svg("circle", { class: "grip", r: 20 }), tip(isLater, 8),
    svg("text", { class: "outlined", y: 5 }));
  return draggable(made, { label: aloud, value, range, drag: ({ x }) => drag(ruler.back(x)), nudge });
}
const first = mover(false, "position p", () => String(p), () => [0, last, p], setP, (dx, dy) => setP(p + dx + dy));
const later = mover(true, "position p + k", () => `${p + k}, k = ${k}`, () => [p, p + farthest, p + k],
  (at) => setK(at - p), (dx, dy) => setK(k + dx + dy));

// ---- drawing ----------------------------------------------------------------------------------

const lines = { narrow: Math.ceil(pairs / 2), wide: Math.ceil(pairs / 4) }; // of faces
const below = { narrow: 126 + 176 * lines.narrow, wide: 104 + 190 * lines.wide }; // the faces
const places = ({ isNarrow }) => isNarrow
  ? { ruler: [16, 352], faces: 2, top: 148, down: 176, r: 54,
      curve: [40, 384, below.narrow, below.narrow + 94] }
  : { ruler: [24, 740], faces: 4, top: 164, down: 190, r: 62,
      curve: [60, 780, below.wide, below.wide + 108] };
const path = (d, style) => svg("path", { d, style });

function drawRuler(width) {
  const ticks = span((last + farthest) / 10 + 1).flatMap((ten) => [
    path(`M${ruler(10 * ten)} 36v8`, "stroke:var(--quiet)"),
    heading(ruler(10 * ten) + 3, 40, "start", 10 * ten, "outlined")]);
  const hint = heading(width - 8, 67, "end", "drag both", "outlined");
  return [hint, path(`M${ruler(0)} 40H${ruler(last + farthest)}`, "stroke:var(--rule)"), ...ticks];
}

// The end of a hand; at angle 0 it points up, and it turns clockwise.
const end = (x, y, r, angle) => [x + r * Math.sin(angle), y - r * Math.cos(angle)];

function drawFace(pair, x, y, r) {
  const frequency = frequencies[pair], angle = frequency * p, turn = frequency * k;
  const from = end(x, y, 0.45 * r, angle), to = end(x, y, 0.45 * r, angle + turn);
  const rest = turn % (2 * Math.PI), isFar = rest > Math.PI ? 1 : 0; // without the full turns
  const wedge = `M${x} ${y}L${from}A${0.45 * r} ${0.45 * r} 0 ${isFar} 1 ${to}Z`;
  const hand = (angle, isLater) => {
    const [a, b] = end(x, y, r - 6, angle), made = tip(isLater, 5);
    place(made, a, b);
    return [path(`M${x} ${y}L${a} ${b}`,
      `stroke:var(--${isLater ? "orange" : "ink"});stroke-width:2.5`), made];
  };
  const shown = Number(turn.toPrecision(6));
  return [svg("circle", { cx: x, cy: y, r, style: "fill:none;stroke:var(--rule);stroke-width:1.5" }),
    path(`M${x} ${y - r}v7`, "stroke:var(--quiet)"), path(wedge, "fill:var(--hull)"),
    ...hand(angle, false), ...hand(angle + turn, true),
    heading(x, y - r - 8, "middle", `pair ${pair}, ω = ${Number(frequency.toPrecision(3))}`),
    write(x, y + r + 18, "middle", `k · ω = ${shown} rad`),
    heading(x, y + r + 34, "middle", `its cosine: ${fixed(Math.cos(turn))}`)];
}

function drawCurve([left, right, top, bottom]) {
  const x = scale([0, farthest], [left, right]), y = scale([-pairs, pairs], [bottom, top]);
  const line = span(4 * farthest + 1).map((i) => `${x(i / 4)} ${y(product(p, p + i / 4))}`);
  const marks = [-pairs, 0, pairs].flatMap((each) => [
    path(`M${left} ${y(each)}H${right}`, `stroke:var(--${each ? "pale" : "rule"})`),
    heading(left - 8, y(each) + 4, "end", fixed(each, 0))]);
  const tens = span(farthest / 10 + 1).map((ten) =>
    heading(x(10 * ten), bottom + 16, "middle", 10 * ten));
  const dot = svg("circle", { cx: x(k), cy: y(product(p, p + k)), r: 7, fill: "var(--orange)" });
  return [...marks, ...tens, path(`M${line.join("L")}`, "fill:none;stroke:var(--blue);stroke-width:2.5"),
    path(`M${x(k)} ${top}V${bottom}`, "stroke:var(--orange);stroke-dasharray:3 4"), dot,
    heading(left, top - 10, "start", "dot product of the vectors of p and p + k"),
    heading((left + right) / 2, bottom + 32, "middle", "distance k")];
}

function put(mover, position, y, said) {
  const word = mover.lastChild, isRight = position > last; // its word stays in the picture
  place(mover, ruler(position), y);
  word.textContent = said;
  setAttributes(word, { x: isRight ? -14 : 14, "text-anchor": isRight ? "end" : "start" });
}

function draw(layout) {
  const { ruler: ends, faces, top, down, r, curve } = places(layout);
  ruler = scale([0, last + farthest], ends);
  const column = layout.width / faces;
  const clocks = span(pairs).flatMap((pair) => drawFace(pair,
    column * (pair % faces + 0.5), top + down * Math.floor(pair / faces), r));
  under.replaceChildren(...drawRuler(layout.width), ...clocks, ...drawCurve(curve));
  put(first, p, 62, `p = ${p}`);
  put(later, p + k, 18, `p + k = ${p + k}`);
  say(...sentence());
}

// ---- words and controls -----------------------------------------------------------------------

function sentence() {
  const now = bold(fixed(product(p, p + k)));
  const both = `Positions ${p} and ${p + k}: `;
  return kind === KINDS[0]
    ? [both, `the dot product is the sum of the ${pairs} cosines, `, now, ". p is not in it: it is ",
      "the same for all positions that are ", bold(k), " apart."]
    : [both, "with the sines alone the dot product is ", now,
      ". It depends on p: the curve moves when p does."];
}

controls.append(choices({ label: "dot product of", name: "kind", options: KINDS, value: kind,
  change: (to) => ((kind = to), redraw()) }));
const { picture: shown, redraw } = picture({
  label: "Clock hands of two positions, and their dot product",
  wide: [800, below.wide + 148], narrow: [400, below.narrow + 134], draw,
});
shown.append(under, first, later);
redraw();
