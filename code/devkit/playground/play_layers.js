// The layers between attention, over rows of features: float32 arrays, sums in double precision.
const EPSILON = 1e-5; // of torch's LayerNorm

/** y = x Wᵀ + b; W (outputs, inputs) as torch keeps it, b may be missing. */
export function linear(x, weight, bias, inputs) {
  const outputs = weight.length / inputs;
  const rows = x.length / inputs;
  const y = new Float32Array(rows * outputs);
  for (let o = 0; o < outputs; o++) {
    const w = o * inputs;
    for (let row = 0; row < rows; row++) {
      const from = row * inputs;
      let a = bias ? bias[o] : 0; // two sums, so that neither waits for the other
      let b = 0;
      let i = 0;
      for (; i + 1 < inputs; i += 2) {
        a += x[from + i] * weight[w + i];
        b += x[from + i + 1] * weight[w + i + 1];
      }
      if (i < inputs) a += x[from + i] * weight[w + i];
      y[row * outputs + o] = a + b;
    }
  }
  return y;
}

/** Each row with mean 0 and variance 1, then scaled and shifted feature by feature. */
export function layerNorm(x, weight, bias) {
  const d = weight.length;
  const y = new Float32Array(x.length);
  for (let from = 0; from < x.length; from += d) {
    let mean = 0;
    for (let i = 0; i < d; i++) mean += x[from + i] / d;
    let variance = 0;
    for (let i = 0; i < d; i++) variance += (x[from + i] - mean) ** 2 / d;
    const scale = 1 / Math.sqrt(variance + EPSILON);
    for (let i = 0; i < d; i++) y[from + i] = (x[from + i] - mean) * scale * weight[i] + bias[i];
  }
  return y;
}

export const relu = (x) => x.map((v) => Math.max(v, 0));

export const add = (x, y) => x.map((v, at) => v + y[at]);

/** The sinusoid of one place: sines and cosines of ever slower waves. */
export function sinusoid(place, d) {
  return Float32Array.from({ length: d }, (_, i) => {
    const angle = place / 10000 ** ((i - (i % 2)) / d);
    return i % 2 ? Math.cos(angle) : Math.sin(angle);
  });
}
