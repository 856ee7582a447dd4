// A watch looks at a model while it computes: it keeps values, replaces vectors, and switches parts
// off.

class Watch {
  // values: which are kept, by the beginnings of their names; null for all, none by default.
  // patches: { name, position, vector }: this row of that value is replaced.
  // off: names of parts, of those that switchesOf lists.
  constructor({ values = [], patches = [], off = [] } = {}) {
    this.wanted = values;
    this.patches = patches;
    this.off = new Set(off);
    this.kept = new Map();
    this.targetPositions = []; // of the rows that the decoder computes
    this.isBlind = patches.length === 0 && values !== null && values.length === 0;
  }

  isOff(name) {
    return this.off.size > 0 && this.off.has(name);
  }

  see(name, value) {
    if (this.isBlind) return value;
    const seen = this.patched(name, value);
    if (this.wants(name)) this.kept.set(name, new Tensor(seen.shape, seen.data.slice()));
    return seen;
  }

  wants(name) {
    return this.wanted === null
      || this.wanted.some((wanted) => name === wanted || name.startsWith(`${wanted}.`));
  }

  patched(name, value) {
    const patches = this.patches.filter((patch) => patch.name === name);
    if (patches.length === 0) return value;
    const changed = new Tensor(value.shape, value.data.slice());
    const isSource = /^(source_|encoder\.)/.test(name), width = value.data.length / value.shape[0];
    for (const { position, vector } of patches) {
      if (vector.length !== width)
        throw new RangeError(`a patch of ${name} must have ${width} numbers, got ${vector.length}`);
      for (let row = 0; row < value.shape[0]; row++)
        if ((isSource ? row : this.targetPositions[row]) === position)
          changed.at(row).data.set(vector);
    }
    return changed;
  }
}

const NOTHING_TO_SEE = new Watch();

// Everything in a model that can be switched off.
function switchesOf({ encoder, decoder }) {
  const names = ["source_positions", "target_positions", "causal_mask"];
  for (const layer of [...encoder.layers, ...decoder.layers])
    for (const part of Object.values(layer)) {
      names.push(part instanceof AddAndNorm ? `${part.name}.residual` : part.name);
      for (let head = 0; head < (part.num_heads ?? 0); head++)
        names.push(`${part.name}.heads.${head}`);
    }
  return names;
}
