// Draws one head, or several over one another, as lines or as a grid, by the measures of page.py.
// Text only ever becomes text: nothing here writes markup.

// Two bytes for each weight, the lower one first.
function unpack(packed) {
  const bytes = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
  return Uint16Array.from(span(bytes.length / 2), (i) => bytes[2 * i] + 256 * bytes[2 * i + 1]);
}

const HATCH = "url(#hatch)";

// One head of a layer: its weights, and the fills that they have. While it is shown it has a slot:
// a color, a kind of line, and a corner of every cell.
class Head {
  constructor(map, number, steps) {
    Object.assign(this, { map, number, steps, slot: 0 });
    this.name = `${map.layer ? `layer ${map.layer}, ` : ""}head ${number + 1}`;
  }
  code(query, key) {
    return this.map.codes[(this.number * this.map.rows + query) * this.map.columns + key];
  }
  weight(query, key) {
    return this.code(query, key) / this.steps;
  }
  // The fill of a weight's cell; what is exactly 0 is hatched.
  fill(query, key) {
    return this.code(query, key) ? shade(this.weight(query, key)) : HATCH;
  }
}

function places({ rows, columns }) {
  return span(rows).flatMap((query) => span(columns).map((key) => [query, key]));
}

// A token that can be pointed at and focused; box is [x, y, width, height].
function tokenButton(side, index, aloud, label, box, value = null) {
  const [x, y, width, height] = box;
  const rect = (kind) => svg("rect", { class: kind, x, y, width, height });
  const button = svg("g", { class: "token-button", role: "button", tabindex: -1 });
  button.append(rect("back"), rect("weight"), label);
  if (value) button.append(svg("text", { class: "value", ...value }));
  button.setAttribute("aria-label", `${side} ${index + 1}: ${aloud}`);
  return Object.assign(button, { side, index });
}

// What a row is called: the token that it reads and, in the decoder, the one that it writes.
const rowLabel = ({ texts, writes }, index) =>
  writes ? `${texts[index]} → ${writes[index]}` : texts[index];
const rowsHeading = ({ writes }) => (writes ? "reads → writes" : "queries");

// `room` is the width that there is: narrow frames have shorter lines.
function drawLines(heads, sizes, room) {
  const { queries, keys, rows, columns, row } = heads[0].map;
  const left = sizes.number + queries.rowWidth;
  const gap = clamp(room - left - keys.width - sizes.number, sizes.least, sizes.gap);
  const right = left + gap, middle = (left + right) / 2;
  const lineOf = (index) => sizes.heading + row * (index + 0.5);
  const links = heads
    .flatMap((head) => places(head.map)
      .map(([query, key]) => ({ head, query, key, weight: head.weight(query, key) })))
    .filter((link) => link.weight >= sizes.faintest)
    .sort((one, other) => one.weight - other.weight); // the strongest last and so on top
  for (const link of links) {
    const beside = sizes.beside * (heads.indexOf(link.head) - (heads.length - 1) / 2);
    const from = lineOf(link.query) + beside, to = lineOf(link.key) + beside;
    link.opacity = (0.15 + 0.75 * link.weight).toFixed(2);
    link.path = svg("path", {
      class: `link slot-${link.head.slot}`,
      d: `M${left} ${from}C${middle} ${from} ${middle} ${to} ${right} ${to}`,
      "stroke-width": (sizes.thin + sizes.thick * link.weight).toFixed(2),
      opacity: link.opacity,
    });
    link.path.link = { query: link.query, key: link.key };
  }
  const button = (side, texts, aloud, [anchor, x, start, width, outside]) => (index) => {
    const y = lineOf(index);
    const label = svg("text", { class: "token", x, y: y + 5, "text-anchor": anchor }, texts(index));
    const box = [start, y - row / 2 + 1, width - 1, row - 2];
    const value = { x: outside, y: y + 5, "text-anchor": anchor };
    return tokenButton(side, index, aloud(index), label, box, value);
  };
  const start = left - queries.rowWidth, end = right + keys.width;
  const label = (index) => rowLabel(queries, index);
  const query = button("query", label, label, ["end", left - 7, start, queries.rowWidth, start - 6]);
  const text = (index) => keys.texts[index];
  const key = button("key", text, text, ["start", right + 7, right + 1, keys.width, end + 6]);
  return {
    width: Math.max(end + sizes.number, right + sizes.said),
    height: sizes.heading + row * Math.max(rows, columns),
    links,
    buttons: { query: span(rows).map(query), key: span(columns).map(key) },
    below: [
      heading(left - 7, 16, "end", rowsHeading(queries)),
      heading(right + 7, 16, "start", "keys"),
      ...links.map((link) => link.path),
    ],
  };
}

function drawGrid(heads, sizes) {
  const { map } = heads[0], { queries, keys, rows, columns, cell, left, above } = map;
  const middle = (index) => cell * (index + 0.5);
  const query = (index) => {
    const y = above + middle(index), height = Math.min(cell, 24) - 1, width = queries.rowWidth;
    const place = { class: "token", x: left - 7, y: y + 4, "text-anchor": "end" };
    const style = `font-size:${Math.min(14, cell - 2)}px`;
    const label = svg("text", { ...place, style }, rowLabel(queries, index));
    const box = [left - width, y - height / 2, width - 2, height];
    return tokenButton("query", index, label.textContent, label, box);
  };
  const key = (text, index) => {
    const x = left + middle(index) + 3, y = above - 7, height = Math.min(0.68 * cell, 22);
    const size = Math.max(9, Math.min(14, Math.round(0.68 * cell)));
    const place = { class: "token", x, y, "text-anchor": "start", style: `font-size:${size}px` };
    const box = [x - 6, y - 5 - height / 2, keys.width, height];
    const made = tokenButton("key", index, text, svg("text", place, text), box);
    made.setAttribute("transform", `rotate(-45 ${x} ${y})`);
    return made;
  };
  const isNumbered = map.numbered && heads.length === 1;
  return {
    width: left + Math.max(cell * columns + above, sizes.said),
    height: above + cell * rows + 2,
    links: [],
    buttons: { query: span(rows).map(query), key: keys.texts.map(key) },
    below: [
      heading(left - 7, above - 9, "end", rowsHeading(queries)),
      heading(left, 14, "start", "keys"),
      ...(heads.length === 1 ? cells(heads[0]) : squares(heads)),
      ...(isNumbered ? numbers(heads[0]) : []),
    ],
    field: { left, above, cell },
  };
}

const square = (x, y, side) => `M${x} ${y}h${side}v${side}h${-side}z`;

// One path for each fill that occurs.
function cells(head) {
  const { cell, left, above } = head.map;
  const found = new Map();
  for (const [query, key] of places(head.map)) {
    const fill = head.fill(query, key);
    const drawn = square(left + cell * key, above + cell * query, cell - 1);
    found.set(fill, (found.get(fill) ?? "") + drawn);
  }
  return [...found].map(([fill, d]) => svg("path", { class: "cells", fill, d }));
}

// Each cell has a square of every head, in the corner of its slot; its area is the weight.
function squares(heads) {
  const { cell, left, above } = heads[0].map, half = (cell - 1) / 2;
  const ground = { true: "", false: "" };
  const drawn = heads.map(() => "");
  for (const [query, key] of places(heads[0].map)) {
    const x = left + cell * key, y = above + cell * query;
    ground[heads.some((head) => head.code(query, key))] += square(x, y, cell - 1);
    heads.forEach((head, index) => {
      const side = (half - 1) * Math.sqrt(head.weight(query, key));
      const [across, down] = [head.slot % 2, Math.floor(head.slot / 2)];
      const corner = (start, far) => start + half * (far + 0.5) - side / 2;
      drawn[index] += square(corner(x, across), corner(y, down), side);
    });
  }
  return [
    svg("path", { fill: "var(--pale)", d: ground.true }),
    svg("path", { fill: HATCH, d: ground.false }),
    ...heads.map(({ slot }, index) => svg("path", { class: `square slot-${slot}`, d: drawn[index] })),
  ];
}

function numbers(head) {
  const { cell, left, above } = head.map;
  return places(head.map).filter((place) => head.code(...place)).map(([query, key]) => {
    const weight = head.weight(query, key);
    const style = `fill:${inkOn(weight)}`;
    const x = left + cell * (key + 0.5), y = above + cell * (query + 0.5) + 5;
    return svg("text", { class: "number", style, x, y, "text-anchor": "middle" }, weight.toFixed(2));
  });
}

// One head as a small picture, for its button.
function drawThumbnail(head) {
  const { rows, columns } = head.map;
  const canvas = html("canvas", { width: columns, height: rows });
  const context = canvas.getContext("2d");
  for (const [query, key] of places(head.map)) {
    const fill = head.fill(query, key);
    if (fill === HATCH) continue; // nothing there: the paper shows
    context.fillStyle = fill;
    context.fillRect(key, query, 1, 1);
  }
  return canvas;
}

// How a head's lines and squares look while several are shown.
const sample = ({ slot }) => svg("svg", { width: 36, height: 14, "aria-hidden": true },
  svg("path", { class: `link slot-${slot}`, d: "M1 7h34", "stroke-width": 5 }));
