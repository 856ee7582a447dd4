// The worker's side: it answers the messages of client.js, and sends the steps on the way.

const LONGEST_SILENCE = 8; // ms of work between two looks at new messages

function answerMessages(scope) {
  let translator = null;
  const running = new Set();

  const methods = {
    load: (files) => {
      translator = loadTranslator(files);
      const { model, tokenizer, switches } = translator;
      return { config: model.config, tokens: tokenizer.names, switches };
    },
    encode: (text) => {
      const ids = translator.tokenizer.encode(text);
      return { ids, tokens: translator.tokenizer.tokens(ids) };
    },
    decode: (ids) => ({ text: translator.tokenizer.decode(ids) }),
    translate: (text, options) => translator.translate(text, options),
    candidates: (text, options) => translator.candidates(text, options),
    look: (text, options) => translator.look(text, options),
    neighbors: (id, options) => translator.neighbors(id, options),
  };

  scope.onmessage = async ({ data: { id, method, given } }) => {
    if (method === "cancel") return void running.delete(id);
    running.add(id);
    try {
      const answer = methods[method](...given);
      const result = answer?.next ? await drained(id, answer) : answer;
      if (running.has(id)) scope.postMessage({ id, result }, buffersOf(result));
    } catch ({ name, message }) {
      scope.postMessage({ id, error: { name, message } });
    } finally {
      running.delete(id);
    }
  };

  // What a generator returns; in between, new messages get their turn, and may cancel it.
  async function drained(id, generator) {
    for (let since = performance.now(); running.has(id);) {
      const { done, value } = generator.next();
      if (done) return value;
      scope.postMessage({ id, step: value });
      if (performance.now() - since < LONGEST_SILENCE) continue;
      await otherMessages();
      since = performance.now();
    }
    return null;
  }
}

// A message to oneself waits behind those that have come; a timer would wait for 4 ms.
function otherMessages() {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => (port1.close(), resolve());
    port2.postMessage(null);
  });
}

// They are handed over, not copied.
const buffersOf = (result) =>
  Object.values(result?.values ?? {}).map(({ data }) => data.buffer);
