// The map with what frames its cells, as several widgets have it.

export const MAP = `
  <div class="ah-map">
    <canvas tabindex="0" role="application" aria-roledescription="heat map"></canvas>
    <div class="ah-row" hidden></div>
    <div class="ah-ring" hidden></div>
  </div>`;

/** The figure of one canvas; `what` it is, for those who do not see it. */
export const figureOf = (name, what) => `
  <div class="${name}">
    <canvas tabindex="0" role="application" aria-roledescription="${what}"></canvas>
  </div>`;

/** A read-out, and what is only heard. */
export const HEARD = `
  <p class="ah-readout" aria-hidden="true"></p>
  <div class="ah-hidden"><p aria-live="polite"></p><table></table></div>`;
