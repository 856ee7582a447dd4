// What the attention viewer says about a token, or about a pair of them.

// A code as a weight with three decimals; what is not 0 does not look like it.
const shortly = (code, steps) =>
  code && code / steps < 0.0005 ? "< 0.001" : (code / steps).toFixed(3);

// The sentence about a query, a key, or a query and a key of one head, as nodes and texts.
function said(head, { query, key }) {
  if (query === null || key === null) return saidOfOne(head, query, key);
  const code = head.code(query, key);
  return [
    ...named(head.map.queries.texts, query),
    " attends to ",
    ...named(head.map.keys.texts, key),
    " with weight ",
    bold(code ? (code / head.steps).toFixed(4) : "0"),
    code ? "." : " exactly, as behind a mask.",
  ];
}

function saidOfOne(head, query, key) {
  const { queries, keys } = head.map;
  const attends = query !== null;
  const [own, others] = attends ? [queries.texts, keys.texts] : [keys.texts, queries.texts];
  const subject = named(own, attends ? query : key);
  const found = span(others.length)
    .map((index) => ({ index, code: attends ? head.code(query, index) : head.code(index, key) }))
    .filter(({ code }) => code)
    .sort((one, other) => other.code - one.code);
  const none = attends ? " attends to nothing." : " has no query that attends to it.";
  if (!found.length) return [...subject, none];
  const codes = new Map(found.map(({ index, code }) => [index, code]));
  const first = [...codes.keys()].slice(0, 6), rest = found.slice(6);
  const list = listed(others, first, (index) => shortly(codes.get(index), head.steps));
  const sum = rest.reduce((total, { code }) => total + code, 0);
  const more = `, and ${attends ? "to" : "by"} ${rest.length} more with ${shortly(sum, head.steps)}`;
  const verb = attends ? " attends to " : " is attended to by ";
  return [...subject, verb, ...list, rest.length ? `${more} in all` : "", "."];
}
