"""How fast the widgets, the playground and the site's pages are, in headless Chromium.

    python -m devkit.bench.speed [NAME ...]        after `make book`

Exits with 1 when a limit is missed, or where there is no browser or no site.

Widgets, in ms: the first paint runs from the parsed page to the drawn widget (state read, module
imported, all computed), a change from the slider's event to the pixels of every canvas: medians.
The playground, in ms: "first" runs from the click on Translate, with nothing loaded, to the whole
French sentence, "changed" from a switch to the new one, and "blocked" is the longest time for which
the page answers nobody while a reader types: the worker computes, only drawing is left. Pages, the
worst of all: the largest paint after the page was asked for, the least of a few visits, so that a
busy machine does not count; and what moved by itself while the page loaded, as the browser scores
it.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from devkit import ROOT
from devkit import browser as harness

PACKED = ROOT / "book" / "_site" / "playground" / "grammar.js"
REPEATS = 20
LIMITS = {
    "heat map": {
        "first paint, 64 x 64": 100.0,
        "change, 64 x 64": 16.0,
        "change, 8 heads of 32 x 32": 50.0,
    },
    "kernel": {"change of width, 50 x 50": 16.0, "change of query, 50 x 50": 16.0},
    "alignment": {"first, 20 x 20, two models": 100.0, "step, 20 x 20, two models": 16.0},
    "playground": {"first": 1000.0, "changed": 300.0, "blocked": 100.0},
    "pages": {"largest paint, ms": 1000.0, "layout shift, thousandths": 50.0},
}

# --- widgets ------------------------------------------------------------------------------------

FIRST_PAINT = """
document.addEventListener("DOMContentLoaded", () => {
  const start = performance.now();
  new MutationObserver((_, watcher) => {
    const drawn = [...document.querySelectorAll("[data-widget=awake] canvas")];
    if (!drawn.length) return;
    drawn.forEach((canvas) => canvas.getContext("2d").getImageData(0, 0, 1, 1));
    window.firstPaint = performance.now() - start;
    watcher.disconnect();
  }).observe(document.body, { subtree: true, attributeFilter: ["data-widget"] });
});
"""
# Moves sliders in turn; reading the pixels leaves no drawing for later.
CHANGES = """([numbers, repeats]) => {
  const every = document.querySelectorAll("input[type=range]");
  const inputs = numbers.map((number) => every[number]);
  const pens = [...document.querySelectorAll("canvas")].map((canvas) => canvas.getContext("2d"));
  return Array.from({ length: repeats }, (_, n) => {
    const input = inputs[n % inputs.length];
    const [low, high] = [Number(input.min), Number(input.max)];
    input.value = low + ((high - low) * (1 + ((7 * n) % 19))) / 20; // never where it was
    const start = performance.now();
    input.dispatchEvent(new Event("input", { bubbles: true }));
    pens.forEach((pen) => pen.getImageData(0, 0, 1, 1));
    return performance.now() - start;
  });
}"""


@contextmanager
def shown(browser, widget) -> Iterator:
    """A page that shows a widget, awake."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "widget.html"
        path.write_text(harness.widget_page(widget), encoding="utf-8")
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.add_init_script(FIRST_PAINT)
        page.goto(path.as_uri())
        page.wait_for_selector("[data-widget=awake]")
        yield page
        page.close()


def first_paint(page) -> float:
    """The median over reloads."""
    paints = []
    for _ in range(REPEATS):
        page.reload()
        page.wait_for_function("window.firstPaint")
        paints.append(page.evaluate("window.firstPaint"))
    return statistics.median(paints)


def change(page, *sliders: int) -> float:
    """The median over changes of these sliders, numbered as they stand on the page."""
    return statistics.median(page.evaluate(CHANGES, [sliders, 2 * REPEATS]))


def measure_heatmap(browser) -> tuple[float, ...]:
    """One map of 64 by 64 cells; a grid of eight heads 32 by 32, above the large map of one."""
    import torch

    from attnbook.widgets import AttentionHeatmap

    def scores(*shape):
        return 3 * torch.randn(*shape, generator=torch.Generator().manual_seed(0))

    controls = ("lengths", "temperature", "causal")
    single = AttentionHeatmap(scores(64, 64), causal=True, lengths=[60], controls=controls)
    heads = AttentionHeatmap(
        scores(8, 32, 32), heads=True, lengths=[30], controls=(*controls, "grid")
    )
    with shown(browser, single) as page:
        found = first_paint(page), change(page, 0, 1)
    with shown(browser, heads) as page:
        return *found, change(page, 0, 1)


def measure_kernel(browser) -> tuple[float, ...]:
    """Kernel regression of 50 points at 50 queries."""
    import torch

    from attnbook.widgets import KernelRegression

    generator = torch.Generator().manual_seed(0)
    x, noise = 5 * torch.rand(50, generator=generator), torch.randn(50, generator=generator)
    queries = torch.arange(0, 5, 0.1)
    curve = lambda x: 2 * x.sin() + x**0.8  # noqa: E731
    widget = KernelRegression(x, curve(x) + noise / 2, queries=queries, truth=curve(queries))
    with shown(browser, widget) as page:
        return change(page, 0), change(page, 1)


def measure_alignment(browser) -> tuple[float, ...]:
    """Six sentence pairs of 20 tokens by two models, side by side."""
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
    with shown(browser, AlignmentViewer(examples, side_by_side=True)) as page:
        return first_paint(page), change(page, 0)


# --- the playground -----------------------------------------------------------------------------

SENTENCES = [
    "the old cat sees a small bird .",
    "when will her neighbour sell her clean car to our sick mother ?",
    "we are going to invite these handsome lawyers and his doctor tonight , and my teacher is not "
    "going to invite her even though i always watch her .",
]
# Resolves with the time from a click on `act` to the moment when the page says a translation.
UNTIL = """(act) => new Promise((done) => {
  const status = document.querySelector(".pg-output [role=status]");
  const start = performance.now();
  new MutationObserver((_, watcher) => {
    if (!status.textContent.startsWith("Translation")) return;
    watcher.disconnect();
    done(performance.now() - start);
  }).observe(status, { childList: true, characterData: true, subtree: true });
  document.querySelector(act).click();
})"""
# Types the sentences letter by letter, 30 ms apart; the longest gap in a clock of 5 ms.
TYPE = """async (sentences) => {
  const input = document.querySelector(".pg-input");
  const wait = (ms) => new Promise((go) => setTimeout(go, ms));
  let [last, longest] = [performance.now(), 0];
  const clock = setInterval(() => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
  }, 5);
  for (const sentence of sentences) {
    for (let n = 1; n <= sentence.length; n++) {
      input.value = sentence.slice(0, n);
      input.dispatchEvent(new Event("input", { bubbles: true }));
      await wait(n % 12 ? 30 : 200);
    }
    await wait(600);
  }
  clearInterval(clock);
  return longest;
}"""


def measure_playground(browser, repeats: int = 5) -> tuple[float, ...]:
    """Fresh pages, switches on the last of them, then a reader who types longer sentences."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(PACKED, folder)
        model = {"name": "grammar", "label": "Grammar", "file": PACKED.name, "about": ""}
        settings = {"models": [{**model, "examples": [SENTENCES[0].split()]}]}
        path = harness.playground_page(Path(folder), settings)
        first = []
        for _ in range(repeats):
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.goto(path.as_uri())
            first.append(page.evaluate(UNTIL, ".pg-go"))
            if len(first) < repeats:
                page.close()
        changed = [page.evaluate(UNTIL, ".pg-switch") for _ in range(2 * repeats)]
        blocked = page.evaluate(TYPE, SENTENCES[1:])
        page.close()
    return statistics.median(first), statistics.median(changed), blocked


# --- pages --------------------------------------------------------------------------------------

VISITS = 3
WIDTHS = (1280, 360)


def visit(browser, address: str, width: int) -> tuple[float, float]:
    """Largest paint and layout shift of one visit with nothing in the cache."""
    context = browser.new_context(viewport={"width": width, "height": 800})
    page = context.new_page()
    page.add_init_script(harness.WATCH)
    page.goto(address, wait_until="load")
    page.evaluate("document.fonts.ready")
    page.wait_for_timeout(400)
    found = page.evaluate("[window.paint, 1000 * window.shift]")
    context.close()
    return tuple(found)


def measure_page(browser, address: str, slack: float = 0.9) -> tuple[float, float]:
    """The two numbers of a page, the worse of the widths; again where it took `slack` limits."""
    worst = [0.0, 0.0]
    for width in WIDTHS:
        paint, shift = visit(browser, address, width)
        for _ in range(VISITS - 1):  # as long as it was too slow
            if paint > LIMITS["pages"]["largest paint, ms"] * slack:
                paint = min(paint, visit(browser, address, width)[0])
        worst = [max(worst[0], paint), max(worst[1], shift)]
    return tuple(worst)


def measure_pages(browser) -> tuple[float, ...]:
    """The worst of every page of the built site."""
    site = ROOT / "_build" / "html"
    pages = sorted(path.relative_to(site).as_posix() for path in site.glob("book/*.html"))
    if not pages:
        sys.exit(f"no page in {site}: run `make book` first")
    with harness.serve(site) as base:
        each = {name: measure_page(browser, base + name) for name in pages}
    for name, (paint, shift) in each.items():
        print(f"  {name}: {paint:.0f} ms, {shift:.0f}")
    return tuple(map(max, zip(*each.values(), strict=True)))


MEASURES: dict[str, Callable[..., tuple[float, ...]]] = {
    "heat map": measure_heatmap,
    "kernel": measure_kernel,
    "alignment": measure_alignment,
    "playground": measure_playground,
    "pages": measure_pages,
}


def main() -> int:
    """Print what was measured beside its limits."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", choices=[*LIMITS, []], help="all, if none is named")
    names = parser.parse_args().names or LIMITS
    from playwright.sync_api import sync_playwright

    missed = False
    with sync_playwright() as playwright:
        path = harness.find_browser(playwright)
        if path is None:
            sys.exit(harness.HOW)
        browser = harness.launch(playwright, path)
        for name in names:
            if name == "playground" and not PACKED.is_file():
                print("no model is packed: `python -m devkit.playground` packs the stored ones")
                continue
            measured = MEASURES[name](browser)
            for value, (what, limit) in zip(measured, LIMITS[name].items(), strict=True):
                print(f"{name}, {what}: {value:.1f} (limit {limit:.0f})")
                missed |= value > limit
        browser.close()
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
