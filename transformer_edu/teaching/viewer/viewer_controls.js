// The attention viewer's controls.

function kindControl(maps, shown, showMap) {
  const kinds = [...new Set(maps.map((map) => map.kind))];
  const change = (kind) => {
    const same = [...maps.keys()].filter((index) => maps[index].kind === kind);
    showMap(same.find((index) => maps[index].layer === maps[shown.map].layer) ?? same[0]);
  };
  const { kind: value } = maps[shown.map];
  const control = () => choices({ name: "kind", label: "Attention", options: kinds, value, change });
  return kinds.length > 1 ? [control()] : [];
}

function layerControl(maps, shown, showMap) {
  const { kind } = maps[shown.map];
  const same = [...maps.keys()].filter((index) => maps[index].kind === kind);
  const select = html("select");
  for (const index of same) select.append(html("option", { value: index }, maps[index].layer));
  select.value = shown.map;
  select.addEventListener("change", () => showMap(Number(select.value)));
  return same.length > 1 ? [html("label", {}, label("Layer"), select)] : [];
}

function viewControl(shown, showView) {
  const options = ["lines", "grid"];
  return choices({ name: "view", label: "View", options, value: shown.view, change: showView });
}

function headControl(heads, shown, showHead) {
  const options = heads.map((head) => {
    const name = `${head.number + 1}`;
    return [head.number, [drawThumbnail(head), name], `head ${name}`];
  });
  return choices({ name: "head", label: "Head", options, value: shown.head, change: showHead });
}
