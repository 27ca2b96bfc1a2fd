"""The layer × head browser in a browser: what it draws, says, does, beside Python's own numbers."""

import importlib.util
import math
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from attnbook.widgets import LayerHeadBrowser, bundle

SIZES = {"encoder": (2, 3), "decoder": (3, 2), "cross": (2, 3)}
SENTENCES = [
    ("the red house .", "<s> la maison rouge ."),
    ("a cat sleeps today", "un chat dort"),
]
LIVE = ".ah-hidden [aria-live]"


def rows(random, shape, causal):
    """Weights of rows that sum to 1, some of them zero; no later key where `causal`."""
    raw = random.random(shape) ** 3 + 0.01
    raw[random.random(shape) < 0.1] = 0
    raw = np.tril(raw) if causal else raw
    return raw / np.maximum(raw.sum(-1, keepdims=True), 1e-9)


def examples(seed=0, sentences=SENTENCES, sizes=SIZES):
    random = np.random.default_rng(seed)
    made = []
    for source, target in sentences:
        k, q = len(source.split()), len(target.split())
        shapes = {"encoder": (k, k), "decoder": (q, q), "cross": (q, k)}
        weights = {n: rows(random, (*sizes[n], *shapes[n]), n == "decoder") for n in sizes}
        made.append({"source": source.split(), "target": target.split(), **weights})
    return made


def widget_of(**options):
    """Two sentences, the first with links, a number under each cross map."""
    made = examples()
    made[0] |= {"sure": {(1, 0), (2, 2)}, "possible": {(3, 1)}}
    scores = {"cross": np.arange(6).reshape(2, 3) / 10 + 0.05}
    return LayerHeadBrowser(made, **({"scores": scores, "score_label": "hit rate"} | options))


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


@pytest.fixture(scope="module")
def take(browser):
    """`take(widget, **changes)`: the scene that the browser makes of a widget's traits."""
    page = browser.new_page()
    page.evaluate(
        """async (source) => {
          const url = URL.createObjectURL(new Blob([source], {type: "text/javascript"}));
          window.arithmetic = await import(url);
        }""",
        bundle.join("browse/data.js"),
    )

    def call(widget, **changes):
        names = ("_examples", "_sizes", "_scores", "kind", "example", "layer", "head", "cell")
        traits = {name: getattr(widget, name) for name in (*names, "vmax")} | changes
        traits["_sizes"] = dict(sorted(traits["_sizes"].items()))  # as a saved notebook has them
        return page.evaluate(TAKE, {"traits": traits, "weights": list(widget._weights)})

    yield call
    page.close()


@st.composite
def any_widgets(draw):
    """Sentences of any length, kinds of any layers and heads, something chosen."""
    words = st.integers(1, 4).map(lambda n: " ".join("abcd"[:n]))
    sentences = draw(st.lists(st.tuples(words, words), min_size=1, max_size=3))
    kinds = draw(st.lists(st.sampled_from(list(SIZES)), min_size=1, unique=True))
    sizes = {kind: (draw(st.integers(1, 3)), draw(st.integers(1, 3))) for kind in kinds}
    made = examples(draw(st.integers(0, 99)), sentences, sizes)
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
    widget = widget_of(kind="decoder", layer=2, head=1, cell=(4, 4))
    found = take(widget, kind="cross")
    assert (found["layer"], found["head"], found["cell"]) == (1, 1, None)
    assert take(widget)["cell"] == {"i": 4, "j": 4}


# What is shown and said


def weight_said(w) -> str:
    if w == 0:
        return "0"
    return "< 0.01" if w < 0.005 else f"{w:.2f}"


def cell_said(widget, i, j) -> str:
    """What the browser has to say of a cell, from Python's own numbers."""
    queries, keys = widget.tokens()
    mark = " (possible)" if widget.gold("possible")[i, j] else ""
    if widget.gold("sure")[i, j]:
        mark = " (sure)" if widget.gold("possible").any() else " (gold)"
    text = f"layer {widget.layer}, head {widget.head}: query “{queries[i]}” → key “{keys[j]}”{mark}"
    if not widget.allowed()[i, j]:
        return f"{text}: masked (later than the query) → weight 0"
    return f"{text} → weight {weight_said(widget.weights()[i, j])}"


def table_of(widget) -> list[list[str]]:
    """The hidden table's cells, from Python's own numbers."""
    weights, allowed, sure = widget.weights(), widget.allowed(), widget.gold("sure")
    return [
        [
            (weight_said(weights[i, j]) if allowed[i, j] else "masked")
            + (" (gold)" if sure[i, j] else "")
            for j in range(weights.shape[1])
        ]
        for i in range(weights.shape[0])
    ]


def assert_shows(page, widget):
    """The marked small map, the heading and the hidden table are those of `widget`."""
    head = f"layer {widget.layer}, head {widget.head}"
    queries, keys = widget.tokens()
    page.wait_for_function(
        """([words, header]) => words.every((text) =>
          document.querySelector(".ah-hidden caption")?.textContent.includes(text))
          && document.querySelector(".ah-hidden tr").textContent === header""",
        arg=[[f"{widget.kind.title()}, {head}", widget.alt], "".join(["query", *keys])],
        timeout=5000,
    )
    chosen = page.get_by_role("radio", checked=True).locator("xpath=self::button")
    number = widget._scores.get(widget.kind)
    number = f", hit rate {number[widget.layer][widget.head]:.2f}" if number else ""
    assert chosen.get_attribute("aria-label") == head + number
    assert page.locator(".lb-heading b").inner_text() == head
    rows = page.evaluate(
        """() => [...document.querySelectorAll(".ah-hidden tr")].map((row) =>
          [...row.children].map((cell) => cell.textContent))"""
    )
    assert rows[0] == ["query", *keys]
    assert [row[0] for row in rows[1:]] == queries
    assert [row[1:] for row in rows[1:]] == table_of(widget)


def small(page, layer, head):
    return page.get_by_role("radio", name=re.compile(rf"^layer {layer}, head {head}(,|$)"))


def choose_kind(page, widget, kind):
    page.get_by_role("radio", name=kind.title(), exact=True).check(force=True)
    widget.kind = kind


def test_each_choice_shows_what_python_shows(show):
    widget = widget_of()
    shown = show(widget)
    page = shown.page
    assert_shows(page, widget)
    for kind, layer, head in (("decoder", 2, 1), ("cross", 1, 2), ("encoder", 0, 1)):
        choose_kind(page, widget, kind)
        assert page.locator("button[role=radio]").count() == np.prod(SIZES[kind])
        small(page, layer, head).click()
        widget.layer, widget.head = layer, head
        assert_shows(page, widget)
    page.get_by_role("combobox", name="Example").select_option("1")
    widget.example = 1
    assert_shows(page, widget)
    page.get_by_role("button", name="Reset").click()
    assert_shows(page, widget_of())
    assert not shown.faults


def test_the_arrow_keys_walk_the_grid(show):
    widget = widget_of(kind="cross")
    page = show(widget).page
    small(page, 0, 0).focus()
    walk = [("ArrowRight", 0, 1), ("ArrowDown", 1, 1), ("ArrowDown", 1, 1), ("End", 1, 2)]
    for key, layer, head in [*walk, ("PageUp", 0, 2), ("Home", 0, 0), ("ArrowLeft", 0, 0)]:
        page.keyboard.press(key)
        widget.layer, widget.head = layer, head
        assert small(page, layer, head).evaluate("(node) => node === document.activeElement")
        assert page.locator("button[role=radio][tabindex='0']").count() == 1
    assert_shows(page, widget)
    page.keyboard.press("ArrowRight")
    expected = "Cross, layer 0, head 1, hit rate 0.15."
    page.wait_for_function(
        "([at, text]) => document.querySelector(at).textContent === text", arg=[LIVE, expected]
    )


def test_a_pinned_cell_stays_while_heads_change(show):
    widget = widget_of(kind="cross")
    shown = show(widget)
    page = shown.page
    canvas, readout, live = (page.locator(at) for at in ("canvas[tabindex]", ".ah-readout", LIVE))
    canvas.focus()
    assert live.inner_text() == cell_said(widget, 0, 0)
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight"):
        canvas.press(key)
    assert live.inner_text() == cell_said(widget, 2, 2)
    assert not page.locator(".ah-row").is_visible()
    canvas.press("Enter")
    assert page.locator(".ah-row").is_visible() and page.locator(".ah-ring").is_visible()
    for layer, head in ((1, 2), (0, 1)):
        small(page, layer, head).click()
        widget.layer, widget.head = layer, head
        weights = widget.weights()[2]
        best = widget.tokens()[1][weights.argmax()]
        text = readout.inner_text()
        assert text.startswith(f"{cell_said(widget, 2, 2)}. Strongest keys: {best} ")
        assert weight_said(weights.max()) in text.partition("Strongest keys")[2]
    canvas.focus()
    canvas.press("Escape")
    assert live.inner_text() == "unpinned" and not page.locator(".ah-row").is_visible()
    assert not shown.faults


def test_pointing_tells_and_a_click_pins(show):
    widget = widget_of(kind="decoder")
    page = show(widget).page
    frame = page.locator("canvas[tabindex]").bounding_box()
    page.locator("canvas[tabindex]").focus()
    ring = page.locator(".ah-ring").evaluate(
        """(ring) => [...ring.style.transform.match(/[\\d.]+/g).map(Number),
          parseFloat(ring.style.width), parseFloat(ring.style.height)]"""
    )

    def middle(i, j):
        x, y, w, h = ring
        return frame["x"] + x + (j + 0.5) * w, frame["y"] + y + (i + 0.5) * h

    page.mouse.move(*middle(1, 3))
    assert page.locator(".ah-readout").inner_text() == cell_said(widget, 1, 3)
    assert "masked (later than the query)" in cell_said(widget, 1, 3)
    page.mouse.click(*middle(3, 1))
    page.mouse.move(*middle(4, 0))
    assert page.locator(".ah-readout").inner_text() == cell_said(widget, 4, 0)
    page.mouse.move(5, 5)
    assert page.locator(".ah-readout").inner_text().startswith(cell_said(widget, 3, 1))


def test_it_starts_where_python_says(show):
    where = {"kind": "cross", "example": 1, "layer": 1, "head": 1, "cell": (2, 3)}
    widget = widget_of(**where)
    page = show(widget).page
    assert_shows(page, widget)
    assert page.locator(".ah-readout").inner_text().startswith(cell_said(widget, 2, 3))
    small(page, 0, 0).click()
    page.get_by_role("button", name="Reset").click()
    assert_shows(page, widget)


def test_masked_zero_and_small_are_told_apart(show):
    weights = np.zeros((1, 1, 3, 3))
    weights[0, 0, :, 0], weights[0, 0, 2, 1] = 1, 1e-6
    widget = LayerHeadBrowser([{"target": list("abc"), "decoder": weights}])
    page = show(widget).page
    colours = page.evaluate(
        """() => [...document.querySelectorAll("canvas")].map((canvas) => {
          const ctx = canvas.getContext("2d");
          const seen = (i, j) => { // the colours of a cell, of the lower right nine
            const ring = 3; // cells
            const [w, h] = canvas.matches("[tabindex]") ? [52, 52]
              : [(canvas.width - 1) / ring, (canvas.height - 1) / ring];
            const [left, top] = canvas.matches("[tabindex]")
              ? [52, canvas.height - 2 - 3 * 52] : [0, 0];
            const box = [left + j * w + 3, top + i * h + 3, w - 6, h - 6].map(Math.round);
            const { data } = ctx.getImageData(...box);
            const found = new Set();
            for (let at = 0; at < data.length; at += 4) found.add(data.slice(at, at + 4).join());
            return found;
          };
          return [seen(1, 2).size > 1, [...seen(1, 1)], [...seen(2, 1)][0] !== "0,0,0,0"];
        })"""
    )
    assert len(colours) == 2
    for hatched, zero, small_is_there in colours:
        assert hatched, "masked cells are hatched"
        assert zero == ["0,0,0,0"], "zero is blank"
        assert small_is_there, "a small weight is faint, not blank"


def test_the_site_checks_hold(show):
    """What every widget of the built site must do, on a page of its own."""
    path = Path(__file__).with_name("test_site.py")
    spec = importlib.util.spec_from_file_location("site_checks", path)
    site = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(site)
    for width in (1280, 360):
        shown = show(widget_of(kind="cross"), width=width)
        site.check_answers(shown.page, shown.page.locator(".attn-widget"))
        assert not shown.faults


# How it looks


@pytest.mark.parametrize("heads", [2, 12])
@pytest.mark.parametrize("width", [1280, 360])
def test_it_fits_its_page(show, width, heads):
    made = examples(sizes={"encoder": (3, heads), "cross": (1, 2)})
    widget = LayerHeadBrowser(made, scores={"encoder": np.ones((3, heads))})
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
    for n, a in enumerate(corners):
        for b in corners[n + 1 :]:
            apart = b["left"] >= a["right"] - 0.5 or b["top"] >= a["bottom"] - 0.5
            assert apart, "small maps do not overlap"


def test_it_follows_the_dark_theme(show):
    page = show(widget_of()).page
    canvases = "() => [...document.querySelectorAll('canvas')].map((canvas) => canvas.toDataURL())"
    light = page.evaluate(canvases)
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    page.wait_for_selector(".attn-browse[data-theme=dark]")
    page.wait_for_timeout(100)
    dark = page.evaluate(canvases)
    assert len(light) == 7 and all(a != b for a, b in zip(light, dark, strict=True))


LONG = [("an extraordinarily complicated sentence , see ?", "une phrase compliquée ."), ("a", "b")]


@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize(("width", "size"), [(720, (1, 1)), (720, (6, 8)), (312, (6, 8))])
def test_no_choice_moves_what_stands_below(show, width, size, kept):
    """Nor in the page that keeps the height of the first choice free."""
    made = examples(sentences=LONG, sizes={"encoder": (1, 2), "decoder": size, "cross": size})
    made[0] |= {"sure": {(0, 0)}, "possible": {(1, 1)}}
    scores = {"cross": np.full(size, 0.5)}
    widget = LayerHeadBrowser(made, scores=scores, score_label="hit rate", title="Heads")
    used = lambda page: page.locator(".attn-browse").bounding_box()["height"]  # noqa: E731
    page = show(widget, width=width + 32).page
    height = math.ceil(used(page))
    if kept:
        style = f".attn-widget {{ --attn-wide: {height}; --attn-narrow: {height}; margin: 0 }}"
        page = show(widget, width=width + 32, style=style).page
    for kind in ("Encoder", "Decoder", "Cross"):
        page.get_by_role("radio", name=kind, exact=True).check(force=True)
        for example in ("0", "1"):
            page.get_by_role("combobox").select_option(example)
            page.locator("canvas[tabindex]").press("Enter")
            assert height - 2 <= used(page) <= height
            map_, legend = (page.locator(at).bounding_box() for at in (".lb-large", ".ah-legend"))
            grid = page.locator(".lb-grid").bounding_box()
            for part in (map_, grid):
                assert part["y"] + part["height"] <= legend["y"], "nothing lies over the legend"
            cell = page.locator(".ah-ring").evaluate("(ring) => parseFloat(ring.style.height)")
            assert cell >= 14, "its rows have room for their labels"


def test_labels_are_text_not_markup(show):
    word = '<img src="nowhere.png">'
    made = [{"name": word, "source": [word, "b"], "encoder": np.full((1, 1, 2, 2), 0.5)}] * 2
    shown = show(LayerHeadBrowser(made, title=word, alt=word, score_label=word))
    assert shown.page.locator(".attn-browse img").count() == 0
    assert shown.page.locator(".ah-title").inner_text() == word and not shown.faults


def test_with_nothing_to_choose_from_the_smallest_works(show):
    one = {"source": ["a"], "encoder": np.ones((1, 1, 1, 1))}
    shown = show(LayerHeadBrowser([one]))
    page = shown.page
    assert page.locator("input, select").count() == 0
    page.locator("canvas[tabindex]").focus()
    expected = "layer 0, head 0: query “a” → key “a” → weight 1.00"
    assert page.locator(LIVE).inner_text() == expected
    assert not shown.faults


def test_two_views_of_one_model_move_together(show):
    widget = widget_of(kind="cross")
    page = show(widget, widget).page
    small(page, 1, 1).first.click()
    assert page.locator(".lb-heading b").all_inner_texts() == ["layer 1, head 1"] * 2
