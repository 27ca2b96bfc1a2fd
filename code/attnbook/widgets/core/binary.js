// Binary traits.

/** A binary trait arrives as a DataView (or typed array): copied, so that it is aligned. */
export function binary(model, name, Type) {
  const raw = model.get(name);
  if (!raw || !raw.byteLength) return null;
  const buffer = raw.buffer ?? raw;
  const start = raw.byteOffset ?? 0;
  return new Type(buffer.slice(start, start + raw.byteLength));
}
