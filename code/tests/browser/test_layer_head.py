"""The layer × head browser in a browser: its arithmetic, its grid, its pins."""

import itertools
import math
import re

import numpy as np
import pytest
from attnbook_testing.widgets import SIZES, browsed, browser_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from page_parts import cell_box, colours, live, readout, ring_of, said, soon, use
from widget_rows import cell_said, shows, two

from attnbook.widgets import LayerHeadBrowser

# The arithmetic

TAKE = """({ traits, weights }) => {
  const model = { get: (name) => (name === "_weights" ? Uint8Array.from(weights) : traits[name]) };
  const { readMaps, takeMap, takeScene } = window.arithmetic;
  const scene = takeScene(model, readMaps(model));
  const maps = [];
  for (let layer = 0; layer < scene.layers; layer++) {
    for (let head = 0; head < scene.heads; head++) {
      maps.push([...takeMap(scene, layer, head).weights]);
    }
  }
  const { allowed, queryLabels, keyLabels, layer, head, cell, sure, possible } = scene;
  return { maps, queryLabels, keyLabels, layer, head, cell, allowed: [...allowed],
           sure: sure && [...sure], possible: possible && [...possible] };
}"""


@pytest.fixture
def take(module):
    """`take(widget, **changes)`: the scene that the browser makes of a widget's traits."""

    def call(widget, **changes):
        names = ("_examples", "_sizes", "_scores", "kind", "example", "layer", "head", "cell")
        traits = {name: getattr(widget, name) for name in (*names, "vmax")} | changes
        traits["_sizes"] = dict(sorted(traits["_sizes"].items()))  # as a saved notebook has them
        page = module("browse/data.js")
        return page.evaluate(TAKE, {"traits": traits, "weights": list(widget._weights)})

    return call


@st.composite
def any_widgets(draw):
    """Sentences of any length, kinds of any layers and heads, something chosen."""
    words = st.integers(1, 4).map(lambda n: " ".join("abcd"[:n]))
    sentences = draw(st.lists(st.tuples(words, words), min_size=1, max_size=3))
    kinds = draw(st.lists(st.sampled_from(list(SIZES)), min_size=1, unique=True))
    sizes = {kind: (draw(st.integers(1, 3)), draw(st.integers(1, 3))) for kind in kinds}
    made = browsed(draw(st.integers(0, 99)), sentences, sizes)
    if "cross" in kinds:
        for entry in made:
            cells = st.tuples(*(st.integers(0, len(entry[s]) - 1) for s in ("target", "source")))
            entry |= {"sure": draw(st.sets(cells)), "possible": draw(st.sets(cells))}
    kind = draw(st.sampled_from(kinds))
    return LayerHeadBrowser(
        made,
        kind=kind,
        example=draw(st.integers(0, len(made) - 1)),
        layer=draw(st.integers(0, sizes[kind][0] - 1)),
        head=draw(st.integers(0, sizes[kind][1] - 1)),
    )


@given(any_widgets())
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_equals_python(take, widget):
    found = take(widget)
    maps = widget.maps()
    assert np.reshape(found["maps"], maps.shape).tolist() == maps.tolist()
    assert found["allowed"] == widget.allowed().astype(int).ravel().tolist()
    assert (found["queryLabels"], found["keyLabels"]) == widget.tokens()
    assert (found["layer"], found["head"]) == (widget.layer, widget.head)
    for links in ("sure", "possible"):
        marks = widget.gold(links).astype(int).ravel().tolist()
        assert found[links] == (marks if any(marks) else None)


def test_one_change_at_a_time_does_no_harm(take):
    """A kernel tells kind, layer and cell one after the other: in between they may not fit."""
    widget = browser_of(kind="decoder", layer=2, head=1, cell=(4, 4))
    found = take(widget, kind="cross")
    assert (found["layer"], found["head"], found["cell"]) == (1, 1, None)
    assert take(widget)["cell"] == {"i": 4, "j": 4}


# What it shows, says and does


def small(page, layer, head):
    """The small map of a head, both from 0; it is called by numbers from 1."""
    name = re.compile(rf"^layer {layer + 1}, head {head + 1}(,|$)")
    return page.get_by_role("radio", name=name)


def test_the_arrow_keys_walk_the_grid(show):
    widget = browser_of(kind="cross")
    page = show(widget).page
    small(page, 0, 0).focus()
    walk = [("ArrowRight", 0, 1), ("ArrowDown", 1, 1), ("ArrowDown", 1, 1), ("End", 1, 2)]
    for key, layer, head in [*walk, ("PageUp", 0, 2), ("Home", 0, 0), ("ArrowLeft", 0, 0)]:
        page.keyboard.press(key)
        widget.layer, widget.head = layer, head
        assert small(page, layer, head).evaluate("(node) => node === document.activeElement")
        assert page.locator("button[role=radio][tabindex='0']").count() == 1
    soon(page, shows, page, widget)
    page.keyboard.press("ArrowRight")
    said(page, "Cross, layer 1, head 2, hit rate 0.15.")


def test_a_pinned_cell_stays_while_heads_change(show):
    widget = browser_of(kind="cross")
    page = show(widget).page
    canvas = page.locator("canvas[tabindex]")
    canvas.focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight"):
        canvas.press(key)
    assert not page.locator(".ah-row").is_visible()
    canvas.press("Enter")
    assert page.locator(".ah-row").is_visible() and page.locator(".ah-ring").is_visible()
    for layer, head in ((1, 2), (0, 1)):
        small(page, layer, head).click()
        widget.layer, widget.head = layer, head
        weights = widget.weights()[2]
        best = widget.tokens()[1][weights.argmax()]
        text = readout(page)
        assert text.startswith(f"{cell_said(widget, (2, 2))}. Strongest keys: {best} ")
        assert two(weights.max()) in text.partition("Strongest keys")[2]
    canvas.focus()
    canvas.press("Escape")
    assert live(page) == "unpinned" and not page.locator(".ah-row").is_visible()


def test_pointing_tells_and_a_click_pins(show):
    widget = browser_of(kind="decoder")
    page = show(widget).page
    frame = page.locator("canvas[tabindex]").bounding_box()
    page.locator("canvas[tabindex]").focus()
    ring = ring_of(page)

    def middle(i, j):
        x, y = ring["x"] + (j + 0.5) * ring["w"], ring["y"] + (i + 0.5) * ring["h"]
        return frame["x"] + x, frame["y"] + y

    page.mouse.move(*middle(1, 3))
    assert readout(page) == cell_said(widget, (1, 3))
    assert "masked (later than the query)" in cell_said(widget, (1, 3))
    page.mouse.click(*middle(3, 1))
    page.mouse.move(*middle(4, 0))
    assert readout(page) == cell_said(widget, (4, 0))
    page.mouse.move(5, 5)
    assert readout(page).startswith(cell_said(widget, (3, 1)))


def test_masked_zero_and_small_are_told_apart(show):
    """On the large map and on the small one."""
    weights = np.zeros((1, 1, 3, 3))
    weights[0, 0, :, 0], weights[0, 0, 2, 1] = 1, 1e-6
    page = show(LayerHeadBrowser([{"target": list("abc"), "decoder": weights}])).page
    grid = page.locator("button[role=radio] canvas").evaluate("(canvas) => canvas.width - 1") / 3
    for canvas in ("canvas[tabindex]", "button[role=radio] canvas"):
        masked, zero, faint = (
            inner(page, canvas, grid, *cell) for cell in ((1, 2), (1, 1), (2, 1))
        )
        assert len(masked) > 1, "masked cells are hatched"
        assert zero == {(0, 0, 0, 0)}, "zero is blank"
        assert (0, 0, 0, 0) not in faint, "a small weight is faint, not blank"


def inner(page, canvas, grid, i, j):
    """The colours inside a cell of the large map, or of the small one with cells of `grid`."""
    box = {"x": j * grid, "y": i * grid, "w": grid, "h": grid}
    if "tabindex" in canvas:
        box = cell_box(page, i, j, canvas)
    cut = {"x": box["x"] + 3, "y": box["y"] + 3, "w": box["w"] - 6, "h": box["h"] - 6}
    return colours(page, cut, canvas)


# How it looks


@pytest.mark.parametrize("width", [1280, 360])
def test_it_fits_its_page(show, width):
    made = browsed(sizes={"encoder": (3, 12), "cross": (1, 2)})
    widget = LayerHeadBrowser(made, scores={"encoder": np.ones((3, 12))})
    page = show(widget, width=width, style="body { max-width: 672px }").page
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    grid, large = (page.locator(at).bounding_box() for at in (".lb-grid", ".lb-large"))
    if width == 1280:
        assert large["x"] >= grid["x"] + grid["width"] and abs(large["y"] - grid["y"]) < 2
    else:
        assert large["y"] >= grid["y"] + grid["height"]
    assert page.locator(".lb-grid").evaluate("(node) => node.scrollWidth <= node.clientWidth")
    corners = page.locator("button[role=radio]").evaluate_all(
        "(nodes) => nodes.map((node) => node.getBoundingClientRect().toJSON())"
    )
    for a, b in itertools.combinations(corners, 2):
        apart = b["left"] >= a["right"] - 0.5 or b["top"] >= a["bottom"] - 0.5
        assert apart, "small maps do not overlap"


LONG = [("an extraordinarily complicated sentence , see ?", "une phrase compliquée ."), ("a", "b")]


@pytest.mark.parametrize(("width", "size"), [(720, (1, 1)), (312, (6, 8))])
def test_no_choice_moves_what_stands_below(show, width, size):
    """Nor in the page that keeps the height of the first choice free."""
    made = browsed(sentences=LONG, sizes={"encoder": (1, 2), "decoder": size, "cross": size})
    made[0] |= {"sure": {(0, 0)}, "possible": {(1, 1)}}
    scores = {"cross": np.full(size, 0.5)}
    widget = LayerHeadBrowser(made, scores=scores, score_label="hit rate", title="Heads")

    def used(page):
        return page.locator(".attn-browse").bounding_box()["height"]

    plain = show(widget, width=width + 32).page
    height = math.ceil(used(plain))
    style = f".attn-widget {{ --attn-wide: {height}; --attn-narrow: {height}; margin: 0 }}"
    for page in (plain, show(widget, width=width + 32, style=style).page):
        for kind, example in itertools.product(("Encoder", "Decoder", "Cross"), "01"):
            use(page, "radio", kind)
            use(page, "combobox", "Example", example)
            page.locator("canvas[tabindex]").press("Enter")
            assert height - 2 <= used(page) <= height
            legend = page.locator(".ah-legend").bounding_box()["y"]
            for part in (".lb-large", ".lb-grid"):
                box = page.locator(part).bounding_box()
                assert box["y"] + box["height"] <= legend, "nothing lies over the legend"
            assert ring_of(page)["h"] >= 14, "its rows have room for their labels"


def test_with_nothing_to_choose_from_there_are_no_controls(show):
    page = show(LayerHeadBrowser([{"source": ["a"], "encoder": np.ones((1, 1, 1, 1))}])).page
    assert page.locator("input, select").count() == 0
    page.locator("canvas[tabindex]").focus()
    assert live(page) == "layer 1, head 1: query “a” → key “a” → weight 1.00"
