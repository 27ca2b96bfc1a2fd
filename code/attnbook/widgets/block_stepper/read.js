// The keys of one query, read block by block: equal to BlockStepper.read. Pure arithmetic.
const sum = (numbers) => numbers.reduce((total, x) => total + x, 0);

/** What is kept after `step` blocks of `block` keys, and what the last of them did to the rest. */
export function readBlocks({ scores, values, block, step, rescale }) {
  const parts = scores.map(() => 0);
  const blocks = Math.ceil(scores.length / block);
  const read = Math.min(step, blocks);
  let [largest, before] = [-Infinity, -Infinity];
  for (let b = 0; b < read; b++) {
    const [start, end] = [b * block, Math.min((b + 1) * block, scores.length)];
    before = largest;
    largest = Math.max(before, ...scores.slice(start, end));
    if (rescale) for (let j = 0; j < start; j++) parts[j] *= Math.exp(before - largest);
    for (let j = start; j < end; j++) parts[j] = Math.exp(scores[j] - largest);
  }
  const total = sum(parts);
  const pool = (weights) => sum(weights.map((w, j) => w * values[j]));
  const shares = parts.map((part) => (total ? part / total : 0));
  const top = Math.max(...scores);
  const exponentials = scores.map((a) => Math.exp(a - top));
  const dense = exponentials.map((e) => e / sum(exponentials));
  return { parts, shares, dense, blocks, read, seen: Math.min(read * block, scores.length), total, largest,
    factor: Math.exp(before - largest), output: pool(shares), wanted: pool(dense) };
}
