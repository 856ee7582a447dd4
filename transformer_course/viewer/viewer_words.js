// What the attention viewer says about a token, or about a pair of them.

// A code as a weight with three decimals; what is not 0 does not look like it.
const shortly = (code, steps) =>
  code && code / steps < 0.0005 ? "< 0.001" : (code / steps).toFixed(3);

// A row is named after the token that it reads and, in the decoder, the one that it writes.
function row({ queries }, index, [start, between]) {
  const read = named(queries.texts, index);
  if (!queries.writes) return read;
  return [start, ...read, between, "“", html("bdi", {}, queries.writes[index]), "”"];
}
const WHOLE = ["The row that reads ", " and writes "], SHORT = ["", " → "];

// The sentence about a query, a key, or a query and a key, in the heads that are shown.
function said(heads, { query, key }) {
  const { map } = heads[0];
  if (query !== null && key !== null) return saidOfPair(heads, query, key);
  const subject = query === null ? named(map.keys.texts, key) : row(map, query, WHOLE);
  const verb = query === null ? " is attended to by" : " attends to";
  if (heads.length === 1) {
    const { listed, more } = ranking(heads[0], query, key, 6);
    const none = query === null ? " has no query that attends to it." : " attends to nothing.";
    return listed.length ? [...subject, verb, ...listed, more, "."] : [...subject, none];
  }
  const each = heads.flatMap((head, index) => {
    const { listed } = ranking(head, query, key, heads.length > 2 ? 1 : 2);
    return [index ? "; " : " ", ...(listed.length ? listed : [" nothing"]), ` (${head.name})`];
  });
  return [...subject, `${verb} most:`, ...each, "."];
}

function saidOfPair(heads, query, key) {
  const { map } = heads[0];
  const subject = [...row(map, query, WHOLE), " attends to ", ...named(map.keys.texts, key)];
  const codes = heads.map((head) => head.code(query, key));
  const weights = codes.map((code) => (code ? (code / heads[0].steps).toFixed(4) : "0"));
  const number = (index) => bold(weights[index]);
  if (heads.length === 1)
    return [...subject, " with weight ", number(0), codes[0] ? "." : " exactly, as behind a mask."];
  const each = heads.flatMap((head, index) =>
    [index ? ", " : " ", number(index), ` (${head.name})`]);
  return [...subject, " with weight", ...each, "."];
}

// The largest weights of a query or of a key in one head, and what is left, as nodes and texts.
function ranking(head, query, key, most) {
  const { map, steps } = head, attends = query !== null;
  const found = span(attends ? map.columns : map.rows)
    .map((index) => ({ index, code: attends ? head.code(query, index) : head.code(index, key) }))
    .filter(({ code }) => code)
    .sort((one, other) => other.code - one.code);
  const texts = attends ? map.keys.texts : map.queries.texts;
  const listed = found.slice(0, most).flatMap(({ index, code }, place) => [
    place ? ", " : " ",
    ...(attends ? named(texts, index) : row(map, index, SHORT)),
    " ",
    bold(shortly(code, steps)),
  ]);
  const rest = found.slice(most), sum = rest.reduce((total, { code }) => total + code, 0);
  const more = `, and ${attends ? "to" : "by"} ${rest.length} more with ${shortly(sum, steps)} in all`;
  return { listed, more: rest.length ? more : "" };
}
