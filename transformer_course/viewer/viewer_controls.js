// The attention viewer's controls: all maps at once, small, and how the chosen ones are shown.

// One kind of attention: a row for each layer, a button for each head.
function mapsControl(kind, layers, acts) {
  const heads = layers.flatMap((map) => map.heads);
  const most = Math.max(...layers.map((map) => map.heads.length));
  for (const head of heads) {
    const name = `${kind}, ${head.name}`;
    head.button = html("button", { type: "button", "aria-label": name }, drawThumbnail(head));
  }
  const take = (act) => (index) => act(index === null ? null : heads[index]);
  roving(heads.map((head) => head.button), {
    choose: take(acts.choose),
    press: take(acts.press),
    columns: layers.every((map) => map.heads.length === most) ? most : 0,
    start: Math.max(0, heads.findIndex(acts.isShown)),
  });
  const cell = (text, name = "") => html("span", { class: name, "aria-hidden": true }, text);
  const rows = layers.map((map) => [cell(map.layer, "layer"), ...map.heads.map((one) => one.button)]);
  const numbers = [cell("", "layer"), ...span(most).map((number) => cell(number + 1))];
  const style = `grid-template-columns: auto repeat(${most}, var(--side))`;
  const inRows = [numbers, ...rows].map((row) => html("div", { class: "row" }, ...row));
  return html("div", { class: "maps", role: "group", "aria-label": kind, style }, label(kind), ...inRows);
}

// The kinds side by side, and beside them the view and whether heads are laid over one another.
function makeControls(maps, shown, acts) {
  const kinds = [...new Set(maps.map((map) => map.kind))];
  const ofKind = (kind) => maps.filter((map) => map.kind === kind);
  const several = toggle({ label: "several heads at once", value: false, change: acts.lay });
  const rows = maps.length > kinds.length ? "Rows are layers, columns are heads." : "";
  const options = ["lines", "grid"], size = data.isSmall ? "small" : "";
  controls.append(
    html("div", { class: `band ${size}` }, ...kinds.map((kind) => mapsControl(kind, ofKind(kind), acts))),
    html("div", { class: "ways" },
      choices({ name: "view", label: "View", options, value: shown.view, change: acts.view }),
      several,
      html("span", { class: "name" }, rows)),
  );
  return several.querySelector("input");
}
