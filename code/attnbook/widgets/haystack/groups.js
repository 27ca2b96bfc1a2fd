// Keys in groups: buckets of a hash, and clusters. Equal to attnbook's `hash_codes`, `k_means` and
// `same_cluster`. Pure arithmetic.

const STEPS = 10; // how often the centres move, as in `k_means`

/** Rows of `one` times rows of `other`, both of `d` features: rows × others. */
export function products(one, other, d) {
  const [rows, others] = [one.length / d, other.length / d];
  const found = new Float64Array(rows * others);
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < others; j++) {
      let sum = 0;
      for (let c = 0; c < d; c++) sum += one[i * d + c] * other[j * d + c];
      found[i * others + j] = sum;
    }
  }
  return found;
}

/** Where the largest of a row of `size` stands, the first of equal ones. */
function largest(numbers, row, size) {
  let best = 0;
  for (let j = 1; j < size; j++) {
    if (numbers[row * size + j] > numbers[row * size + best]) best = j;
  }
  return best;
}

/** A bucket for each vector and round. `rotations`: rounds × d × `width`, of which `half` are used. */
export function hashCodes(x, d, rotations, { rounds, half, width }) {
  const codes = new Uint8Array((x.length / d) * rounds);
  const turned = new Float64Array(2 * half);
  codes.forEach((_, at) => {
    const [row, round] = [Math.floor(at / rounds), at % rounds];
    for (let b = 0; b < half; b++) {
      let sum = 0;
      for (let c = 0; c < d; c++) sum += x[row * d + c] * rotations[(round * d + c) * width + b];
      [turned[b], turned[half + b]] = [sum, -sum];
    }
    codes[at] = largest(turned, 0, 2 * half);
  });
  return codes;
}

/** (|x|² − |x − m|²) / 2 of each vector and centre: the nearest centre has the most. */
export function nearness(x, centres, d) {
  const near = products(x, centres, d);
  const size = centres.length / d;
  for (let m = 0; m < size; m++) {
    let square = 0;
    for (let c = 0; c < d; c++) square += centres[m * d + c] ** 2;
    for (let i = m; i < near.length; i += size) near[i] -= square / 2;
  }
  return near;
}

/** The number of the nearest centre for each vector. */
export function homes(x, centres, d) {
  const near = nearness(x, centres, d);
  return Array.from({ length: x.length / d }, (_, i) => largest(near, i, centres.length / d));
}

/** Centres that start at the keys `starts`; one that is nearest to no key stays. */
export function kMeans(keys, starts, d) {
  const centres = Float64Array.from(starts.flatMap((at) => [...keys.subarray(at * d, (at + 1) * d)]));
  for (let step = 0; step < STEPS; step++) {
    const total = new Float64Array(centres.length);
    const count = new Float64Array(starts.length);
    homes(keys, centres, d).forEach((home, j) => {
      count[home]++;
      for (let c = 0; c < d; c++) total[home * d + c] += keys[j * d + c];
    });
    total.forEach((sum, at) => {
      const members = count[Math.floor(at / d)];
      if (members) centres[at] = sum / members;
    });
  }
  return centres;
}
