// The file of a model, unpacked: its head, and its tensors as float32. See script.py and packing.py.
const FIRST = 0x3400; // the character that stands for 0

/** The first `length` bytes of a text whose characters hold 15 bits each, the first bit first. */
export function fromText(text, length) {
  const bytes = new Uint8Array(length);
  let held = 0; // the last bits read, and how many of them wait
  let waiting = 0;
  for (let at = 0, to = 0; to < length; at++) {
    held = ((held & 127) << 15) | (text.charCodeAt(at) - FIRST);
    for (waiting += 15; waiting >= 8 && to < length; waiting -= 8) bytes[to++] = held >> (waiting - 8);
  }
  return bytes;
}

async function gunzip(bytes) {
  if (!globalThis.DecompressionStream) {
    throw new Error("This browser is too old to unpack the model: it lacks DecompressionStream.");
  }
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

/** A float16 in 16 bits, as a number. */
export function half(bits) {
  const sign = bits >> 15 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (exponent ? (1024 + fraction) * 2 ** (exponent - 25) : fraction * 2 ** -24);
}

/** One tensor: its float16 numbers, or its int8 rows times their float16 scales. */
function restore(buffer, from, { shape, start }) {
  const view = new DataView(buffer, from + start);
  const [rows, columns] = shape;
  const scales = Float32Array.from({ length: rows }, (_, r) => half(view.getUint16(2 * r, true)));
  if (shape.length === 1) return scales;
  const integers = new Int8Array(buffer, from + start + 2 * rows, rows * columns);
  const values = new Float32Array(rows * columns);
  for (let at = 0; at < values.length; at++) values[at] = integers[at] * scales[Math.floor(at / columns)];
  return values;
}

/** {head, tensors: {name: Float32Array}} of what a file says: {bytes, text}. */
export async function unpack({ bytes, text }) {
  const buffer = await gunzip(fromText(text, bytes));
  const end = 4 + new DataView(buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, end - 4)));
  const tensors = Object.fromEntries(head.tensors.map((entry) => [entry.name, restore(buffer, end, entry)]));
  if (head.tied) tensors["output.weight"] = tensors["embedding.tokens.weight"];
  if (head.tied === "all") tensors["encoder.embedding.tokens.weight"] = tensors["embedding.tokens.weight"];
  return { head, tensors };
}
