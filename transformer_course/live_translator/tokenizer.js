// Byte-level byte-pair encoding, as transformer_edu/data/tokenizer.py: the same ids for every text.

const SPECIAL_TOKENS = ["<pad>", "<s>", "</s>", "<unk>"];
const REPLACEMENT = "\ufffd"; // for bytes that are no text
const FORMAT = "transformer_edu tokenizer 1";

// Each byte is written as one visible character: the printable ones of Latin-1 as they are, the
// others in their order from U+0100 on.
const isPrintableByte = (byte) =>
  (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte !== 0xad);
const SPELLING = [];
for (let byte = 0, others = 0; byte < 256; byte++)
  SPELLING.push(String.fromCharCode(isPrintableByte(byte) ? byte : 0x100 + others++));
const BYTES = new Map(SPELLING.map((character, byte) => [character, byte]));
const spell = (bytes) => Array.from(bytes, (byte) => SPELLING[byte]).join("");

// Pieces never cross these borders. Python's \s is written out: JavaScript means others by it.
const BORDERS = new RegExp([
  "'\\p{L}{1,2}(?!\\p{L})",
  " ?[\\p{L}\\p{M}]{1,64}",
  " ?\\p{N}{1,64}",
  " ?[^\\p{White_Space}\\p{L}\\p{M}\\p{N}]{1,64}",
  "\\p{White_Space}{1,64}(?!\\P{White_Space})",
  "\\p{White_Space}",
].join("|"), "gu");
const MOST_REMEMBERED = 20_000; // words

const utf8 = new TextEncoder();
const lenient = new TextDecoder("utf-8", { ignoreBOM: true });
const strict = new TextDecoder("utf-8", { ignoreBOM: true, fatal: true });

class Tokenizer {
  // merges: which two pieces are joined, "left right", in the order in which they were learned.
  constructor(merges) {
    const alphabet = [...BYTES.keys()].sort();
    this.spelled = [...SPECIAL_TOKENS.map(() => ""), ...alphabet];
    this.ids = new Map(alphabet.map((spelled, at) => [spelled, SPECIAL_TOKENS.length + at]));
    const pairs = merges.map((merge) => merge.split(" "));
    for (const [left, right] of pairs) {
      const joined = left + right;
      if (this.ids.has(joined)) continue; // other merges made the same piece
      this.ids.set(joined, this.spelled.length);
      this.spelled.push(joined);
    }
    this.merges = new Map(pairs.map(([left, right], rank) =>
      [this.pairOf(this.ids.get(left), this.ids.get(right)),
        { rank, id: this.ids.get(left + right) }]));
    this.pieces = this.spelled.map((spelled) => Uint8Array.from(spelled, (c) => BYTES.get(c)));
    this.names = this.pieces.map((piece, id) => SPECIAL_TOKENS[id] ?? readable(piece));
    this.words = new Map(); // the ids of words that were met before
  }

  get size() {
    return this.pieces.length;
  }

  pairOf(left, right) {
    return left * this.spelled.length + right;
  }

  // The ids of a text, without start or end. A text is read as if it began with a space.
  encode(text) {
    if (!text.isWellFormed()) throw new RangeError("text must hold no half of a character");
    return text ? (` ${text}`.match(BORDERS)).flatMap((word) => this.encodeWord(word)) : [];
  }

  encodeWord(word) {
    if (this.words.size > MOST_REMEMBERED) this.words.clear();
    if (!this.words.has(word)) this.words.set(word, this.joined(spell(utf8.encode(word))));
    return this.words.get(word);
  }

  // Of all neighbors that a merge joins, the pair of the earliest merge is joined; then again.
  joined(spelled) {
    const ids = Array.from(spelled, (character) => this.ids.get(character));
    for (;;) {
      let best = null, place = 0;
      for (let at = 0; at + 1 < ids.length; at++) {
        const merge = this.merges.get(this.pairOf(ids[at], ids[at + 1]));
        if (merge && (!best || merge.rank < best.rank)) [best, place] = [merge, at];
      }
      if (!best) return ids;
      ids.splice(place, 2, best.id);
    }
  }

  // The text of any ids. Padding, start and end are left out; unknown is the replacement character.
  decode(ids) {
    const bytes = this.checked(ids).flatMap((id) =>
      (SPECIAL_TOKENS[id] === "<unk>" ? [...utf8.encode(REPLACEMENT)] : [...this.pieces[id]]));
    return lenient.decode(Uint8Array.from(bytes)).replace(/^ /, "");
  }

  tokens(ids) {
    return this.checked(ids).map((id) => this.names[id]);
  }

  checked(ids) {
    const wrong = ids.find((id) => !this.pieces[id]);
    if (wrong !== undefined) throw new RangeError(`ids must be below ${this.size}, got ${wrong}`);
    return ids;
  }
}

function readTokenizer(text) {
  let saved;
  try {
    saved = JSON.parse(text);
  } catch {
    saved = null;
  }
  if (saved?.format !== FORMAT)
    throw new RangeError("the tokenizer must be a saved one, got another file");
  return new Tokenizer(saved.merges);
}

// A piece as people read it: a space is ▁, and what cannot be seen is its bytes, as <0x0A>.
function readable(piece) {
  const seen = [];
  for (let at = 0; at < piece.length;) {
    const first = piece[at];
    const length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    const character = whole(piece.subarray(at, at + length));
    const bytes = character === null ? [first] : piece.subarray(at, at + length);
    if (character === " ") seen.push("▁");
    else if (character === null || character === "▁" || /[\p{C}\p{Z}]/u.test(character))
      for (const byte of bytes) seen.push(`<0x${hexadecimal(byte)}>`);
    else seen.push(character);
    at += bytes.length;
  }
  return seen.join("");
}

const hexadecimal = (byte) => byte.toString(16).toUpperCase().padStart(2, "0");

function whole(bytes) {
  if (bytes.length === 1 && bytes[0] < 0x80) return String.fromCharCode(bytes[0]);
  try {
    return strict.decode(bytes);
  } catch {
    return null;
  }
}
