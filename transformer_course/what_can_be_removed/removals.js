// The heads of a translator as tiles. One head can be off, or all heads of one attention.
// The results of a sentence begin with the whole model's; then they follow the tiles, row by row.

const { kinds, layers, heads, sentences } = data;
const columns = kinds.length * (heads + 1); // each kind has a tile for all its heads, too
const state = { sentence: data.first ?? 0, off: null };

function result(tile) {
  const { texts, results } = sentences[state.sentence];
  const [number, probability] = results[tile === null ? 0 : tile + 1];
  return { text: texts[number], isOther: number > 0, probability };
}
// Of a sentence that the reader has typed; what the whole model writes counts as correct there.
const isOwn = () => sentences[state.sentence].own;
const points = (tile) => Math.round(100 * result(tile).probability)
  - Math.round(100 * result(null).probability);
const where = (tile) => {
  const column = tile % columns, head = column % (heads + 1);
  return { kind: Math.floor(column / (heads + 1)), layer: Math.floor(tile / columns), head,
    isAll: head === heads };
};
const largest = Math.max(...sentences.flatMap(({ results }) =>
  results.map(([, probability]) => Math.abs(probability - results[0][1]))));

// ---- what stays: the tiles -------------------------------------------------------------------

const under = svg("g");
const tiles = span(layers * columns).map((tile) => {
  const { kind, layer, head, isAll } = where(tile);
  const which = isAll ? "all heads" : `head ${head + 1}`;
  const parts = {
    back: svg("rect", { class: "face", rx: 4, fill: "var(--pale)", stroke: "var(--rule)" }),
    color: svg("rect", { rx: 4 }),
    corner: svg("path", { fill: "var(--ink)" }),
    hatch: svg("rect", { rx: 4, fill: "url(#hatch)" }),
    number: svg("text", { class: "outlined", "text-anchor": "middle" }),
  };
  const name = `${kinds[kind]}, layer ${layer + 1}, ${which}`;
  return Object.assign(svg("g", { role: "button" }, ...Object.values(parts)), { parts, name });
});
const switchOff = (tile) => ((state.off = tile), redraw());
roving(tiles, {
  columns,
  choose: (tile) => tile === null && switchOff(null),
  press: (tile) => switchOff(tile === state.off ? null : tile),
});

const isOff = (tile) => {
  if (state.off === null || tile === state.off) return tile === state.off;
  const one = where(tile), other = where(state.off);
  return other.isAll && one.kind === other.kind && one.layer === other.layer;
};

function drawTile(tile, { x, y, width, height }) {
  const { back, color, corner, hatch, number } = tiles[tile].parts;
  const change = points(tile), off = isOff(tile);
  for (const each of [back, color, hatch])
    setAttributes(each, { width, height });
  place(tiles[tile], x, y);
  setAttributes(color, { fill: `var(--${change < 0 ? "orange" : "blue"})`,
    opacity: Math.min(0.75, 0.75 * Math.abs(change) / (100 * largest || 1)) });
  corner.setAttribute("d", result(tile).isOther ? `M${width - 10} 1H${width - 1}V10Z` : "");
  hatch.setAttribute("visibility", off ? "visible" : "hidden");
  setAttributes(back, { stroke: `var(--${off ? "ink" : "rule"})`, "stroke-width": off ? 3 : 1 });
  setAttributes(number, { x: width / 2, y: height / 2 + 5 });
  number.textContent = change > 0 ? `+${change}` : fixed(change, 0);
  const words = `${number.textContent} points${result(tile).isOther ? ", another translation" : ""}`;
  setAttributes(tiles[tile], { "aria-pressed": tile === state.off,
    "aria-label": `${tiles[tile].name}: ${words}` });
}

// ---- drawing ---------------------------------------------------------------------------------

// The place of a kind's tiles: of its first one, and from one to the next.
const DOWN = 36, BLOCK = DOWN * layers + 60; // the height of a tile and of a kind, with the gap
function grid(kind, isNarrow) {
  const [inARow, left, top, width] = isNarrow ? [data.in_a_row.narrow, 17, 262, 400]
    : [data.in_a_row.wide, 22, 180, 800];
  const pitch = width / inARow, across = Math.min(43, (pitch - left - 8) / (heads + 1));
  return { x: left + pitch * (kind % inARow), y: top + BLOCK * Math.floor(kind / inARow),
    across, down: DOWN };
}
// The lowest of the tiles and of the legend, which has a line, or on a phone a kind's place.
const bottom = (isNarrow) => isNarrow
  ? Math.max(grid(kinds.length - 1, true).y + BLOCK - 50, grid(kinds.length, true).y + 154)
  : grid(kinds.length - 1, false).y + BLOCK - 28;

function drawKind(kind, isNarrow) {
  const { x, y, across, down } = grid(kind, isNarrow);
  const middle = (column) => x + (column + 0.5) * across + (column === heads ? 3 : -2);
  const names = [...span(heads).map((head) => String(head + 1)), "all"];
  return [
    write(x, y - 26, "start", kinds[kind]),
    ...names.map((text, column) => heading(middle(column), y - 8, "middle", text)),
    ...span(layers).map((layer) => heading(x - 6, y + down * layer + 21, "end", layer + 1)),
  ];
}

// Words in as many lines as they need and may have; new ones are marked.
function lines(words, marked, { x, y, room, most }) {
  const rows = [[]];
  let used = 0;
  words.forEach((word, i) => {
    if (used && used + word.length > room) {
      rows.push([]);
      used = 0;
    }
    const style = "fill: var(--orange); font-weight: 700; text-decoration: underline";
    rows.at(-1).push(svg("tspan", marked.includes(i) ? { style } : {}, word), " ");
    used += word.length + 1;
  });
  if (rows.length > most) rows[most - 1].splice(-2, 2, "…");
  return rows.slice(0, most).map((row, i) => svg("text", { x, y: y + 19 * i }, ...row));
}

function drawTexts({ isNarrow, width }) {
  const { english, reference } = sentences[state.sentence], { text } = result(state.off);
  const rows = [["English", english.split(" "), []],
    [isOwn() ? "all heads on" : "reference", reference.split(" "), []],
    ["translation", text.words, text.new]];
  const room = Math.floor((width - (isNarrow ? 0 : 96)) / 7.9);
  return rows.flatMap(([name, words, marked], i) => {
    const at = isNarrow ? { x: 0, y: 30 + 56 * i } : { x: 96, y: 16 + 24 * i };
    return [heading(0, at.y - (isNarrow ? 17 : 0), "start", name),
      ...lines(words, marked, { ...at, room, most: 2 })];
  });
}

function drawBar({ isNarrow, width }) {
  const now = result(state.off).probability, before = result(null).probability;
  const [x, y] = isNarrow ? [0, 190] : [190, 106], long = width - x - 50;
  return [
    heading(0, isNarrow ? 182 : 119, "start",
      `probability ${isOwn() ? "of “all heads on”" : "of a correct token"}`),
    svg("rect", { x, y, width: long, height: 16, rx: 3, fill: "var(--pale)" }),
    svg("rect", { class: "bar", x, y, width: long * now, height: 16, rx: 3,
      fill: "var(--blue)" }),
    svg("path", { d: `M${x + long * before} ${y - 3}v22`, stroke: "var(--ink)",
      "stroke-width": 2.5 }),
    write(width, y + 13, "end", percent(now)),
  ];
}

function drawLegend({ isNarrow, height }) {
  const words = ["rows: layers", "columns: heads", "all: all heads of a row",
    "number: change in points", "◥ another translation", "hatched: off"];
  const { x, y } = isNarrow ? grid(kinds.length, true) : { x: 0, y: height - 24 };
  return (isNarrow ? words : [words.join("  ·  ")]).map((text, i) =>
    heading(x, y + 19 + 22 * i, "start", text));
}

function draw(layout) {
  const { isNarrow } = layout;
  under.replaceChildren(...drawTexts(layout), ...drawBar(layout), ...drawLegend(layout),
    ...span(kinds.length).flatMap((kind) => drawKind(kind, isNarrow)));
  span(tiles.length).forEach((tile) => {
    const { kind, layer, head, isAll } = where(tile);
    const { x, y, across, down } = grid(kind, isNarrow);
    drawTile(tile, { x: x + head * across + (isAll ? 5 : 0), y: y + layer * down,
      width: across - 4, height: down - 4 });
  });
  say(...inWords());
}

// ---- words and controls ----------------------------------------------------------------------

function inWords() {
  const before = percent(result(null).probability);
  if (state.off === null) {
    const others = (isAll) => span(tiles.length).filter((tile) => where(tile).isAll === isAll)
      .map((tile) => result(tile).isOther);
    const count = (all) => `${all.filter(Boolean).length} of ${all.length}`;
    return [`All heads are on, and a ${isOwn() ? "" : "correct "}token has a probability of `,
      bold(before),
      `. One head off changes this translation in ${count(others(false))} cases, a whole row in ${
        count(others(true))}.`];
  }
  const { kind, layer, head, isAll } = where(state.off), { text, isOther } = result(state.off);
  const change = points(state.off), now = percent(result(state.off).probability);
  const verb = change < 0 ? "falls from" : "rises from";
  return [`Without ${isAll ? `all ${heads} heads` : `head ${head + 1}`} of the ${kinds[kind]} in `,
    `layer ${layer + 1}`,
    ...(isOther ? [": “", html("bdi", {}, text.words.join(" ")), "” "]
      : [", the translation stays the same. "]),
    `${isOwn() ? "The probability of a token of the first translation"
      : "A correct token’s probability"} `,
    ...(change ? [`${verb} ${before} to `] : ["stays at "]), bold(now), "."];
}

const { picture: drawn, redraw } = picture({
  label: "Heads that can be switched off, and the translation", wide: [800, bottom(false)],
  narrow: [400, bottom(true)], draw,
});
drawn.append(under, ...tiles);
controls.append(
  choices({ label: "sentence", value: state.sentence,
    change: (to) => ((state.sentence = to), redraw()),
    options: sentences.map(({ english, own }, i) =>
      [i, [own ? "yours" : String(i + (sentences[0].own ? 0 : 1))], english]) }),
  button({ label: "All heads on", press: () => switchOff(null) }),
);
redraw();
