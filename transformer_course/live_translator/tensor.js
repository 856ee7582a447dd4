// Tensors: numbers in one flat array, with a shape, and the arithmetic that the model consists of.
// PyTorch's axes without the first: one sentence at a time, so (position, d_model).

class Tensor {
  constructor(shape, data = new Float32Array(shape.reduce((size, axis) => size * axis, 1))) {
    this.shape = shape;
    this.data = data;
  }

  // Some neighbors along the first axis: the same numbers, not a copy.
  slice(from, to) {
    const size = this.data.length / (this.shape[0] || 1);
    return new Tensor([to - from, ...this.shape.slice(1)],
      this.data.subarray(from * size, to * size));
  }

  // One of the first axis.
  at(index) {
    const { shape, data } = this.slice(index, index + 1);
    return new Tensor(shape.slice(1), data);
  }

  // One of several equal parts of the first axis.
  part(number, count) {
    const size = this.shape[0] / count;
    return this.slice(number * size, (number + 1) * size);
  }
}

function stacked(tensors) {
  if (tensors.length === 1) return tensors[0];
  const rows = tensors.reduce((sum, { shape }) => sum + shape[0], 0);
  const result = new Tensor([rows, ...tensors[0].shape.slice(1)]);
  let at = 0;
  for (const { data } of tensors) {
    result.data.set(data, at);
    at += data.length;
  }
  return result;
}

const zerosLike = ({ shape }) => new Tensor(shape);

// Written as loops: a callback for every number would leave a heap of garbage.
function add(x, y) {
  const result = zerosLike(x);
  for (let at = 0; at < result.data.length; at++) result.data[at] = x.data[at] + y.data[at];
  return result;
}

function scale(x, factor) {
  const result = zerosLike(x);
  for (let at = 0; at < result.data.length; at++) result.data[at] = x.data[at] * factor;
  return result;
}

function relu(x) {
  const result = zerosLike(x);
  for (let at = 0; at < result.data.length; at++) result.data[at] = Math.max(0, x.data[at]);
  return result;
}

// x Wᵀ: x of shape (row, input), W of shape (output, input); both may have a first axis of heads.
// Nearly all of the time is spent here, so two rows meet four outputs at once: each number that is
// loaded serves several products.
function matmulTransposed(x, weight) {
  const [rows, inputs] = x.shape.slice(-2), outputs = weight.shape.at(-2);
  const result = new Tensor([...x.shape.slice(0, -1), outputs]);
  const heads = x.shape.length > 2 ? x.shape[0] : 1;
  for (let head = 0; head < heads; head++) {
    const w = head * outputs * inputs, end = (head + 1) * rows;
    let row = head * rows;
    for (; row + 1 < end; row += 2)
      twoRows(x.data, row * inputs, weight.data, w, result.data, row * outputs, inputs, outputs);
    if (row < end)
      oneRow(x.data, row * inputs, weight.data, w, result.data, row * outputs, inputs, outputs);
  }
  return result;
}

// from, w and to are where the rows of x, weight and result begin.
function oneRow(x, from, weight, w, result, to, inputs, outputs) {
  let output = 0;
  for (; output + 3 < outputs; output += 4) {
    const w0 = w + output * inputs, w1 = w0 + inputs, w2 = w1 + inputs, w3 = w2 + inputs;
    let a = 0, b = 0, c = 0, d = 0;
    for (let i = 0; i < inputs; i++) {
      const number = x[from + i];
      a += number * weight[w0 + i];
      b += number * weight[w1 + i];
      c += number * weight[w2 + i];
      d += number * weight[w3 + i];
    }
    result[to + output] = a;
    result[to + output + 1] = b;
    result[to + output + 2] = c;
    result[to + output + 3] = d;
  }
  for (; output < outputs; output++) {
    let sum = 0;
    for (let i = 0; i < inputs; i++) sum += x[from + i] * weight[w + output * inputs + i];
    result[to + output] = sum;
  }
}

function twoRows(x, from, weight, w, result, to, inputs, outputs) {
  const next = from + inputs, below = to + outputs;
  let output = 0;
  for (; output + 3 < outputs; output += 4) {
    const w0 = w + output * inputs, w1 = w0 + inputs, w2 = w1 + inputs, w3 = w2 + inputs;
    let a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0;
    for (let i = 0; i < inputs; i++) {
      const number = x[from + i], other = x[next + i];
      const p = weight[w0 + i], q = weight[w1 + i], r = weight[w2 + i], s = weight[w3 + i];
      a += number * p;
      b += number * q;
      c += number * r;
      d += number * s;
      e += other * p;
      f += other * q;
      g += other * r;
      h += other * s;
    }
    result[to + output] = a;
    result[to + output + 1] = b;
    result[to + output + 2] = c;
    result[to + output + 3] = d;
    result[below + output] = e;
    result[below + output + 1] = f;
    result[below + output + 2] = g;
    result[below + output + 3] = h;
  }
  for (; output < outputs; output++) {
    let sum = 0, other = 0;
    for (let i = 0; i < inputs; i++) {
      sum += x[from + i] * weight[w + output * inputs + i];
      other += x[next + i] * weight[w + output * inputs + i];
    }
    result[to + output] = sum;
    result[below + output] = other;
  }
}

// x y, head by head: x of shape (heads, row, inner), y of shape (heads, inner, column).
function matmul(x, y) {
  const [heads, rows, inner] = x.shape, columns = y.shape[2];
  const result = new Tensor([heads, rows, columns]), sums = result.data;
  for (let row = 0; row < heads * rows; row++) {
    const head = Math.floor(row / rows), to = row * columns;
    for (let i = 0; i < inner; i++) {
      const factor = x.data[row * inner + i], from = (head * inner + i) * columns;
      for (let column = 0; column < columns; column++)
        sums[to + column] += factor * y.data[from + column];
    }
  }
  return result;
}

// Along the last axis. A mask of shape (query, key) has a 0 where a query may not attend to a key;
// the row of a query that may attend to nothing is all zero.
function softmax(scores, mask = null) {
  const result = new Tensor(scores.shape), size = scores.shape.at(-1);
  for (let from = 0; from < scores.data.length; from += size) {
    const row = mask && from % mask.data.length;
    const isAllowed = (i) => !mask || mask.data[row + i] === 1;
    let largest = -Infinity, sum = 0;
    for (let i = 0; i < size; i++)
      if (isAllowed(i)) largest = Math.max(largest, scores.data[from + i]);
    for (let i = 0; i < size; i++)
      if (isAllowed(i)) sum += result.data[from + i] = Math.exp(scores.data[from + i] - largest);
    for (let i = 0; i < size && sum > 0; i++) result.data[from + i] /= sum;
  }
  return result;
}
