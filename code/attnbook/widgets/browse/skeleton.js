// The figure of a browser: room for the grid of heads, and the large map with what reads it out.

export const FIGURE = `
  <div class="lb-figure">
    <div class="lb-large">
      <p class="lb-heading" aria-hidden="true"><b></b><span></span></p>
      <div class="ah-map">
        <canvas tabindex="0" role="application" aria-roledescription="heat map"></canvas>
        <div class="ah-row" hidden></div>
        <div class="ah-ring" hidden></div>
      </div>
    </div>
  </div>
  <p class="ah-readout" aria-hidden="true"></p>
  <div class="ah-hidden"><p aria-live="polite"></p><table></table></div>`;
