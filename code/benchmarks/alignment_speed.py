"""How fast the alignment viewer appears and steps in headless Chromium, in ms.

Six sentence pairs of 20 tokens by two models, side by side. "first" runs from the call of `render`
to the drawn pixels, "step" from the slider's event to them: medians. Exits with 1 when a limit is
missed.
"""

from __future__ import annotations

import statistics
import sys

from browser_speed import main, shown

LIMITS = {"first, 20 x 20, two models": 100.0, "step, 20 x 20, two models": 16.0}

#: What every measurement waits for: pixels of all maps, so that no drawing is left for later.
PIXELS = """
  const drawn = (root) => root.querySelectorAll("canvas[tabindex]").forEach((node) => {
    node.getContext("2d").getImageData(0, 0, 1, 1);
    node.getBoundingClientRect();
  });"""
FIRST = f"""async (repeats) => {{{PIXELS}
  const tag = document.querySelector('script[type="application/vnd.jupyter.widget-state+json"]');
  const models = Object.values(JSON.parse(tag.textContent).state);
  const saved = models.find(({{ state }}) => state._anywidget_id);
  const traits = {{ ...saved.state }};
  for (const {{ path, data }} of saved.buffers) {{
    traits[path[0]] = new DataView(Uint8Array.from(atob(data), (c) => c.charCodeAt(0)).buffer);
  }}
  const source = window.attnWidgets[traits._anywidget_id].esm;
  const url = URL.createObjectURL(new Blob([source], {{ type: "text/javascript" }}));
  const widget = (await import(url)).default;
  const model = {{ get: (name) => traits[name], on() {{}}, off() {{}} }};
  return Array.from({{ length: repeats }}, () => {{
    const el = document.createElement("div");
    const start = performance.now();
    document.body.append(el);
    const stop = widget.render({{ model, el }});
    drawn(el);
    const time = performance.now() - start;
    stop();
    el.remove();
    return time;
  }});
}}"""
STEP = f"""(repeats) => {{{PIXELS}
  const input = document.querySelector("input[type=range]");
  return Array.from({{ length: repeats }}, (_, n) => {{
    input.value = 1 + (n % 19);
    const start = performance.now();
    input.dispatchEvent(new Event("input", {{ bubbles: true }}));
    drawn(document);
    return performance.now() - start;
  }});
}}"""


def viewer():
    """Six sentence pairs of 20 tokens by two models."""
    import numpy as np

    from attnbook.widgets import AlignmentViewer

    rng = np.random.default_rng(0)
    words = [f"word{n}" for n in range(20)]
    steps = [[(word, 0.5), ("other", 0.3), ("third", 0.1)] for word in words]
    examples = [
        {
            "source": words,
            "target": words,
            "weights": {m: rng.dirichlet(np.full(20, 0.3), size=20) for m in ("before", "after")},
            "sure": {(i, i) for i in range(20)},
            "possible": {(i, (i + 1) % 20) for i in range(0, 20, 3)},
            "candidates": {"before": steps, "after": steps},
        }
        for _ in range(6)
    ]
    return AlignmentViewer(examples, side_by_side=True)


def measure(browser) -> dict[str, float]:
    """Medians by name, in milliseconds."""
    with shown(browser, viewer()) as page:
        codes = zip(LIMITS, ((FIRST, 7), (STEP, 38)), strict=True)
        return {
            name: statistics.median(page.evaluate(code, repeats)) for name, (code, repeats) in codes
        }


if __name__ == "__main__":
    sys.exit(main(measure, LIMITS))
