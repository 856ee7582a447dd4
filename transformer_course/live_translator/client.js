// The page's side: the translator computes in a worker, so that the page never stands still.
//
//   const engine = await startEngine({ weights, tokenizer });
//
// weights is the ArrayBuffer of a model.safetensors, which the worker takes over; tokenizer is the
// text of a tokenizer.json. A page from a disk may not load files: bytesOfBase64 makes a buffer of
// text.
//
//   engine.config    sizes and switches, as TransformerConfig
//   engine.tokens    the readable piece of every id; ▁ is a space
//   engine.switches  the names that `off` takes
//   engine.close()   ends the worker
//
// The others return promises. Every text and token only ever becomes text: write no markup of it.
//
//   encode(text)     { ids, tokens }
//   decode(ids)      { text }
//   neighbors(id, options)
//                    { neighbors: [{ id, token, cosine }] }: the tokens whose rows of the embedding
//                    table are most like that of id, the most similar first. Options: count; side,
//                    source or target
//
//   translate(text, options)
//                    { text, sourceIds, sourceTokens, targetIds, targetTokens, finished,
//                    logProbability, hypotheses, seed }; without start and end. hypotheses: best
//                    first, each { ids, tokens, text, logProbability, finished }, of a beam also
//                    its score; seed: of sampling. Options:
//       width        hypotheses of a beam, 1 is greedy search;  alpha, numBest: as in beam_search
//       temperature  given, every token is drawn;  topK, topP, minP: cuts;  seed: the same again
//       begin        target ids that are given: the sentence goes on from there
//       endLoops     false lets it repeat itself
//       candidates   how many of the likeliest next tokens each step tells
//       onStep(step) called while it writes. Of greedy search and sampling: { step, id, token,
//                    ids, text, candidates }; of a beam: { step, branches }, most probable first,
//                    each { parent, id, token, logProbability, score, finished, continues }, where
//                    parent is a place among the branches of the step before
//
//   candidates(text, options)
//                    { candidates: [{ id, token, logit, probability }] }, the likeliest first.
//                    Options: begin, count; temperature, topK, topP and minP, with which the
//                    probability is computed
//
//   look(text, options)
//                    { sourceIds, sourceTokens, targetIds, targetTokens, values } of one pass over
//                    the whole target, start first. values: { shape, data } by name. Options:
//       target       what the decoder reads after the start; without it, what translate writes
//       values       the beginnings of the names that are wanted; without it, all
//
// The last three also take
//       off          what is switched off: see engine.switches
//       patches      [{ name, position, vector }]: there this value's row is replaced by the vector
//       signal       of an AbortController: the promise is rejected, and the worker stops
//
// Values have the names of PyTorch's modules, counted from 0. With n positions of the source:
//
//   source_embedding.rows, source_embedding       (n, d_model), before and after × √d_model
//   source_positions, source_input                (n, d_model), and the sum, which layer 0 reads
//   encoder.layers.0.around_self_attention.norm   (n, d_model), what LayerNorm has made
//   encoder.layers.0.self_attention.queries       (heads, n, d_head), likewise keys and values
//   … .scores, .weights                           (heads, query, key), before the mask and after
//   … .mask                                       (query, key), 0 is hidden; where there is a mask
//   … .heads                                      (heads, query, d_head), the weighted values
//   encoder.layers.0.self_attention               (n, d_model), the sub-layer's output
//   encoder.layers.0.around_self_attention        (n, d_model), after Add & Norm
//   encoder.layers.0.feed_forward.hidden          (n, d_ff), after ReLU
//   encoder.final_norm                            (n, d_model), the memory
//   logits                                        (m, vocabulary)
//
// and so on for the target, the decoder and its cross_attention. Row t of the target reads token t
// and predicts the next.

function startEngine({ weights, tokenizer }) {
  const source = `(${transformerEngine})().answerMessages(self)`;
  const address = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  const worker = new Worker(address);
  const waiting = new Map();
  let calls = 0;

  worker.onmessage = ({ data: { id, step, result, error } }) => {
    const call = waiting.get(id);
    if (!call) return; // it was cancelled
    if (step) return call.onStep?.(step);
    waiting.delete(id);
    if (error) call.reject(Object.assign(new Error(error.message), { name: error.name }));
    else call.resolve(result);
  };
  worker.onerror = ({ message }) => {
    const error = new Error(message ?? "the worker has stopped");
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  };

  function ask(method, given, { onStep, signal, transfer = [] } = {}) {
    return new Promise((resolve, reject) => {
      const id = calls++;
      signal?.throwIfAborted();
      waiting.set(id, { resolve, reject, onStep });
      signal?.addEventListener("abort", () => {
        if (waiting.delete(id)) worker.postMessage({ id, method: "cancel" });
        reject(signal.reason);
      }, { once: true });
      worker.postMessage({ id, method, given }, transfer);
    });
  }
  const withOptions = (method) => (text, { onStep, signal, ...options } = {}) =>
    ask(method, [text, options], { onStep, signal });

  return ask("load", [{ weights, tokenizer }], { transfer: [weights] }).then((loaded) => ({
    ...loaded,
    encode: (text) => ask("encode", [text]),
    decode: (ids) => ask("decode", [ids]),
    translate: withOptions("translate"),
    candidates: withOptions("candidates"),
    look: withOptions("look"),
    neighbors: (id, options) => ask("neighbors", [id, options]),
    close: () => {
      worker.terminate();
      URL.revokeObjectURL(address);
    },
  }), (error) => {
    worker.terminate();
    throw error;
  });
}

function bytesOfBase64(text) {
  const characters = atob(text), bytes = new Uint8Array(characters.length);
  for (let at = 0; at < bytes.length; at++) bytes[at] = characters.charCodeAt(at);
  return bytes.buffer;
}
