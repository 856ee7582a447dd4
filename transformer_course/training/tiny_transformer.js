// A tiny Transformer that learns in a page: every layer with its way forward and its way back.
//
// It is one stack with a causal mask, one head, post-norm as in the paper. Vectors of all positions
// of all sequences stand one after the other in one array. `backward` gets the gradient of the loss
// with respect to what `forward` gave; it adds to the gradients of the weights, and returns the
// gradient with respect to what `forward` got.

class Parameter {
  constructor(size, draw) {
    this.value = Float64Array.from({ length: size }, draw);
    [this.gradient, this.mean, this.square] = [0, 0, 0].map(() => new Float64Array(size));
  }
}

class Linear {
  constructor(inputs, outputs, luck) {
    const limit = Math.sqrt(6 / (inputs + outputs)); // Xavier's rule
    Object.assign(this, { inputs, outputs });
    this.weight = new Parameter(inputs * outputs, () => limit * (2 * luck() - 1));
    this.bias = new Parameter(outputs, () => 0);
    this.parameters = [this.weight, this.bias];
  }

  forward(x) {
    const { inputs, outputs } = this, w = this.weight.value, b = this.bias.value;
    const rows = x.length / inputs, y = new Float64Array(rows * outputs);
    for (let row = 0; row < rows; row++) {
      const to = row * outputs;
      for (let o = 0; o < outputs; o++) y[to + o] = b[o];
      for (let i = 0; i < inputs; i++) {
        const each = x[row * inputs + i], from = i * outputs;
        for (let o = 0; o < outputs; o++) y[to + o] += each * w[from + o];
      }
    }
    this.x = x;
    return y;
  }

  backward(dy) {
    const { inputs, outputs, x } = this, w = this.weight.value, dw = this.weight.gradient;
    const rows = x.length / inputs, dx = new Float64Array(x.length), db = this.bias.gradient;
    for (let row = 0; row < rows; row++) {
      const at = row * outputs;
      for (let o = 0; o < outputs; o++) db[o] += dy[at + o];
      for (let i = 0; i < inputs; i++) {
        const each = x[row * inputs + i], from = i * outputs;
        let sum = 0;
        for (let o = 0; o < outputs; o++) {
          dw[from + o] += each * dy[at + o];
          sum += dy[at + o] * w[from + o];
        }
        dx[row * inputs + i] = sum;
      }
    }
    return dx;
  }
}

class LayerNorm {
  constructor(width) {
    this.gain = new Parameter(width, () => 1);
    this.bias = new Parameter(width, () => 0);
    this.parameters = [this.gain, this.bias];
  }

  forward(x) {
    const g = this.gain.value, b = this.bias.value, width = g.length;
    const y = new Float64Array(x.length);
    this.normed = new Float64Array(x.length);
    this.deviation = new Float64Array(x.length / width);
    for (let row = 0; row < this.deviation.length; row++) {
      const at = row * width;
      let mean = 0, square = 0;
      for (let i = 0; i < width; i++) mean += x[at + i] / width;
      for (let i = 0; i < width; i++) square += (x[at + i] - mean) ** 2 / width;
      this.deviation[row] = Math.sqrt(square + 1e-5);
      for (let i = 0; i < width; i++) {
        this.normed[at + i] = (x[at + i] - mean) / this.deviation[row];
        y[at + i] = g[i] * this.normed[at + i] + b[i];
      }
    }
    return y;
  }

  backward(dy) {
    const g = this.gain.value, width = g.length, { normed } = this;
    const dx = new Float64Array(dy.length);
    for (let row = 0; row < this.deviation.length; row++) {
      const at = row * width;
      let mean = 0, along = 0; // of the gradient, and of its part along the normed vector
      for (let i = 0; i < width; i++) {
        this.gain.gradient[i] += dy[at + i] * normed[at + i];
        this.bias.gradient[i] += dy[at + i];
        mean += g[i] * dy[at + i] / width;
        along += g[i] * dy[at + i] * normed[at + i] / width;
      }
      for (let i = 0; i < width; i++)
        dx[at + i] = (g[i] * dy[at + i] - mean - normed[at + i] * along) / this.deviation[row];
    }
    return dx;
  }
}

class Attention {
  constructor(width, length, luck) {
    Object.assign(this, { width, length });
    [this.query, this.key, this.value, this.output] =
      [0, 0, 0, 0].map(() => new Linear(width, width, luck));
    this.parameters = [this.query, this.key, this.value, this.output]
      .flatMap(({ parameters }) => parameters);
  }

  forward(x) {
    const { width, length } = this, root = Math.sqrt(width);
    [this.q, this.k, this.v] = [this.query, this.key, this.value].map((each) => each.forward(x));
    const { q, k, v } = this, gathered = new Float64Array(x.length);
    this.weights = new Float64Array(x.length / width * length);
    for (let row = 0; row < x.length / width; row++) {
      const first = row - row % length, at = row * length; // of its sequence, of its weights
      let highest = -Infinity, total = 0;
      for (let key = first; key <= row; key++) { // the causal mask
        let score = 0;
        for (let i = 0; i < width; i++) score += q[row * width + i] * k[key * width + i];
        this.weights[at + key - first] = score / root;
        highest = Math.max(highest, score / root);
      }
      const shift = Math.abs(highest) > 700 ? highest : 0; // else powers are Infinity, or all 0
      for (let i = at; i <= at + row - first; i++)
        total += this.weights[i] = Math.exp(this.weights[i] - shift);
      for (let key = first; key <= row; key++) {
        const weight = this.weights[at + key - first] /= total;
        for (let i = 0; i < width; i++) gathered[row * width + i] += weight * v[key * width + i];
      }
    }
    return this.output.forward(gathered);
  }

  backward(dy) {
    const { width, length, q, k, v, weights } = this, root = Math.sqrt(width);
    const dGathered = this.output.backward(dy), dWeight = new Float64Array(length);
    const [dq, dk, dv] = [q, k, v].map((each) => new Float64Array(each.length));
    for (let row = 0; row < q.length / width; row++) {
      const first = row - row % length, at = row * length;
      let mean = 0;
      for (let key = first; key <= row; key++) {
        const weight = weights[at + key - first];
        let sum = 0;
        for (let i = 0; i < width; i++) {
          sum += dGathered[row * width + i] * v[key * width + i];
          dv[key * width + i] += weight * dGathered[row * width + i];
        }
        dWeight[key - first] = sum;
        mean += weight * sum;
      }
      for (let key = first; key <= row; key++) {
        const dScore = weights[at + key - first] * (dWeight[key - first] - mean) / root;
        for (let i = 0; i < width; i++) {
          dq[row * width + i] += dScore * k[key * width + i];
          dk[key * width + i] += dScore * q[row * width + i];
        }
      }
    }
    const dx = this.query.backward(dq);
    for (const part of [this.key.backward(dk), this.value.backward(dv)]) add(dx, part);
    return dx;
  }
}

class FeedForward {
  constructor(width, inner, luck) {
    this.expand = new Linear(width, inner, luck);
    this.contract = new Linear(inner, width, luck);
    this.parameters = [...this.expand.parameters, ...this.contract.parameters];
  }

  forward(x) {
    this.hidden = this.expand.forward(x).map((each) => Math.max(each, 0));
    return this.contract.forward(this.hidden);
  }

  backward(dy) {
    const { hidden } = this;
    return this.expand.backward(this.contract.backward(dy).map((each, i) =>
      (hidden[i] > 0 ? each : 0)));
  }
}

const add = (to, more) => more.forEach((each, i) => (to[i] += each));

class AddAndNorm {
  constructor(width, part) {
    this.part = part;
    this.norm = new LayerNorm(width);
    this.parameters = [...part.parameters, ...this.norm.parameters];
  }

  forward(x) {
    const sum = this.part.forward(x);
    add(sum, x);
    return this.norm.forward(sum);
  }

  backward(dy) {
    const dSum = this.norm.backward(dy), dx = this.part.backward(dSum);
    add(dx, dSum);
    return dx;
  }
}

const ARROW = 10; // the token after the digits 0 to 9

// It reads digits and an arrow, and writes the same digits in reverse.
class Transformer {
  constructor({ digits, width, inner, layers, luck }) {
    const length = 2 * digits;
    Object.assign(this, { digits, width, length });
    this.rows = new Parameter((ARROW + 1) * width, () => (luck() - 0.5) * Math.sqrt(12 / width));
    this.stack = Array.from({ length: layers }).flatMap(() => [
      new AddAndNorm(width, new Attention(width, length, luck)),
      new AddAndNorm(width, new FeedForward(width, inner, luck))]);
    this.project = new Linear(width, 10, luck);
    this.parameters = [this.rows, ...this.stack.flatMap(({ parameters }) => parameters),
      ...this.project.parameters];
    this.step = 0;
  }

  // ids: of all sequences, (sequence × position). Logits of the next digit, from the arrow on.
  forward(ids) {
    const { width, length, digits } = this, root = Math.sqrt(width);
    const x = new Float64Array(ids.length * width);
    ids.forEach((id, row) => {
      for (let i = 0; i < width; i++) {
        const angle = row % length / 10_000 ** ((i - i % 2) / width);
        x[row * width + i] = root * this.rows.value[id * width + i]
          + (i % 2 ? Math.cos(angle) : Math.sin(angle));
      }
    });
    this.ids = ids;
    const last = this.stack.reduce((vectors, layer) => layer.forward(vectors), x);
    return this.project.forward(last.filter((_, i) => Math.floor(i / width) % length >= digits));
  }

  backward(dLogits) {
    const { width, length, digits, ids } = this, root = Math.sqrt(width);
    const dLast = new Float64Array(ids.length * width), part = this.project.backward(dLogits);
    for (let i = 0, from = 0; i < dLast.length; i++)
      if (Math.floor(i / width) % length >= digits) dLast[i] = part[from++];
    const dx = this.stack.reduceRight((gradient, layer) => layer.backward(gradient), dLast);
    dx.forEach((each, i) =>
      (this.rows.gradient[ids[Math.floor(i / width)] * width + i % width] += root * each));
  }

  // The mean cross-entropy; the gradients are there afterwards.
  loss(ids, labels) {
    for (const { gradient } of this.parameters) gradient.fill(0);
    const logits = this.forward(ids), dLogits = new Float64Array(logits.length);
    let loss = 0;
    labels.forEach((label, row) => {
      const own = logits.subarray(10 * row, 10 * row + 10), most = Math.max(...own);
      const powers = own.map((each) => Math.exp(each - most));
      const total = powers.reduce((sum, each) => sum + each, 0);
      loss -= (own[label] - most - Math.log(total)) / labels.length;
      powers.forEach((each, id) =>
        (dLogits[10 * row + id] = (each / total - (id === label)) / labels.length));
    });
    this.backward(dLogits);
    return loss;
  }

  // Greedy: what it writes for each list of digits.
  write(given) {
    const { digits, length } = this;
    const ids = given.flatMap((each) => [...each, ARROW, ...Array(digits - 1).fill(0)]);
    const written = given.map(() => []);
    for (let at = 0; at < digits; at++) {
      const logits = this.forward(ids);
      written.forEach((own, number) => {
        const from = 10 * (number * digits + at), next = logits.subarray(from, from + 10);
        own.push(next.indexOf(Math.max(...next)));
        if (at + 1 < digits) ids[number * length + digits + 1 + at] = own[at];
      });
    }
    return written;
  }

  // Adam with the paper's settings.
  update(rate) {
    this.step += 1;
    const first = 1 - 0.9 ** this.step, second = 1 - 0.98 ** this.step;
    for (const { value, gradient, mean, square } of this.parameters)
      for (let i = 0; i < value.length; i++) {
        mean[i] = 0.9 * mean[i] + 0.1 * gradient[i];
        square[i] = 0.98 * square[i] + 0.02 * gradient[i] ** 2;
        value[i] -= rate * mean[i] / first / (Math.sqrt(square[i] / second) + 1e-9);
      }
  }
}
