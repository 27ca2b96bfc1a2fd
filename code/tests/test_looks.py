"""The site's own look: one palette with the figures, text that can be read, marked assertions."""

import re
import sys
from pathlib import Path

import pytest

from attnbook.plots import look

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "book" / "_ext"))

import attn_claims  # noqa: E402

THEME = (ROOT / "book" / "_site" / "theme.css").read_text("utf-8")
HEATMAP = (ROOT / "code" / "attnbook" / "widgets" / "core" / "style.css").read_text("utf-8")
COLOUR = re.compile(r"--(?:attn|ah)-([\w-]+): ([^;]+);")
DARK = 'data-theme="dark"]'


def block(style: str, selector: str) -> dict[str, str]:
    """The custom colours that a rule sets."""
    start = style.index(selector)
    return dict(COLOUR.findall(style[start : style.index("}", start)]))


LIGHT_PAGE, DARK_PAGE = block(THEME, "html {"), block(THEME, f"html[{DARK} {{")
LIGHT_MAP, DARK_MAP = (
    block(HEATMAP, ".attn-heatmap {"),
    block(HEATMAP, f".attn-heatmap[{DARK} {{"),
)


def luminance(colour: str) -> float:
    """Relative luminance, as WCAG 2 defines it."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return sum(w * p for w, p in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one: str, other: str) -> float:
    """The ratio of two colours, 1 to 21."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_the_accent_is_a_colour_of_the_scale_of_weights():
    light, dark = LIGHT_MAP["ramp"].split(), DARK_MAP["ramp"].split()
    assert tuple(light) == look.RAMP
    for page, ramp in ((LIGHT_PAGE, light), (DARK_PAGE, dark)):
        assert page["accent"] == ramp[4]
        assert page["accent-strong"] == ramp[5]
        assert page["tint"] == ramp[0]
        assert page["ramp"] == f"linear-gradient(90deg, {', '.join(ramp)})"


def test_the_page_has_the_ink_of_the_figures():
    assert (LIGHT_PAGE["ink"], LIGHT_PAGE["muted"]) == (look.INK, look.MUTED)
    assert (LIGHT_PAGE["rule"], LIGHT_PAGE["panel"]) == (look.GRID, look.HATCH_GROUND)
    for name, on_map in (("ink", "ink"), ("muted", "muted"), ("rule", "grid")):
        assert DARK_PAGE[name] == DARK_MAP[on_map]


@pytest.mark.parametrize("page", [LIGHT_PAGE, DARK_PAGE], ids=["light", "dark"])
def test_every_text_colour_can_be_read_on_every_ground(page):
    for text in ("ink", "muted", "accent", "accent-strong"):
        for ground in ("ground", "panel"):
            assert contrast(page[text], page[ground]) >= 4.5, (text, ground)
    for text in ("ink", "accent-strong"):
        assert contrast(page[text], page["tint"]) >= 4.5, text


def test_assertions_are_found_to_their_last_line():
    code = "x = 1\nassert x == (\n    1\n), 'one'\nfor _ in range(2):\n    assert x\n"
    assert attn_claims.assertion_lines(code) == [2, 3, 4, 6]
    assert attn_claims.assertion_lines("y = 'assert y'\n# assert y") == []
    assert attn_claims.assertion_lines("%timeit x") == []


def test_a_quoted_cell_must_exist_and_have_printed():
    notebook = ROOT / "book" / "05_multihead.ipynb"
    cell = attn_claims.find_cell(notebook, "multihead-048")
    assert attn_claims.printed(cell) == "two heads, each sure; their mean is sure of nothing"
    with pytest.raises(ValueError, match="multihead-absent"):
        attn_claims.find_cell(notebook, "multihead-absent")
    with pytest.raises(ValueError, match="printed nothing"):
        attn_claims.printed({"outputs": []})
    assert attn_claims.chosen("a\nb\nc\nd", "2-3") == "b\nc"
