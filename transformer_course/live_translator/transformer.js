// The Transformer of transformer_edu/model, class by class, for one sentence at a time. What
// lessons 01 to 09 build is here under the same names. It only computes what is needed to use a
// trained model: no dropout, no gradients, no padding.
//
// A module knows its name, such as "encoder.layers.0.self_attention", and reads its weights by it.
// Every value passes a watch on its way: watch.see("encoder.layers.0", x) returns x, and may keep a
// copy, or return something else.

class Linear {
  constructor(name, weights) {
    this.weight = weights.get(`${name}.weight`); // (output, input)
    this.bias = weights.find(`${name}.bias`);
  }

  forward(x) {
    const result = matmulTransposed(x, this.weight), { data } = result;
    if (!this.bias) return result;
    const bias = this.bias.data, size = bias.length;
    for (let row = 0; row < data.length; row += size)
      for (let i = 0; i < size; i++) data[row + i] += bias[i];
    return result;
  }
}

const EPSILON = 1e-5; // as in torch.nn.LayerNorm

class LayerNorm {
  constructor(name, weights) {
    this.name = name;
    this.weight = weights.get(`${name}.weight`).data;
    this.bias = weights.get(`${name}.bias`).data;
  }

  forward(x, watch) {
    const result = zerosLike(x), size = this.weight.length;
    for (let row = 0; row < x.data.length; row += size) {
      let mean = 0, variance = 0;
      for (let i = 0; i < size; i++) mean += x.data[row + i] / size;
      for (let i = 0; i < size; i++) variance += (x.data[row + i] - mean) ** 2 / size;
      const deviation = Math.sqrt(variance + EPSILON);
      for (let i = 0; i < size; i++)
        result.data[row + i] = (x.data[row + i] - mean) / deviation * this.weight[i] + this.bias[i];
    }
    return watch.see(this.name, result);
  }
}

// ---- vectors for tokens and positions (paper §3.4, §3.5) ------------------------------------

class TokenEmbedding {
  constructor(name, weights, { d_model, scale_embeddings = true }) {
    this.name = name;
    this.table = weights.get(`${name}.table.weight`); // (vocabulary, d_model)
    this.scale = scale_embeddings ? Math.sqrt(d_model) : 1;
  }

  forward(tokenIds, name, watch) {
    const rows = stacked(tokenIds.map((id) => this.table.slice(id, id + 1)));
    return watch.see(name, scale(watch.see(`${name}.rows`, rows), this.scale));
  }
}

class PositionalEncoding {
  constructor({ d_model, max_length, position_order }) {
    this.table = new Tensor([max_length, d_model]);
    const half = Math.ceil(d_model / 2), halves = position_order === "halves";
    for (let position = 0; position < max_length; position++)
      for (let i = 0; i < half; i++) {
        const angle = position / 10_000 ** (2 * i / d_model), row = position * d_model;
        this.table.data[row + (halves ? i : 2 * i)] = Math.sin(angle);
        if (2 * i + 1 < d_model) // an odd width has a sine more
          this.table.data[row + (halves ? half + i : 2 * i + 1)] = Math.cos(angle);
      }
  }

  // The encodings of some positions, one row each.
  forward(positions, name, watch) {
    const rows = stacked(positions.map((position) => this.table.slice(position, position + 1)));
    return watch.see(name, watch.isOff(name) ? zerosLike(rows) : rows);
  }
}

// ---- attention (paper §3.2) -----------------------------------------------------------------

// True, a 1, where the key is not later than the query; the queries are the last positions.
function causalMask(length, queries = length) {
  const mask = new Tensor([queries, length]);
  for (let query = 0; query < queries; query++)
    mask.data.fill(1, query * length, query * length + length - queries + query + 1);
  return mask;
}

// softmax(query keyᵀ / √d_head) value for each head, paper eq. 1: all of shape (heads, position,
// d_head). see(name, value) as of a watch.
function scaledDotProductAttention(query, key, value, mask, see) {
  const d_head = query.shape.at(-1);
  const scores = see("scores", scale(matmulTransposed(query, key), 1 / Math.sqrt(d_head)));
  if (mask) see("mask", mask);
  const weights = see("weights", softmax(scores, mask)); // (heads, query, key)
  return see("heads", matmul(weights, value));
}

class MultiHeadAttention {
  constructor(name, weights, { num_heads }) {
    this.name = name;
    this.num_heads = num_heads;
    this.query_projection = new Linear(`${name}.query_projection`, weights);
    this.key_projection = new Linear(`${name}.key_projection`, weights);
    this.value_projection = new Linear(`${name}.value_projection`, weights);
    this.output_projection = new Linear(`${name}.output_projection`, weights);
  }

  // query: (query, d_model); key and value: (key, d_model), those that the caches have not seen.
  // Several caches share the rows out among them: each hypothesis of a beam has a past of its own.
  forward(query, key, value, { mask = null, caches = [new KeyValueCache()], watch }) {
    const see = (what, tensor) => watch.see(`${this.name}.${what}`, tensor);
    const projected = [this.query_projection.forward(query), this.key_projection.forward(key),
      this.value_projection.forward(value)];
    const gathered = caches.map((cache, number) => {
      const [queries, newKeys, newValues] = projected.map((x) =>
        splitHeads(x.part(number, caches.length), this.num_heads));
      const [keys, values] = cache.add(newKeys, newValues);
      const heads = scaledDotProductAttention(
        see("queries", queries), see("keys", keys), see("values", values), mask, see);
      for (let head = 0; head < this.num_heads; head++)
        if (watch.isOff(`${this.name}.heads.${head}`)) heads.at(head).data.fill(0);
      return mergeHeads(heads);
    });
    const output = this.output_projection.forward(stacked(gathered));
    return watch.see(this.name, watch.isOff(this.name) ? zerosLike(output) : output);
  }
}

// (position, d_model) to (heads, position, d_head)
function splitHeads(x, num_heads) {
  const [positions, d_model] = x.shape, d_head = d_model / num_heads;
  const result = new Tensor([num_heads, positions, d_head]);
  for (let head = 0, to = 0; head < num_heads; head++)
    for (let position = 0; position < positions; position++, to += d_head) {
      const from = position * d_model + head * d_head;
      result.data.set(x.data.subarray(from, from + d_head), to);
    }
  return result;
}

// (heads, position, d_head) back to (position, d_model)
function mergeHeads(x) {
  const [heads, positions, d_head] = x.shape, result = new Tensor([positions, heads * d_head]);
  for (let head = 0, from = 0; head < heads; head++)
    for (let position = 0; position < positions; position++, from += d_head)
      result.data.set(x.data.subarray(from, from + d_head), (position * heads + head) * d_head);
  return result;
}

// The keys and values of one attention, each (heads, position, d_head): computed once, and kept.
class KeyValueCache {
  constructor(keys = null, values = null) {
    this.keys = keys;
    this.values = values;
  }

  get length() {
    return this.keys ? this.keys.shape[1] : 0;
  }

  add(keys, values) {
    this.keys = this.keys ? longer(this.keys, keys) : keys;
    this.values = this.values ? longer(this.values, values) : values;
    return [this.keys, this.values];
  }

  copy() { // an array is never changed, so copies may share it
    return new KeyValueCache(this.keys, this.values);
  }
}

function longer(kept, added) {
  const [heads, positions, d_head] = kept.shape, more = added.shape[1];
  if (more === 0) return kept;
  const result = new Tensor([heads, positions + more, d_head]);
  for (let head = 0; head < heads; head++) {
    const to = head * (positions + more) * d_head;
    result.data.set(kept.at(head).data, to);
    result.data.set(added.at(head).data, to + positions * d_head);
  }
  return result;
}

// What a decoder keeps between steps: each hypothesis has its own past; all share the source.
class DecoderCache {
  constructor(num_layers, hypotheses) {
    this.length = 0; // positions of the target
    this.layers = Array.from({ length: num_layers }, () => ({
      self_attention: Array.from({ length: hypotheses }, () => new KeyValueCache()),
      cross_attention: [new KeyValueCache()],
    }));
  }

  // Keep these hypotheses, in this order; one may be taken twice.
  keep(rows) {
    for (const layer of this.layers)
      layer.self_attention = rows.map((row) => layer.self_attention[row].copy());
  }
}

// ---- the other sub-layers (paper §3.1, §3.3) ------------------------------------------------

class FeedForward {
  constructor(name, weights, { activation }) {
    if (activation !== "relu") throw new RangeError(`activation must be relu, got ${activation}`);
    this.name = name;
    this.widen = new Linear(`${name}.widen`, weights);
    this.narrow = new Linear(`${name}.narrow`, weights);
  }

  forward(x, watch) {
    const hidden = watch.see(`${this.name}.hidden`, relu(this.widen.forward(x)));
    const output = this.narrow.forward(hidden);
    return watch.see(this.name, watch.isOff(this.name) ? zerosLike(output) : output);
  }
}

class AddAndNorm {
  constructor(name, weights, { norm_first }) {
    this.name = name;
    this.norm_first = norm_first;
    this.norm = new LayerNorm(`${name}.norm`, weights);
  }

  forward(x, sublayer, watch) {
    const output = sublayer(this.norm_first ? this.norm.forward(x, watch) : x);
    const summed = watch.isOff(`${this.name}.residual`) ? output : add(x, output);
    return watch.see(this.name, this.norm_first ? summed : this.norm.forward(summed, watch));
  }
}

// ---- encoder and decoder (paper §3.1) -------------------------------------------------------

class EncoderLayer {
  constructor(name, weights, config) {
    this.self_attention = new MultiHeadAttention(`${name}.self_attention`, weights, config);
    this.feed_forward = new FeedForward(`${name}.feed_forward`, weights, config);
    this.around_self_attention = new AddAndNorm(`${name}.around_self_attention`, weights, config);
    this.around_feed_forward = new AddAndNorm(`${name}.around_feed_forward`, weights, config);
  }

  forward(x, watch) {
    x = this.around_self_attention.forward(
      x, (y) => this.self_attention.forward(y, y, y, { watch }), watch);
    return this.around_feed_forward.forward(x, (y) => this.feed_forward.forward(y, watch), watch);
  }
}

class DecoderLayer {
  constructor(name, weights, config) {
    this.self_attention = new MultiHeadAttention(`${name}.self_attention`, weights, config);
    this.cross_attention = new MultiHeadAttention(`${name}.cross_attention`, weights, config);
    this.feed_forward = new FeedForward(`${name}.feed_forward`, weights, config);
    this.around_self_attention = new AddAndNorm(`${name}.around_self_attention`, weights, config);
    this.around_cross_attention = new AddAndNorm(`${name}.around_cross_attention`, weights, config);
    this.around_feed_forward = new AddAndNorm(`${name}.around_feed_forward`, weights, config);
  }

  forward(x, memory, { mask, cache, watch }) {
    const own = { mask, caches: cache.self_attention, watch };
    const across = { caches: cache.cross_attention, watch };
    const unread = memory.slice(cache.cross_attention[0].length, memory.shape[0]);
    x = this.around_self_attention.forward(
      x, (y) => this.self_attention.forward(y, y, y, own), watch);
    x = this.around_cross_attention.forward(
      x, (y) => this.cross_attention.forward(y, unread, unread, across), watch);
    return this.around_feed_forward.forward(x, (y) => this.feed_forward.forward(y, watch), watch);
  }
}

// A stack of layers of one class. Pre-norm layers end in a normalization.
class Stack {
  constructor(name, Layer, count, weights, config) {
    this.layers = Array.from({ length: count }, (_, number) =>
      new Layer(`${name}.layers.${number}`, weights, config));
    const isNormed = config.final_norm ?? config.norm_first;
    this.final_norm = isNormed ? new LayerNorm(`${name}.final_norm`, weights) : null;
  }

  normalized(x, watch) {
    return this.final_norm ? this.final_norm.forward(x, watch) : x;
  }
}

class Encoder extends Stack {
  constructor(weights, config) {
    super("encoder", EncoderLayer, config.num_layers, weights, config);
  }

  forward(x, watch) {
    for (const layer of this.layers) x = layer.forward(x, watch);
    return this.normalized(x, watch);
  }
}

class Decoder extends Stack {
  constructor(weights, config) {
    const sizes = { ...config, num_heads: config.num_decoder_heads ?? config.num_heads };
    super("decoder", DecoderLayer, config.num_decoder_layers ?? config.num_layers, weights, sizes);
  }

  forward(x, memory, { mask, cache, watch }) {
    this.layers.forEach((layer, number) => {
      x = layer.forward(x, memory, { mask, cache: cache.layers[number], watch });
    });
    return this.normalized(x, watch);
  }
}

// ---- the whole model (paper §3, Figure 1) ---------------------------------------------------

class Transformer {
  constructor(weights) {
    const { config } = weights;
    this.config = config;
    this.source_embedding = new TokenEmbedding("source_embedding", weights, config);
    this.target_embedding = weights.find("target_embedding.table.weight")
      ? new TokenEmbedding("target_embedding", weights, config) : this.source_embedding;
    this.positions = new PositionalEncoding(config);
    this.encoder = new Encoder(weights, config);
    this.decoder = new Decoder(weights, config);
    this.output_projection = this.tied("output_projection", weights);
  }

  // One table for output and target (paper §3.4).
  tied(name, weights) {
    if (!this.config.tie_embeddings) return new Linear(name, weights);
    const table = this.target_embedding.table;
    return new Linear(name, { get: () => table, find: (bias) => weights.find(bias) });
  }

  // The source's ids to memory, (source position, d_model).
  encode(sourceIds, watch = NOTHING_TO_SEE) {
    const positions = sourceIds.map((_, position) => position);
    return this.encoder.forward(
      this.embed("source", this.source_embedding, sourceIds, positions, watch), watch);
  }

  // The newest ids of each hypothesis, which the cache has not seen, to vectors that predict what
  // comes next, (hypothesis · new position, d_model).
  decode(newIds, memory, cache = this.newCache(newIds.length), watch = NOTHING_TO_SEE) {
    const { length } = cache, count = newIds[0].length;
    const positions = newIds.flatMap((ids) => ids.map((_, number) => length + number));
    watch.targetPositions = positions;
    const x = this.embed("target", this.target_embedding, newIds.flat(), positions, watch);
    const isOpen = count === 1 || watch.isOff("causal_mask");
    const mask = isOpen ? null : causalMask(length + count, count);
    const decoded = this.decoder.forward(x, memory, { mask, cache, watch });
    cache.length += count;
    return decoded;
  }

  // Decoded vectors to logits, (position, vocabulary).
  project(decoded, watch = NOTHING_TO_SEE) {
    return watch.see("logits", this.output_projection.forward(decoded));
  }

  newCache(hypotheses) {
    return new DecoderCache(this.decoder.layers.length, hypotheses);
  }

  embed(side, embedding, tokenIds, positions, watch) {
    const embedded = embedding.forward(tokenIds, `${side}_embedding`, watch);
    return watch.see(`${side}_input`,
      add(embedded, this.positions.forward(positions, `${side}_positions`, watch)));
  }
}
