// The attention viewer's controls: native ones, so that keyboard and screen reader know them.

// Buttons of which one is pressed; options are [value, what is on it, what it is called aloud].
function choices(name, title, options, value, change) {
  const buttons = options.map(([option, content, spoken]) => {
    const input = html("input", { type: "radio", name, "aria-label": spoken });
    input.checked = option === value;
    input.addEventListener("change", () => change(option));
    return html("label", { class: `choice ${name}` }, input, html("span", {}, ...content));
  });
  return html("fieldset", {}, html("legend", {}, title), html("div", {}, ...buttons));
}

function kindControl(maps, shown, showMap) {
  const kinds = [...new Set(maps.map((map) => map.kind))];
  const change = (kind) => {
    const same = [...maps.keys()].filter((index) => maps[index].kind === kind);
    showMap(same.find((index) => maps[index].layer === maps[shown.map].layer) ?? same[0]);
  };
  const options = kinds.map((kind) => [kind, [kind], kind]);
  const control = () => choices("kind", "Attention", options, maps[shown.map].kind, change);
  return kinds.length > 1 ? [control()] : [];
}

function layerControl(maps, shown, showMap) {
  const { kind } = maps[shown.map];
  const same = [...maps.keys()].filter((index) => maps[index].kind === kind);
  const select = html("select");
  for (const index of same) select.append(html("option", { value: index }, maps[index].layer));
  select.value = shown.map;
  select.addEventListener("change", () => showMap(Number(select.value)));
  const label = () => html("label", {}, html("span", { class: "name" }, "Layer"), select);
  return same.length > 1 ? [label()] : [];
}

function viewControl(shown, showView) {
  const options = ["lines", "grid"].map((view) => [view, [view], view]);
  return choices("view", "View", options, shown.view, showView);
}

function headControl(heads, shown, showHead) {
  const options = heads.map((head) => {
    const name = `${head.number + 1}`;
    return [head.number, [drawThumbnail(head), name], `head ${name}`];
  });
  return choices("head", "Head", options, shown.head, showHead);
}
