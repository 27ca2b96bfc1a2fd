"""The site's own look: one palette with the figures, text that can be read, marked assertions."""

import re
from pathlib import Path

import attn_claims
import attn_frame
import attn_output
import attn_signature
import nbformat
import pytest
from bs4 import BeautifulSoup
from docutils import nodes

from attnbook.plots import look
from devkit.chapters import chapters

ROOT = Path(__file__).resolve().parents[2]


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
    says = "two confident heads; where they differ, no weight of the mean reaches 0.6"
    assert attn_claims.output_of(cell) == says
    with pytest.raises(ValueError, match="multihead-absent"):
        attn_claims.find_cell(notebook, "multihead-absent")
    with pytest.raises(ValueError, match="printed nothing"):
        attn_claims.output_of({"outputs": []})
    assert attn_claims.lines_of("a\nb\nc\nd", "2-3") == "b\nc"


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("one head learns one relation and gives up the other; two heads learn both", True),
        ("each bug is found, and the mended\nmodel keeps all of the laws", True),
        ("loop and reshape agree; weights (2, 2, 3, 4)", False),
        ("looking for book   1.00 of the weight lies on it", False),
        ("step  100: loss 1.731", False),
        ("RuntimeError: the sizes of these tensors do not fit", False),
        ("one of many lines that are all words\n" * 4, False),
    ],
)
def test_a_finding_is_told_from_what_is_printed_in_columns(text, is_one):
    assert bool(attn_claims.finding(text)) == is_one


FRAMES = [
    output.data
    for path in sorted((ROOT / "book").glob("*.ipynb"))
    for cell in nbformat.read(path, as_version=4).cells
    for output in cell.get("outputs", [])
    if "dataframe" in output.get("data", {}).get("text/html", "")
]


def test_every_data_frame_becomes_one_table_and_loses_no_word():
    assert len(FRAMES) > 40 and all("text/plain" in data for data in FRAMES)
    for data in FRAMES:
        before, after = (
            BeautifulSoup(html, "html.parser")
            for html in (data["text/html"], attn_output.bare(data["text/html"]))
        )
        (box,) = after.find_all("div", class_="pst-scrollable-table-container")
        (table,) = box.find_all("table", class_="table")
        assert table.get_text() == before.table.get_text()
        assert not after.style and not after.find_all(style=True)


@pytest.mark.parametrize(("lines", "asserts_at", "shown"), [(60, 0, 24), (60, 40, 40), (26, 0, 0)])
def test_long_code_is_folded_behind_its_last_assertion(lines, asserts_at, shown):
    code = ["x = 1"] * lines
    if asserts_at:
        code[asserts_at - 1] = "assert x"
    source = nodes.container("", nodes.literal_block("\n".join(code), "\n".join(code)))
    attn_output.fold(source, 1)
    found = "".join(part.astext() for part in source.findall(nodes.raw))
    assert (f"--attn-lines: {shown}" in found) == bool(shown)
    assert source.astext().count("x = 1") >= lines - 1, "nothing is lost"


def test_the_strip_tints_what_is_new():
    def entry(text, new=False):
        inside = nodes.strong("", text) if new else nodes.Text(text)
        return nodes.entry("", nodes.paragraph("", "", inside))

    rows = [
        [entry(move), entry("why?"), entry("so", new=move == "mask")] for move in attn_frame.MOVES
    ]
    boxes = list(attn_frame.strip(rows).findall(nodes.list_item))
    assert [box["classes"] for box in boxes] == [[], ["attn-new"], [], []]
    assert [box[0].astext() for box in boxes] == ["score", "mask (new here)", "normalise", "pool"]


PAGES = [chapter.signature for chapter in chapters().values()]


def test_every_page_has_a_signature_of_its_own():
    assert len({attn_signature.signature(page["draw"]) for page in PAGES}) == len(PAGES)
    assert all(len(page["caption"].split()) > 5 for page in PAGES)


@pytest.mark.parametrize("draw", [page["draw"] for page in PAGES])
def test_a_signature_is_a_matrix_of_weights(draw):
    """Each row of weights sums to one, but for sinusoids, gold links and what windows relay."""
    matrices = attn_signature.matrices(draw)
    assert matrices and all(len(set(map(len, m))) == 1 for m in matrices)
    rows = [row for matrix in matrices for row in matrix]
    assert any("gold" in row for row in rows) == (draw == "links")
    if draw not in ("places", "links", "relayed"):
        for row in rows:
            assert sum(w for w in row if w is not None) == pytest.approx(1, abs=0.03)
    assert attn_signature.signature(draw).count("<rect") == sum(map(len, rows))
