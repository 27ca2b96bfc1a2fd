// The map with what frames its cells, as several widgets have it.

export const MAP = `
  <div class="ah-map">
    <canvas tabindex="0" role="application" aria-roledescription="heat map"></canvas>
    <div class="ah-row" hidden></div>
    <div class="ah-ring" hidden></div>
  </div>`;

/** A read-out, and what is only heard. */
export const HEARD = `
  <p class="ah-readout" aria-hidden="true"></p>
  <div class="ah-hidden"><p aria-live="polite"></p><table></table></div>`;
