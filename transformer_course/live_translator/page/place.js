// Where the reader is: the sentence and all choices, kept in the address after #.

const START = {
  text: "Yesterday I bought a red car.",
  begin: [],     // ids of target tokens that the reader has chosen
  at: null,      // which target token is explained; null for the last word
  box: "decoder.cross_attention",
  layer: 2, head: 0,
  word: null, row: null, key: null, // positions: of the source, of the target, of a key
  off: [],       // names of switches
  temperature: 1, seed: null,       // with a seed every token is drawn
  width: 3,      // of the beam
  patch: null,   // { text, name, from, to }
  tour: null,    // the step
};

// Half a character, as where a text is cut off, is no character.
const wellFormed = (text) => text.toWellFormed?.() ?? text;

const LISTS = { begin: Number, off: String };
const TEXTS = ["text", "box"];

function addressOf(place) {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(place)) {
    const isList = name in LISTS, told = isList ? value.join(" ") : value;
    if (value === null || String(told) === String(isList ? "" : START[name])) continue;
    if (name !== "patch") given.set(name, told);
    else for (const [part, each] of Object.entries(value))
      if (each !== null) given.set(`patch.${part}`, each);
  }
  return `#${given}`;
}

function placeOf(address) {
  const given = new URLSearchParams(address.replace(/^#/, "")), place = structuredClone(START);
  const whole = (text) => (/^\d{1,9}$/.test(text ?? "") ? Number(text) : null);
  for (const name of Object.keys(START)) {
    const told = given.get(name);
    if (told === null) continue;
    if (name in LISTS) place[name] = told.split(" ").filter(Boolean).map(LISTS[name]);
    else if (TEXTS.includes(name)) place[name] = told.slice(0, 300);
    else if (name === "temperature") place[name] = Math.min(3, Math.max(0.1, Number(told) || 1));
    else place[name] = whole(told) ?? START[name];
  }
  place.begin = place.begin.filter((id) => Number.isInteger(id) && id >= 0);
  place.width = Math.min(5, Math.max(2, place.width));
  if (given.has("patch.text")) place.patch = {
    text: wellFormed(given.get("patch.text").slice(0, 300)),
    name: given.get("patch.name") ?? "", from: whole(given.get("patch.from")),
    to: whole(given.get("patch.to")) };
  return place;
}
