// The model that learns: forward, backward and AdamW in double precision, and the texts it reads.
// All of it is one function that takes nothing from outside, so that its text is a worker's script.
// Nothing but + − × ÷ and √ decides a step: those are the same to the last digit in every browser.

/**
 * What is trained, as the lecture has it: vectors of D numbers, texts of which LENGTH symbols are
 * read. A layer's matrices have its outputs as rows, as torch's have.
 */
export function learner(D = 24, LENGTH = 20) {
  const BATCH = 16;
  const DECAY = 0.01;
  const BETAS = [0.9, 0.999];
  const EPS = 1e-8;
  const BASE = 9.210340371976184; // ln 10000, of the rotary speeds
  const TESTS = 60; // texts that no step has seen

  const FACTORIALS = new Float64Array(14).fill(1);
  for (let i = 2; i < 14; i++) FACTORIALS[i] = FACTORIALS[i - 1] / i;
  const TWOS = new Float64Array(1100).fill(1); // TWOS[k] = 2^−k
  for (let k = 1; k < 1100; k++) TWOS[k] = TWOS[k - 1] / 2;

  /** e^x for x ≤ 0, to the last digits. */
  function exp(x) {
    if (x < -745) return 0;
    const k = Math.round(-x * Math.LOG2E);
    const r = x + k * 0.6931471803691238 + k * 1.9082149292705877e-10; // ln 2 in two parts
    let sum = FACTORIALS[13];
    for (let i = 12; i >= 0; i--) sum = sum * r + FACTORIALS[i];
    return sum * TWOS[k];
  }

  /** The cosine and the sine of an angle from 0 to 1. */
  function turn(angle) {
    const square = angle * angle;
    let [cos, sin] = [1, 1];
    for (let i = 20; i > 0; i -= 2) {
      cos = 1 - (square * cos) / (i * (i - 1));
      sin = 1 - (square * sin) / (i * (i + 1));
    }
    return [cos, angle * sin];
  }

  /** Numbers from 0 to 1 that depend on a seed alone (mulberry32). */
  function random(seed) {
    let state = seed | 0;
    return () => {
      state = (state + 0x6d2b79f5) | 0;
      let t = Math.imul(state ^ (state >>> 15), 1 | state);
      t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
      return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    };
  }

  /** Texts that repeat themselves, each with a period of its own: LENGTH + 1 symbols each. */
  function texts({ symbols, from, to }, count, seed) {
    const next = random(seed);
    return Array.from({ length: count }, () => {
      const period = from + Math.floor(next() * (to - from + 1));
      const said = Array.from({ length: Math.min(period, LENGTH + 1) }, () => Math.floor(next() * symbols));
      return Int32Array.from({ length: LENGTH + 1 }, (_, i) => said[i % period]);
    });
  }

  const mixed = (seed, step) => Math.imul(seed + 1, 0x9e3779b1) ^ Math.imul(step + 1, 0x85ebca6b);

  /** How many numbers each matrix has, in the order of torch's parameters. */
  const sizes = ({ symbols, layers }) => [
    symbols * D,
    ...Array.from({ length: layers }, () => [3 * D * D, D * D]).flat(),
    symbols * D,
  ];

  /** All matrices as views of one array. */
  function cut(flat, settings) {
    let at = 0;
    return sizes(settings).map((size) => {
      at += size;
      return flat.subarray(at - size, at);
    });
  }

  const room = (settings) => new Float64Array(sizes(settings).reduce((sum, size) => sum + size, 0));

  /** Weights as torch would draw them: the embeddings about normal, the others uniform. */
  function drawn(settings) {
    const next = random(mixed(settings.seed, -1));
    const flat = room(settings);
    const parts = cut(flat, settings);
    const normal = () => {
      let sum = -6;
      for (let i = 0; i < 12; i++) sum += next();
      return sum;
    };
    parts.forEach((part, p) => {
      const bound = p === parts.length - 1 ? Math.sqrt(1 / D) : Math.sqrt(6 / (p % 2 ? 4 * D : 2 * D));
      for (let i = 0; i < part.length; i++) part[i] = p ? (2 * next() - 1) * bound : normal();
    });
    return flat;
  }

  /** The turns of each place, for the pairs of a head: cos, sin, cos, … */
  function turns(heads) {
    const pairs = D / heads / 2;
    const found = new Float64Array(LENGTH * pairs * 2);
    for (let i = 0; i < pairs; i++) {
      const [cos, sin] = turn(exp((-BASE * i) / pairs));
      let [c, s] = [1, 0];
      for (let place = 0; place < LENGTH; place++) {
        found[2 * (place * pairs + i)] = c;
        found[2 * (place * pairs + i) + 1] = s;
        [c, s] = [c * cos - s * sin, s * cos + c * sin];
      }
    }
    return found;
  }

  /** out = x Wᵀ: n rows of x, each with D numbers, and W with `outside` rows. */
  function product(x, w, out, n, outside) {
    for (let r = 0; r < n; r++) {
      for (let o = 0; o < outside; o += 4) {
        const last = outside - o - 1; // of a count that four does not divide, the last row stands in
        const [from, w0] = [r * D, o * D];
        const w1 = w0 + (last > 0 ? D : 0);
        const w2 = w0 + (last > 1 ? 2 * D : 0);
        const w3 = w0 + (last > 2 ? 3 * D : 0);
        let s0 = 0;
        let s1 = 0;
        let s2 = 0;
        let s3 = 0;
        for (let c = 0; c < D; c++) {
          const one = x[from + c];
          s0 += one * w[w0 + c];
          s1 += one * w[w1 + c];
          s2 += one * w[w2 + c];
          s3 += one * w[w3 + c];
        }
        const at = r * outside + o;
        out[at] = s0;
        if (last > 0) out[at + 1] = s1;
        if (last > 1) out[at + 2] = s2;
        if (last > 2) out[at + 3] = s3;
      }
    }
  }

  /** What a product hands back: dx += dy W and dW += dyᵀ x, two rows at a time. */
  function back(dy, x, w, dx, dw, n, outside) {
    for (let o = 0; o < outside; o++) {
      const at = o * D;
      for (let r = 0; r < n; r += 2) {
        const x0 = r * D;
        const x1 = r + 1 < n ? x0 + D : x0;
        const g0 = dy[r * outside + o];
        const g1 = r + 1 < n ? dy[(r + 1) * outside + o] : 0;
        for (let c = 0; c < D; c++) {
          const one = w[at + c];
          dw[at + c] += g0 * x[x0 + c] + g1 * x[x1 + c];
          dx[x0 + c] += g0 * one;
          dx[x1 + c] += g1 * one;
        }
      }
    }
  }

  /** Turn queries and keys by their places, or back. */
  function rotate(qkv, by, n, heads, way) {
    const pairs = D / heads / 2;
    for (let place = 0; place < n; place++) {
      for (let at = 0; at < D; at++) {
        const q = place * 3 * D + 2 * at; // queries and keys lie side by side: D pairs in all
        const t = 2 * (place * pairs + (at % pairs));
        const [cos, sin] = [by[t], way * by[t + 1]];
        const [a, b] = [qkv[q], qkv[q + 1]];
        qkv[q] = a * cos - b * sin;
        qkv[q + 1] = a * sin + b * cos;
      }
    }
  }

  /** Room for all that one text makes on its way. */
  function tape({ symbols, layers, heads }) {
    const make = (size) => new Float64Array(size);
    const each = () => ({
      qkv: make(LENGTH * 3 * D),
      weights: make(heads * LENGTH * LENGTH),
      mix: make(LENGTH * D),
      dqkv: make(LENGTH * 3 * D),
      dmix: make(LENGTH * D),
    });
    return {
      x: Array.from({ length: layers + 1 }, () => make(LENGTH * D)),
      layers: Array.from({ length: layers }, each),
      added: make(LENGTH * D),
      logits: make(LENGTH * symbols),
      p: make(LENGTH * symbols),
      total: make(LENGTH), // ln Σ e^logit of each place
      dx: make(LENGTH * D),
      flow: make(LENGTH), // of one row of weights
      by: turns(heads),
    };
  }

  /** Attention of one layer: its weights, and each head's mean of values, or zeros where it is off. */
  function attend({ qkv, weights, mix }, n, heads, off) {
    const d = D / heads;
    const scale = 1 / Math.sqrt(d);
    mix.fill(0);
    for (let h = 0; h < heads; h++) {
      for (let i = 0; i < n; i++) {
        const [q, row] = [i * 3 * D + h * d, (h * LENGTH + i) * LENGTH];
        let most = Number.NEGATIVE_INFINITY;
        for (let j = 0; j <= i; j++) {
          const k = j * 3 * D + D + h * d;
          let e = 0;
          for (let c = 0; c < d; c++) e += qkv[q + c] * qkv[k + c];
          weights[row + j] = e * scale;
          if (e * scale > most) most = e * scale;
        }
        let sum = 0;
        for (let j = 0; j <= i; j++) {
          weights[row + j] = exp(weights[row + j] - most);
          sum += weights[row + j];
        }
        for (let j = 0; j <= i; j++) {
          const a = weights[row + j] / sum;
          weights[row + j] = a;
          if (off[h]) continue;
          const v = j * 3 * D + 2 * D + h * d;
          for (let c = 0; c < d; c++) mix[i * D + h * d + c] += a * qkv[v + c];
        }
      }
    }
  }

  /** What attention hands back to queries, keys and values. */
  function attendBack({ qkv, weights, dmix, dqkv }, flow, n, heads, off) {
    const d = D / heads;
    const scale = 1 / Math.sqrt(d);
    dqkv.fill(0);
    for (let h = 0; h < heads; h++) {
      if (off[h]) continue;
      for (let i = 0; i < n; i++) {
        const [q, row, o] = [i * 3 * D + h * d, (h * LENGTH + i) * LENGTH, i * D + h * d];
        let mean = 0;
        for (let j = 0; j <= i; j++) {
          const v = j * 3 * D + 2 * D + h * d;
          let g = 0;
          for (let c = 0; c < d; c++) {
            g += dmix[o + c] * qkv[v + c];
            dqkv[v + c] += weights[row + j] * dmix[o + c];
          }
          flow[j] = g;
          mean += weights[row + j] * g;
        }
        for (let j = 0; j <= i; j++) {
          const k = j * 3 * D + D + h * d;
          const e = weights[row + j] * (flow[j] - mean) * scale; // softmax's Jacobian
          for (let c = 0; c < d; c++) {
            dqkv[q + c] += e * qkv[k + c];
            dqkv[k + c] += e * qkv[q + c];
          }
        }
      }
    }
  }

  /** Read n symbols of a text: fills the tape, and in `p` the probabilities of what comes next. */
  function forward(parts, tape, text, n, { symbols, layers, heads }, off) {
    for (let i = 0; i < n; i++) for (let c = 0; c < D; c++) tape.x[0][i * D + c] = parts[0][text[i] * D + c];
    for (let l = 0; l < layers; l++) {
      const [layer, x, after] = [tape.layers[l], tape.x[l], tape.x[l + 1]];
      product(x, parts[1 + 2 * l], layer.qkv, n, 3 * D);
      rotate(layer.qkv, tape.by, n, heads, 1);
      attend(layer, n, heads, off[l]);
      product(layer.mix, parts[2 + 2 * l], tape.added, n, D);
      for (let at = 0; at < n * D; at++) after[at] = x[at] + tape.added[at];
    }
    const { logits, p } = tape;
    product(tape.x[layers], parts[parts.length - 1], logits, n, symbols);
    for (let i = 0; i < n; i++) {
      const [from, to] = [i * symbols, (i + 1) * symbols];
      let most = Number.NEGATIVE_INFINITY;
      for (let s = from; s < to; s++) if (logits[s] > most) most = logits[s];
      let sum = 0;
      for (let s = from; s < to; s++) {
        p[s] = exp(logits[s] - most);
        sum += p[s];
      }
      for (let s = from; s < to; s++) p[s] /= sum;
      tape.total[i] = most + Math.log(sum);
    }
  }

  /** Add to the gradients what one text says, `share` of the whole; returns its part of the loss. */
  function backward(parts, slopes, tape, text, n, { symbols, layers, heads }, off, share) {
    const last = parts.length - 1;
    let loss = 0;
    for (let i = 0; i < n; i++) {
      const at = i * symbols + text[i + 1];
      loss += (tape.total[i] - tape.logits[at]) * share;
      tape.p[at] -= 1; // p − y: what the softmax and the logarithm hand back
    }
    for (let at = 0; at < n * symbols; at++) tape.p[at] *= share;
    tape.dx.fill(0);
    back(tape.p, tape.x[layers], parts[last], tape.dx, slopes[last], n, symbols);
    for (let l = layers - 1; l >= 0; l--) {
      const layer = tape.layers[l];
      layer.dmix.fill(0);
      back(tape.dx, layer.mix, parts[2 + 2 * l], layer.dmix, slopes[2 + 2 * l], n, D);
      attendBack(layer, tape.flow, n, heads, off[l]);
      rotate(layer.dqkv, tape.by, n, heads, -1);
      back(layer.dqkv, tape.x[l], parts[1 + 2 * l], tape.dx, slopes[1 + 2 * l], n, 3 * D);
    }
    for (let i = 0; i < n; i++) for (let c = 0; c < D; c++) slopes[0][text[i] * D + c] += tape.dx[i * D + c];
    return loss;
  }

  const ON = Array.from({ length: 2 }, () => [false, false, false, false]);

  /** A run of these settings: drawn anew, or with weights that are given. */
  function start(settings, given) {
    const flat = given ? Float64Array.from(given) : drawn(settings);
    const [slope, first, second] = [room(settings), room(settings), room(settings)];
    return {
      settings,
      flat,
      parts: cut(flat, settings),
      slope,
      slopes: cut(slope, settings),
      first,
      second,
      powers: [1, 1],
      tape: tape(settings),
      tests: null,
      step: 0,
      broken: "",
    };
  }

  /** The mean loss of some texts; their gradients are then in run.slope. */
  function slopes(run, some, off = ON, n = LENGTH) {
    run.slope.fill(0);
    let loss = 0;
    for (const text of some) {
      forward(run.parts, run.tape, text, n, run.settings, off);
      loss += backward(run.parts, run.slopes, run.tape, text, n, run.settings, off, 1 / (some.length * n));
    }
    return loss;
  }

  /** One step of AdamW; returns the loss before it. What is not finite stops the run and is named. */
  function step(run) {
    const { flat, slope, first, second, powers, settings } = run;
    const loss = slopes(run, texts(settings, BATCH, mixed(settings.seed, run.step)));
    const off = slope.find((g) => !Number.isFinite(g));
    if (!Number.isFinite(loss)) run.broken = `the loss is ${loss}`;
    else if (off !== undefined) run.broken = `a gradient is ${off}`;
    if (run.broken) return loss;
    run.step += 1;
    powers[0] *= BETAS[0];
    powers[1] *= BETAS[1];
    const rate = settings.rate / (1 - powers[0]);
    const root = Math.sqrt(1 - powers[1]);
    for (let at = 0; at < flat.length; at++) {
      const g = slope[at];
      first[at] += (1 - BETAS[0]) * (g - first[at]);
      second[at] = BETAS[1] * second[at] + (1 - BETAS[1]) * g * g;
      flat[at] -= settings.rate * DECAY * flat[at] + (rate * first[at]) / (Math.sqrt(second[at]) / root + EPS);
    }
    return loss;
  }

  /** What each head attends to in one text, and what is thought to come after each of its symbols. */
  function glance({ parts, tape, settings }, text, off = ON) {
    const n = text.length;
    forward(parts, tape, text, n, settings, off);
    const { symbols, heads } = settings;
    const maps = tape.layers.map(({ weights }) =>
      Array.from({ length: heads }, (_, h) =>
        Float64Array.from({ length: n * n }, (_, at) => {
          const [i, j] = [Math.floor(at / n), at % n];
          return j > i ? 0 : weights[(h * LENGTH + i) * LENGTH + j];
        }),
      ),
    );
    const guesses = Array.from({ length: n }, (_, i) => {
      const row = tape.p.subarray(i * symbols, (i + 1) * symbols);
      const best = row.reduce((most, p, s) => (p > row[most] ? s : most), 0);
      return { symbol: best, p: row[best] };
    });
    return { maps, guesses };
  }

  /**
   * The share of right guesses and the scores of each head, over texts that no step has seen; in
   * pieces, and after each another may have its turn.
   */
  function* tallied(run, off = ON) {
    const { parts, tape, settings } = run;
    const { symbols, layers, heads } = settings;
    run.tests ??= texts(settings, TESTS, 0x7e57);
    const hits = [0, 0];
    const all = [0, 0]; // where the symbol is new, and where it has stood before
    const previous = new Float64Array(layers * heads);
    const next = new Float64Array(layers * heads);
    for (const text of run.tests) {
      forward(parts, tape, text, LENGTH, settings, off);
      for (let i = 0; i < LENGTH; i++) {
        const follows = []; // the places after an earlier one of the same symbol
        for (let j = 0; j < i; j++) if (text[j] === text[i]) follows.push(j + 1);
        const known = follows.length ? 1 : 0;
        let best = i * symbols;
        for (let s = best + 1; s < (i + 1) * symbols; s++) if (tape.p[s] > tape.p[best]) best = s;
        all[known] += 1;
        hits[known] += best - i * symbols === text[i + 1] ? 1 : 0;
        for (let head = 0; head < layers * heads; head++) {
          const row = ((head % heads) * LENGTH + i) * LENGTH;
          const { weights } = tape.layers[Math.floor(head / heads)];
          if (i) previous[head] += weights[row + i - 1] / (TESTS * (LENGTH - 1));
          for (const j of follows) next[head] += weights[row + j];
        }
      }
      yield;
    }
    const share = (known) => (all[known] ? hits[known] / all[known] : null);
    return {
      before: share(1),
      fresh: share(0),
      previous: Array.from(previous),
      next: Array.from(next, (sum) => (all[1] ? sum / all[1] : null)),
    };
  }

  let run = null; // the one that a worker holds

  /** Train as far as `upto`, in short pieces; of what is found, `less` is without the heads of `off`. */
  function* serve({ id, settings, given, at = 0, upto, off }) {
    if (run?.id !== id) run = { ...start(settings, given), id, step: at };
    const losses = [];
    while (run.step < upto && !run.broken) {
      const loss = step(run);
      if (!run.broken) losses.push(loss);
      yield;
    }
    const { flat, broken } = run;
    const some = off.some((layer) => layer.some(Boolean));
    const whole = broken ? null : yield* tallied(run);
    const less = broken || !some ? whole : yield* tallied(run, off);
    return { id, step: run.step, losses, broken, flat: Float64Array.from(flat), off, whole, less };
  }

  /** All of it at once. */
  function finished(work) {
    let one = work.next();
    while (!one.done) one = work.next();
    return one.value;
  }

  return { LENGTH, exp, turn, random, mixed, texts, sizes, start, slopes, step, glance, tallied, serve, finished };
}
