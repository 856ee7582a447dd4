// What the attention viewer does: which head is shown, and what pointer and keys bring out.

const { maps, tokens, sizes, steps, start } = data;
const shown = { map: start.map, head: start.head, view: start.view };
// What is brought out: {query, key}, either of them null, or nothing at all.
let chosen = null, hovered = null;
let drawing;

for (const map of maps) {
  [map.queries, map.keys] = [tokens[map.queries], tokens[map.keys]];
  [map.rows, map.columns] = [map.queries.texts.length, map.keys.texts.length];
  map.codes = unpack(map.packed);
  const heads = span(map.codes.length / map.rows / map.columns);
  map.heads = heads.map((number) => new Head(map, number, steps));
}
const map = () => maps[shown.map];
const head = () => map().heads[shown.head];

// ---- what is shown ---------------------------------------------------------------------------

function showMap(index) {
  const { queries, keys } = map();
  shown.map = index;
  shown.head = Math.min(shown.head, map().heads.length - 1);
  if (queries !== map().queries || keys !== map().keys) chosen = null;
  renew();
}

function showHead(number) {
  shown.head = number;
  redraw();
}

function showView(view) {
  shown.view = view;
  redraw();
}

// The controls too, with the focus where it was.
function renew() {
  const focused = document.activeElement;
  const place = focused.matches("select") ? "select"
    : focused.name ? `input[name="${focused.name}"]:checked` : null;
  controls.replaceChildren(
    ...kindControl(maps, shown, showMap),
    ...layerControl(maps, shown, showMap),
    viewControl(shown, showView),
    headControl(map().heads, shown, showHead),
  );
  if (place) controls.querySelector(place)?.focus();
  redraw();
}

function redraw() {
  const layer = map().layer ? `, layer ${map().layer}` : "";
  const place = `${map().kind}${layer}, head ${shown.head + 1} of ${map().heads.length}`;
  part("place").textContent = place;
  part("about").textContent = map().about[shown.view];
  for (const key of root.querySelectorAll("[data-key]"))
    key.hidden = key.dataset.key !== shown.view;

  hovered = null;
  drawing = (shown.view === "lines" ? drawLines : drawGrid)(head(), sizes);
  const { width, height, below, buttons } = drawing;
  drawing.marks = svg("g");
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "group" });
  picture.setAttribute("aria-label", `${place}. ${map().about[shown.view]}`);
  picture.append(...below, ...buttons.query, ...buttons.key, drawing.marks);
  for (const side of ["query", "key"]) {
    const focused = (index) => {
      if (index === null) choose(null);
      else if (chosen?.[side] !== index) choose(only(side, index));
    };
    roving(buttons[side], { choose: focused, start: chosen?.[side] ?? 0 });
  }
  stage.replaceChildren(picture);
  mark();
}

// ---- what is brought out ---------------------------------------------------------------------

function mark() {
  const now = hovered ?? chosen;
  const { query, key } = now ?? { query: null, key: null };
  for (const link of drawing.links) {
    const lit = [null, link.query].includes(query) && [null, link.key].includes(key);
    const opacity = !now ? link.opacity : lit ? 0.5 + 0.45 * link.weight : 0.04;
    link.path.setAttribute("opacity", opacity);
  }
  for (const button of [...drawing.buttons.query, ...drawing.buttons.key]) {
    const isKey = button.side === "key";
    const [own, other] = isKey ? [key, query] : [query, key];
    const isMeant = own === null || (isKey && own === button.index);
    const place = isKey ? [query, button.index] : [button.index, key];
    const weight = other !== null && isMeant ? head().weight(...place) : 0;
    button.classList.toggle("chosen", own === button.index);
    button.querySelector(".weight").style.opacity = 0.5 * weight;
    const value = button.querySelector(".value");
    if (value) value.textContent = weight >= 0.005 ? weight.toFixed(2) : "";
  }
  drawing.marks.replaceChildren(...(now && drawing.field ? frames(query, key) : []));
  say(...(now ? said(head(), now) : [start.hint]));
}

// Around the cells in question, with the value of a single one.
function frames(query, key) {
  const { left, above, cell } = drawing.field;
  const frame = svg("rect", {
    class: "frame",
    x: left + cell * (key ?? 0) - 1.5,
    y: above + cell * (query ?? 0) - 1.5,
    width: cell * (key === null ? map().columns : 1) + 2,
    height: cell * (query === null ? map().rows : 1) + 2,
  });
  if (query === null || key === null) return [frame];
  const text = shortly(head().code(query, key), steps), width = 8 * text.length + 12;
  const x = left + cell * (key + 1) + 4, y = above + cell * (query + 0.5) - 11;
  const box = svg("rect", { x, y, width, height: 22, rx: 5 });
  const place = { x: x + width / 2, y: y + 16, "text-anchor": "middle" };
  return [frame, svg("g", { class: "tip" }, box, svg("text", place, text))];
}

function choose(now) {
  chosen = now;
  hovered = null;
  mark();
}

function hover(now) {
  const same = now?.query === hovered?.query && now?.key === hovered?.key;
  hovered = now;
  if (!same) mark();
}

// ---- pointer and keys ------------------------------------------------------------------------

const only = (side, index) => ({ query: null, key: null, [side]: index });

// On what holds the picture: an SVG that listens itself would take the focus in some browsers.
function listen(figure) {
  figure.addEventListener("pointermove", (event) => {
    const button = event.target.closest(".token-button");
    if (button) hover(only(button.side, button.index));
    else hover(event.target.link ?? (drawing.field ? cellAt(event) : null));
  });
  figure.addEventListener("pointerleave", () => hover(null));
  figure.addEventListener("click", (event) => {
    const button = event.target.closest(".token-button");
    choose(button ? only(button.side, button.index) : hovered);
  });
  figure.addEventListener("keydown", goAlongRow, { capture: true });
}

function cellAt(event) {
  const { left, above, cell } = drawing.field;
  const { x, y } = point(stage.firstElementChild, event);
  const key = Math.floor((x - left) / cell), query = Math.floor((y - above) / cell);
  const inside = key >= 0 && query >= 0 && key < map().columns && query < map().rows;
  return inside ? { query, key } : null;
}

// From a query, left and right go through its keys.
function goAlongRow(event) {
  const { side, index } = event.target, step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (side !== "query" || !step || isForBrowser(event)) return;
  const most = map().columns - 1, from = chosen?.key ?? (step > 0 ? -1 : most + 1);
  choose({ query: index, key: clamp(from + step, 0, most) });
  event.preventDefault();
  event.stopPropagation();
}

listen(stage);
renew();
