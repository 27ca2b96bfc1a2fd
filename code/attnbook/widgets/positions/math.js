// Position encodings as numbers: tables, curves and similarities. Pure arithmetic, equal to
// attnbook.positions: no page, no state.

/** Radians a place of each pair of `size` features. */
export function frequencies(size, base) {
  return Array.from({ length: Math.ceil(size / 2) }, (_, j) => base ** ((-2 * j) / size));
}

/** Slope of each head; other numbers than powers of two fill up from twice the power below. */
export function alibiSlopes(heads) {
  const below = 2 ** Math.floor(Math.log2(heads));
  const slopes = Array.from({ length: below }, (_, i) => 2 ** ((-8 * (i + 1)) / below));
  for (let i = 0; slopes.length < heads; i += 2) slopes.push(2 ** ((-4 * (i + 1)) / below));
  return slopes;
}

/** How many columns the table has: heads, features, or, rotary, whole pairs of features. */
export function columnCount({ kind, size, heads }) {
  if (kind === "alibi") return heads;
  return kind === "rotary" ? 2 * Math.max(1, Math.floor(size / 2)) : size;
}

/** Numbers from -1 to 1 that look random, always the same ones. */
function drawn(count) {
  let state = 1;
  return Float64Array.from({ length: count }, () => {
    state = (Math.imul(1664525, state) + 1013904223) >>> 0;
    return state / 2 ** 31 - 1;
  });
}

const product = (a, b) => a.reduce((sum, value, n) => sum + value * b[n], 0);

/** The largest number, whatever its sign; 1 if all are 0. */
const largest = (values) => values.reduce((most, value) => Math.max(most, Math.abs(value)), 0) || 1;

/** Scores of the query at `place` and each key, a random matrix between sinusoids; 1 is the largest of any two places. */
function scoresOfPlaces(rows, place, columns) {
  const matrix = drawn(columns * columns);
  const part = (a) => matrix.subarray(a * columns, (a + 1) * columns);
  const keys = rows.map((row) => row.map((_, a) => product(row, part(a))));
  const most = rows.reduce((found, row) => Math.max(found, largest(keys.map((key) => product(row, key)))), 0);
  return keys.map((key) => product(rows[place], key) / (most || 1));
}

/** The same under rotary, of a random query and a random key that are turned by their places. */
function scoresOfTurned({ places, place, columns, base }) {
  const [q, k] = [drawn(columns), drawn(2 * columns).subarray(columns)];
  const waves = frequencies(columns, base);
  const at = (distance) => waves.reduce((sum, w, f) => {
    const [a, b] = [2 * f, 2 * f + 1];
    return sum + (q[a] * k[a] + q[b] * k[b]) * Math.cos(w * distance)
      + (q[a] * k[b] - q[b] * k[a]) * Math.sin(w * distance);
  }, 0);
  const most = largest(Array.from({ length: 2 * places - 1 }, (_, n) => at(n - places + 1)));
  return Array.from({ length: places }, (_, j) => at(place - j) / most);
}

/** What stands at place i in each column: waves, or the factor that a head leaves to a key. */
function rowAt({ kind, columns, base, heads, place }, i) {
  if (kind === "alibi") return alibiSlopes(heads).map((m) => Math.exp(-m * Math.abs(i - place)));
  const [first, second] = kind === "rotary" ? [Math.cos, Math.sin] : [Math.sin, Math.cos];
  const row = frequencies(columns, base).flatMap((w) => [first(w * i), second(w * i)]);
  return row.slice(0, columns);
}

/**
 * Everything that is drawn: `table` (places x columns, row-major), `curve` of the marked column
 * over all places, and `similarity` of each place to the marked one, 1 at itself; or, with random
 * `matrices`, the scores of the query there and each key.
 */
export function encode(settings) {
  const columns = columnCount(settings);
  const all = { ...settings, columns };
  const rows = Array.from({ length: settings.places }, (_, i) => rowAt(all, i));
  const { kind, place, column, heads } = settings;
  const table = Float64Array.from(rows.flat());
  if (kind === "alibi") {
    const slope = alibiSlopes(heads)[column];
    const curve = rows.map((_, i) => 0 - slope * Math.abs(i - place));
    return { columns, table, curve, similarity: curve.map(Math.exp) };
  }
  const curve = rows.map((row) => row[column]);
  if (settings.matrices === "random") {
    const similarity = kind === "rotary" ? scoresOfTurned(all) : scoresOfPlaces(rows, place, columns);
    return { columns, table, curve, similarity };
  }
  const here = rows[place];
  const self = product(here, here);
  const similarity = rows.map((row) => (self ? product(here, row) / self : 0));
  return { columns, table, curve, similarity };
}
