// The figure of a browser: room for the grid of heads, and the large map with what reads it out.
import { HEARD, MAP } from "../core/skeleton.js";

export const FIGURE = `
  <div class="lb-figure">
    <div class="lb-large">
      <p class="lb-heading" aria-hidden="true"><b></b><span></span></p>${MAP}
    </div>
  </div>${HEARD}`;
