// Colour scales.

/** 256 RGB triples along the colour stops ("#rrggbb"). */
export function makeRamp(stops) {
  const rgb = stops.map((hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)));
  const ramp = new Uint8ClampedArray(256 * 3);
  for (let n = 0; n < 256; n++) {
    const place = (n / 255) * (rgb.length - 1);
    const low = Math.min(Math.floor(place), rgb.length - 2);
    for (let c = 0; c < 3; c++) {
      ramp[3 * n + c] = rgb[low][c] + (place - low) * (rgb[low + 1][c] - rgb[low][c]);
    }
  }
  return ramp;
}
