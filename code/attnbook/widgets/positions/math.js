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

/** What stands at place i in each column: waves, or the factor that a head leaves to a key. */
function rowAt({ kind, columns, base, heads, place }, i) {
  if (kind === "alibi") return alibiSlopes(heads).map((m) => Math.exp(-m * Math.abs(i - place)));
  const [first, second] = kind === "rotary" ? [Math.cos, Math.sin] : [Math.sin, Math.cos];
  const row = frequencies(columns, base).flatMap((w) => [first(w * i), second(w * i)]);
  return row.slice(0, columns);
}

/**
 * Everything that is drawn: `table` (places x columns, row-major), `curve` of the marked column
 * over all places, and `similarity` of each place to the marked one, 1 at itself.
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
  const product = (a, b) => a.reduce((sum, value, n) => sum + value * b[n], 0);
  const here = rows[place];
  const self = product(here, here);
  const similarity = rows.map((row) => (self ? product(here, row) / self : 0));
  return { columns, table, curve: rows.map((row) => row[column]), similarity };
}
