// Masks put together from patterns, equal to attnbook.masks, and what they do. Pure arithmetic.

/** The options of each pattern, as they are when it is chosen. */
export const KINDS = {
  window: { width: 5, causal: false },
  dilated: { radius: 2, dilation: 4 },
  block: { size: 8 },
  global: { places: [0] },
  random: { count: 2, seed: 0 },
  causal: {},
  full: {},
};

/** torch's generator on the CPU (Mersenne Twister): gives the 24 bits that torch.rand makes of a draw. */
function twister(seed) {
  const state = new Uint32Array(624);
  state[0] = seed;
  for (let i = 1; i < 624; i++) {
    state[i] = Math.imul(1812433253, state[i - 1] ^ (state[i - 1] >>> 30)) + i;
  }
  let at = 624;
  return () => {
    for (let i = 0; at === 624 && i < 624; i++) {
      const x = (state[i] & 0x80000000) | (state[(i + 1) % 624] & 0x7fffffff);
      state[i] = state[(i + 397) % 624] ^ (x >>> 1) ^ (x & 1 ? 0x9908b0df : 0);
    }
    at %= 624;
    let x = state[at++];
    x ^= x >>> 11;
    x ^= (x << 7) & 0x9d2c5680;
    x ^= (x << 15) & 0xefc60000;
    return (x ^ (x >>> 18)) & 0xffffff;
  };
}

/** For each pattern what marks the keys of query i in a row of zeros; asked for all queries in turn. */
const RULES = {
  window: ({ width, causal }) => (row, i) => row.fill(1, Math.max(0, i - width + 1), i + (causal ? 1 : width)),
  dilated: ({ radius, dilation }) => (row, i) => {
    for (let step = -radius; step <= radius; step++) {
      const j = i + step * dilation;
      if (j >= 0 && j < row.length) row[j] = 1;
    }
  },
  block: ({ size }) => (row, i) => row.fill(1, i - (i % size), i - (i % size) + size),
  global: ({ places }) => (row, i) => {
    if (places.includes(i)) row.fill(1);
    for (const j of places) if (j < row.length) row[j] = 1;
  },
  random({ count, seed }, n) { // the smallest draws, of equal ones the first, as in `random_mask`
    const draw = twister(seed);
    const drawn = new Uint32Array(n);
    return (row) => {
      for (let j = 0; j < n; j++) drawn[j] = draw() * 256 + j; // n is at most 256
      drawn.sort();
      for (const x of drawn.subarray(0, count)) row[x & 255] = 1;
    };
  },
  causal: () => (row, i) => row.fill(1, 0, i + 1),
  full: () => (row) => row.fill(1),
};

/** The mask of all terms, [operator, kind, options] each, from the first to the last: n × n of 0 and 1. */
export function combine(n, terms) {
  const mask = new Uint8Array(n * n);
  const row = new Uint8Array(n);
  terms.forEach(([operator, kind, options], t) => {
    const fill = RULES[kind](options, n);
    const both = t > 0 && operator === "&";
    for (let i = 0; i < n; i++) {
      fill(row.fill(0), i);
      for (let j = 0; j < n; j++) {
        if (mask[i * n + j] ? both : !both) mask[i * n + j] = row[j];
      }
    }
  });
  return mask;
}

/** What is kept: `pairs`, the keys of each query, and whether none of them comes later than it. */
export function countPairs(n, mask) {
  const counts = Array(n).fill(0);
  let causal = true;
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < n; j++) {
      counts[i] += mask[i * n + j];
      if (j > i && mask[i * n + j]) causal = false;
    }
  }
  return { counts, causal, pairs: counts.reduce((sum, count) => sum + count, 0) };
}

/** After how many layers `query` reaches each place; its own after 0, what it never reaches -1. */
export function layersTo(n, mask, query) {
  const layers = new Int16Array(n).fill(-1);
  layers[query] = 0;
  const reached = [query];
  for (const i of reached) { // it grows
    for (let j = 0; j < n; j++) {
      if (!mask[i * n + j] || layers[j] >= 0) continue;
      layers[j] = layers[i] + 1;
      reached.push(j);
    }
  }
  return layers;
}
