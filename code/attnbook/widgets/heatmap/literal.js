// A matrix as the Python expression that makes it.

/** A number as a Python float with four significant digits. */
export function pythonFloat(x) {
  const text = String(Number(x.toPrecision(4)));
  return /[.e]/.test(text) ? text : `${text}.0`;
}

/** `torch.tensor([[...], ...])`, one row a line; (q, k), row-major. */
export function tensorLiteral(values, queries, keys) {
  if (!queries || !keys) return `torch.zeros(${queries}, ${keys})`;
  const rows = Array.from({ length: queries }, (_, i) =>
    `[${Array.from(values.subarray(i * keys, (i + 1) * keys), pythonFloat).join(", ")}]`);
  return `torch.tensor([${rows.join(",\n              ")}])`;
}
