"""The landing page's hero: a stored translation, measured against its gold links.

The directive `translation` draws the playground's opening (`book/_site/playground/opening.json`):
English words, French words, the weights of one head as lines, sure gold links below them. Which
words have their largest weight on a sure link is counted here, from the stored weights.
"""

from __future__ import annotations

import base64
import json
from html import escape

from attn_playground import OPENING
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

ROW, TOP = 34, 26  # pixels: between words, above the first
LEFT, RIGHT, WIDTH = 128, 242, 420  # where the lines begin and end
LEAST = 0.02  # the smallest weight that has a line


def cross(state: dict) -> list[list[float]]:
    """The weights (q, k) of the opening's cross-attention head, the row of the end left out.

    The last column is the end of the source.
    """
    q, k = len(state["written"]), len(state["ids"])
    place = state["layer"] * state["config"]["num_heads"] + state["head"]
    stored = base64.b64decode(state["maps"]["cross"])[place * q * k :][: q * k]
    return [[byte / 255 for byte in stored[i * k : (i + 1) * k]] for i in range(q - 1)]


def verdicts(weights: list[list[float]], sure: set[tuple[int, int]]) -> list[bool | None]:
    """For each row: is its largest weight on a sure link? None where it has no sure link."""
    linked = {row for row, _ in sure}
    return [
        ((i, row.index(max(row))) in sure) if i in linked else None for i, row in enumerate(weights)
    ]


def line(i: int, j: int, up: float, down: float) -> str:
    """A curve from source word j to target word i."""
    y, x = up + ROW * j, down + ROW * i
    half = (LEFT + RIGHT) / 2
    return f"M{LEFT} {y:g}C{half:g} {y:g} {half:g} {x:g} {RIGHT} {x:g}"


def drawing(state: dict) -> str:
    """The panel in HTML."""
    source, target = state["example"]["source"], state["example"]["target"]
    sure = {tuple(link) for link in state["example"]["sure"]}
    weights = cross(state)
    found = verdicts(weights, sure)
    most = max(len(source), len(target))
    up, down = (TOP + ROW * (most - len(words)) / 2 for words in (source, target))
    height = TOP * 2 + ROW * (most - 1)
    groups = []
    for i, row in enumerate(weights):
        gold = "".join(
            f'<path class="gold {part}" d="{line(i, j, up, down)}"/>'
            for j in range(len(source))
            if (i, j) in sure
            for part in ("edge", "bright")
        )
        lines = "".join(
            f'<path class="weight" d="{line(i, j, up, down)}" stroke-width="{0.8 + 4 * w:.1f}"'
            f' style="--w:{w:.2f}"/>'
            for j, w in enumerate(row[: len(source)])
            if w >= LEAST
        )
        y = down + ROW * i + 5
        sign = {True: "✓", False: "✗", None: "–"}[found[i]]
        groups.append(
            f'<g class="step" data-hit="{ {True: 1, False: 0, None: ""}[found[i]] }">{gold}{lines}'
            f'<text class="word" x="{RIGHT + 12}" y="{y:g}" lang="fr">{escape(target[i])}</text>'
            f'<text class="number" x="{WIDTH - 26}" y="{y:g}">{max(row):.2f}</text>'
            f'<text class="sign" x="{WIDTH - 6}" y="{y:g}">{sign}</text></g>'
        )
    words = "".join(
        f'<text class="word end" x="{LEFT - 12}" y="{up + ROW * j + 5:g}">{escape(word)}</text>'
        for j, word in enumerate(source)
    )
    hits, of = sum(v is True for v in found), sum(v is not None for v in found)
    described = "; ".join(
        f"{target[i]}: {max(row):.2f} on {[*source, 'the end'][row.index(max(row))]}"
        for i, row in enumerate(weights)
    )
    return (
        '<div class="attn-translation">'
        f'<svg viewBox="0 0 {WIDTH} {height:g}" width="{WIDTH}" height="{height:g}" role="img"'
        ' aria-labelledby="attn-tr-title attn-tr-desc">'
        f'<title id="attn-tr-title">{escape(" ".join(source))}, translated</title>'
        f'<desc id="attn-tr-desc">The largest attention weight of each French word. '
        f"{escape(described)}.</desc>"
        f"{words}{''.join(groups)}</svg>"
        '<p class="attn-verdict"><span class="attn-count" aria-live="polite">'
        f"<b>{hits} of {of}</b> words on a sure link</span>"
        '<button type="button" class="attn-play" hidden>Play</button></p></div>'
    )


class Translation(SphinxDirective):
    """The stored translation, drawn."""

    def run(self) -> list[nodes.Node]:
        self.env.note_dependency(str(OPENING))
        try:
            state = json.loads(OPENING.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise self.error(
                f"translation: {error}; `python -m devkit.playground opening`"
            ) from error
        return [nodes.raw("", drawing(state), format="html")]


def add_assets(app: Sphinx, pagename, templatename, context, doctree) -> None:
    """Its Play button, on the page that has it."""
    if 'class="attn-translation"' in context.get("body", ""):
        app.add_js_file("landing.js", loading_method="defer")


def setup(app: Sphinx) -> dict:
    """Register the directive and its script."""
    app.add_directive("translation", Translation)
    app.connect("html-page-context", add_assets)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
