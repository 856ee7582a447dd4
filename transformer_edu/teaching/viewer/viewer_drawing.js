// Draws one head as lines or as a grid, by the measures of page.py.
// Text only ever becomes text: nothing here writes markup.

// Two bytes for each weight, the lower one first.
function unpack(packed) {
  const bytes = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
  return Uint16Array.from(span(bytes.length / 2), (i) => bytes[2 * i] + 256 * bytes[2 * i + 1]);
}

const HATCH = "url(#hatch)";

// One head of a layer: its weights, and the fills that they have.
class Head {
  constructor(map, number, steps) {
    Object.assign(this, { map, number, steps });
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
  places() {
    const row = (query) => span(this.map.columns).map((key) => [query, key]);
    return span(this.map.rows).flatMap(row);
  }
}

// A token that can be pointed at and focused; box is [x, y, width, height].
function tokenButton(side, index, label, box, value = null) {
  const [x, y, width, height] = box;
  const rect = (kind) => svg("rect", { class: kind, x, y, width, height });
  const button = svg("g", { class: "token-button", role: "button", tabindex: -1 });
  button.append(rect("back"), rect("weight"), label);
  if (value) button.append(svg("text", { class: "value", ...value }));
  button.setAttribute("aria-label", `${side} ${index + 1}: ${label.textContent}`);
  return Object.assign(button, { side, index });
}

function drawLines(head, sizes) {
  const { queries, keys, rows, columns, row } = head.map;
  const left = sizes.number + queries.width, right = left + sizes.gap, middle = (left + right) / 2;
  const lineOf = (index) => sizes.heading + row * (index + 0.5);
  const links = head.places()
    .map(([query, key]) => ({ query, key, weight: head.weight(query, key) }))
    .filter((link) => link.weight >= sizes.faintest)
    .sort((one, other) => one.weight - other.weight); // the strongest last and so on top
  for (const link of links) {
    const from = lineOf(link.query), to = lineOf(link.key);
    link.opacity = (0.15 + 0.75 * link.weight).toFixed(2);
    link.path = svg("path", {
      class: "link",
      d: `M${left} ${from}C${middle} ${from} ${middle} ${to} ${right} ${to}`,
      "stroke-width": (sizes.thin + sizes.thick * link.weight).toFixed(2),
      opacity: link.opacity,
    });
    link.path.link = { query: link.query, key: link.key };
  }
  const button = (side, anchor, x, start, width, outside) => (text, index) => {
    const y = lineOf(index);
    const label = svg("text", { class: "token", x, y: y + 5, "text-anchor": anchor }, text);
    const box = [start, y - row / 2 + 1, width - 1, row - 2];
    return tokenButton(side, index, label, box, { x: outside, y: y + 5, "text-anchor": anchor });
  };
  const start = left - queries.width, end = right + keys.width;
  const query = button("query", "end", left - 7, start, queries.width, start - 6);
  const key = button("key", "start", right + 7, right + 1, keys.width, end + 6);
  return {
    width: Math.max(end + sizes.number, right + sizes.said),
    height: sizes.heading + row * Math.max(rows, columns),
    links,
    buttons: { query: queries.texts.map(query), key: keys.texts.map(key) },
    below: [
      heading(left, 16, "end", "queries"),
      heading(right, 16, "start", "keys"),
      ...links.map((link) => link.path),
    ],
  };
}

function drawGrid(head, sizes) {
  const { queries, keys, rows, columns, cell, left, above } = head.map;
  const middle = (index) => cell * (index + 0.5);
  const query = (text, index) => {
    const y = above + middle(index), height = Math.min(cell, 24) - 1;
    const place = { class: "token", x: left - 7, y: y + 4, "text-anchor": "end" };
    const label = svg("text", { ...place, style: `font-size:${Math.min(14, cell - 2)}px` }, text);
    const width = queries.width;
    return tokenButton("query", index, label, [left - width, y - height / 2, width - 2, height]);
  };
  const key = (text, index) => {
    const x = left + middle(index) + 3, y = above - 7, height = Math.min(0.68 * cell, 22);
    const size = Math.max(9, Math.min(14, Math.round(0.68 * cell)));
    const place = { class: "token", x, y, "text-anchor": "start", style: `font-size:${size}px` };
    const label = svg("text", place, text);
    const box = [x - 6, y - 5 - height / 2, keys.width, height];
    const made = tokenButton("key", index, label, box);
    made.setAttribute("transform", `rotate(-45 ${x} ${y})`);
    return made;
  };
  return {
    width: left + Math.max(cell * columns + above, sizes.said),
    height: above + cell * rows + 2,
    links: [],
    buttons: { query: queries.texts.map(query), key: keys.texts.map(key) },
    below: [
      heading(left - 7, above - 9, "end", "queries"),
      heading(left, 14, "start", "keys"),
      ...cells(head),
      ...(head.map.numbered ? numbers(head) : []),
    ],
    field: { left, above, cell },
  };
}

// One path for each fill that occurs.
function cells(head) {
  const { cell, left, above } = head.map;
  const squares = new Map();
  for (const [query, key] of head.places()) {
    const fill = head.fill(query, key), side = cell - 1;
    const square = `M${left + cell * key} ${above + cell * query}h${side}v${side}h${-side}z`;
    squares.set(fill, (squares.get(fill) ?? "") + square);
  }
  return [...squares].map(([fill, d]) => svg("path", { class: "cells", fill, d }));
}

function numbers(head) {
  const { cell, left, above } = head.map;
  return head.places().filter((place) => head.code(...place)).map(([query, key]) => {
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
  for (const [query, key] of head.places()) {
    const fill = head.fill(query, key);
    if (fill === HATCH) continue; // nothing there: the paper shows
    context.fillStyle = fill;
    context.fillRect(key, query, 1, 1);
  }
  return canvas;
}
