// The weights of a model in a file of the format safetensors: the length of a header, the header in
// JSON, which says where each tensor stands, and the numbers, most of them of 16 bits.

class Weights {
  constructor(config, tensors) {
    this.config = config; // as TransformerConfig
    this.tensors = tensors; // by the names of PyTorch's modules
  }

  get(name) {
    const tensor = this.tensors.get(name);
    if (!tensor) throw new RangeError(`the weights must have ${name}, got a file without it`);
    return tensor;
  }

  find(name) {
    return this.tensors.get(name) ?? null;
  }
}

function readWeights(buffer) {
  const { header, start } = readHeader(buffer);
  const { __metadata__: metadata = {}, ...entries } = header;
  const config = JSON.parse(metadata.transformer_edu ?? "{}").choices?.model;
  if (config?.class !== "Transformer")
    throw new RangeError("the weights must be a Transformer's, got another file");
  const tensors = new Map();
  for (const [name, { dtype, shape, data_offsets: [from, to] }] of Object.entries(entries)) {
    const bytes = buffer.slice(start + from, start + to);
    const numbers = bytes.byteLength === to - from ? numbersOf(dtype, bytes) : [];
    if (numbers.length !== shape.reduce((size, axis) => size * axis, 1))
      throw new RangeError(`the weights must be a whole file, got an incomplete ${name}`);
    tensors.set(name.replace(/^weights\./, ""), new Tensor(shape, numbers));
  }
  return new Weights(config, tensors);
}

function readHeader(buffer) {
  try {
    const start = 8 + Number(new DataView(buffer).getBigUint64(0, true));
    return { header: JSON.parse(new TextDecoder().decode(buffer.slice(8, start))), start };
  } catch {
    throw new RangeError("the weights must be a file of safetensors, got something else");
  }
}

function numbersOf(dtype, bytes) {
  if (dtype === "F32") return new Float32Array(bytes);
  if (dtype !== "F16") throw new RangeError(`the weights must be F16 or F32, got ${dtype}`);
  const halves = new Uint16Array(bytes), numbers = new Float32Array(halves.length);
  for (let i = 0; i < halves.length; i++) numbers[i] = HALVES[halves[i]];
  return numbers;
}

// All numbers of 16 bits: a sign, five bits of exponent, ten of fraction.
const HALVES = Float32Array.from({ length: 2 ** 16 }, (_, bits) => {
  const sign = bits >> 15 ? -1 : 1, exponent = (bits >> 10) & 31, fraction = (bits & 1023) / 1024;
  if (exponent === 0) return sign * fraction * 2 ** -14;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (1 + fraction) * 2 ** (exponent - 15);
});
