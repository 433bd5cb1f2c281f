// A run: what is kept of it while it goes, what it is called, and when its loss bends.

export const EVERY = 20; // steps from one point of a curve to the next
export const LAST = 800;

export const SETTINGS = ["layers", "heads", "rate", "symbols", "shortest", "longest", "seed"];

/** What the learner is told. */
export const told = ({ layers, heads, rate, symbols, shortest, longest, seed }) => ({
  layers,
  heads,
  rate,
  symbols,
  from: Math.min(shortest, longest),
  to: Math.max(shortest, longest),
  seed,
});

const NUMBERS = { 1: "one", 2: "two", 4: "four" };
const AS_RECORDED = { rate: 0.005, symbols: 12, shortest: 4, longest: 9, seed: 0 };
const SAID = {
  rate: (rate) => `rate ${rate}`,
  symbols: (symbols) => `${symbols} ${symbols === 1 ? "symbol" : "symbols"}`,
  shortest: (shortest) => `period from ${shortest}`,
  longest: (longest) => `period to ${longest}`,
  seed: (seed) => `seed ${seed}`,
};

/** "two layers", "one layer, four heads, seed 3": only what is not as usual is said. */
export function nameOf(settings) {
  const { layers, heads } = settings;
  const parts = [`${NUMBERS[layers]} layer${layers > 1 ? "s" : ""}`];
  if (heads > 1) parts.push(`${NUMBERS[heads]} heads`);
  for (const [key, usual] of Object.entries(AS_RECORDED))
    if (settings[key] !== usual) parts.push(SAID[key](settings[key]));
  return parts.join(", ");
}

const mean = (numbers) => numbers.reduce((sum, one) => sum + one, 0) / numbers.length;
const short = (value) => (value === null ? null : Math.round(value * 1000) / 1000);

/**
 * A point of a curve: the step, the mean loss of the steps since the last point, both shares right,
 * and the two scores of each head.
 */
export const point = (step, losses, { before, fresh, previous, next }) => [
  step,
  losses.length ? short(mean(losses)) : null,
  short(before),
  short(fresh),
  previous.map(short),
  next.map(short),
];

/** The next step at which a point is due. */
export const due = (step) => (Math.floor(step / EVERY) + 1) * EVERY;

/** The step at which a curve is halfway down from its first loss to its last: its bend. */
export function bend(points) {
  const losses = points.filter(([, loss]) => loss !== null);
  if (losses.length < 3) return null;
  const half = (losses[0][1] + losses[losses.length - 1][1]) / 2;
  return losses.find(([, loss]) => loss <= half)?.[0] ?? null;
}
