// The Query-Reduction Network, equation by equation; query_reduction.qrn.network is the same in PyTorch.
const sigmoid = (value) => 1 / (1 + Math.exp(-value));
const range = (count) => Array.from({ length: count }, (_, number) => number);
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

function numbersOf(base64) {
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  return Float32Array.from(range(bytes.length / 4), (at) => view.getFloat32(4 * at, true));
}

class Network {
  constructor(settings, longestSentence, weights) {
    Object.assign(this, settings); // layers, dimension, reset_gate, vector_gates, tied, forget_bias, gate_stretch, position_length
    this.longest = longestSentence;
    this.weights = Object.fromEntries(Object.entries(weights).map(([name, packed]) => [name, numbersOf(packed)]));
    this.gates = settings.vector_gates ? settings.dimension : 1;
  }

  encode(words) {
    const d = this.dimension;
    const longest = this.position_length === "task" ? this.longest : Math.max(words.length, 1);
    const vector = new Float64Array(d);
    words.forEach((word, place) => {
      for (let k = 0; k < d; k += 1) {
        const along = (k + 1) / d;
        vector[k] += this.weights.embedding[word * d + k] * (1 - along + ((place + 1) / longest) * (2 * along - 1));
      }
    });
    return vector;
  }

  // A gate of one sentence: one value, or one per unit.
  gate(similarity, weight, bias, at, less) {
    const d = this.dimension;
    return range(this.gates).map((unit) => {
      let sum = bias[at * this.gates + unit] - less;
      for (let k = 0; k < d; k += 1) sum += similarity[k] * weight[(at * this.gates + unit) * d + k];
      return sigmoid(sum);
    });
  }

  // An update gate can be exactly shut or open.
  stretched(gate) {
    return Math.min(Math.max(this.gate_stretch * gate - (this.gate_stretch - 1) / 2, 0), 1);
  }

  candidate(x, q, own) {
    const d = this.dimension;
    const { candidate_query: forQuery, candidate_sentence: forSentence, candidate_bias: bias } = this.weights;
    const made = new Float64Array(bias.subarray(own * d, (own + 1) * d));
    for (let k = 0; k < d; k += 1) {
      const row = (own * d + k) * d;
      for (let e = 0; e < d; e += 1) made[e] += q[k] * forQuery[row + e] + x[k] * forSentence[row + e];
    }
    return made.map(Math.tanh);
  }

  // h_t = (1 - z_t) h_{t-1} + z_t r_t c_t, forward or backward in time.
  reduce(update, reset, candidate, backward) {
    const order = backward ? range(update.length).reverse() : range(update.length);
    const states = [];
    let before = new Float64Array(this.dimension);
    for (const t of order) {
      const unit = (k) => (this.gates > 1 ? k : 0);
      before = before.map((h, k) => {
        const z = update[t][unit(k)];
        return (1 - z) * h + z * (reset ? reset[t][unit(k)] : 1) * candidate[t][k];
      });
      states[t] = before;
    }
    return states;
  }

  layer(number, x, q) {
    const own = this.tied ? 0 : number;
    const last = number === this.layers - 1;
    const { update_weight, update_bias, reset_weight, reset_bias } = this.weights;
    const similarity = x.map((vector, t) => vector.map((value, k) => value * q[t][k]));
    const update = similarity.map((s) => this.gate(s, update_weight, update_bias, own, this.forget_bias).map((z) => this.stretched(z)));
    const candidate = x.map((vector, t) => this.candidate(vector, q[t], own));
    const resets = !this.reset_gate || last ? [null, null]
      : [0, 1].map((direction) => similarity.map((s) => this.gate(s, reset_weight, reset_bias, 2 * own + direction, 0)));
    let reduced = this.reduce(update, resets[0], candidate, false);
    if (!last) {
      const backward = this.reduce(update, resets[1], candidate, true);
      reduced = reduced.map((vector, t) => vector.map((value, k) => value + backward[t][k]));
    }
    return { update, forward: resets[0], backward: resets[1], reduced };
  }

  read(sentences, question) {
    const x = sentences.map((words) => this.encode(words));
    const asked = this.encode(question);
    let q = x.map(() => asked);
    const layers = range(this.layers).map((number) => {
      const found = this.layer(number, x, q);
      q = found.reduced;
      return found;
    });
    const answer = q.at(-1) ?? new Float64Array(this.dimension);
    const rows = this.weights.answer_weight;
    const scores = range(rows.length / this.dimension).map((row) => answer.reduce((sum, value, k) => sum + value * rows[row * this.dimension + k], 0));
    return { layers, probabilities: softmax(scores), contributions: contributions(layers, sentences.length, this.gates) };
  }
}

function softmax(scores) {
  const most = Math.max(...scores);
  const powers = scores.map((score) => Math.exp(score - most));
  const sum = powers.reduce((total, power) => total + power, 0);
  return powers.map((power) => power / sum);
}

// How much each sentence contributed: the exact weights of query_reduction.qrn.contributions.
function contributions(layers, count, gates) {
  let above = range(count).map((t) => (t === count - 1 ? 1 : 0));
  const found = [];
  for (const [number, layer] of [...layers.entries()].reverse()) {
    const along = (order, reset) => {
      const carried = [];
      let previous = null;
      for (const t of order) {
        carried[t] = range(gates).map((unit) => above[t] + (previous === null ? 0 : (1 - layer.update[previous][unit]) * carried[previous][unit]));
        previous = t;
      }
      return carried.map((units, t) => units.map((value, unit) => (reset ? reset[t][unit] * value : value)));
    };
    const forward = along(range(count).reverse(), layer.forward);
    const backward = number === layers.length - 1 ? null : along(range(count), layer.backward);
    above = range(count).map((t) => mean(layer.update[t].map((z, unit) => z * (backward ? (forward[t][unit] + backward[t][unit]) / 2 : forward[t][unit]))));
    found.push(above);
  }
  return range(count).map((t) => mean(found.map((weights) => weights[t])));
}
