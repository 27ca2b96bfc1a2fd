"""The haystack explorer in a browser: its arithmetic against Python's, its mouse, its speed."""

import pytest
import torch
from attnbook_testing.widgets import haystack
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from page_parts import colours, live, rgb
from test_haystack_widget import tied_clusters, widgets
from widget_rows import haystack_key, tells

import attnbook as ab
from attnbook.widgets import HaystackExplorer
from attnbook.widgets.haystack import CHOICES, USED
from devkit.bench import speed

in_browser = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
CALL = """(all) => all.map(({ arrays, settings, ...sizes }) => {
  const numbers = Object.entries(arrays).map(([name, x]) => [name, Float64Array.from(x)]);
  const hay = { ...sizes, ...Object.fromEntries(numbers) };
  const weights = arithmetic.denseWeights(hay);
  const { scores, kept, spent } = arithmetic.choose(hay, settings);
  const results = arithmetic.judge(hay, weights, kept);
  return { weights: [...weights], scores: [...scores], kept: [...kept], spent, results };
})"""
SEEN = """[...document.querySelectorAll("input[type=range]")].flatMap(
  (node, at) => (node.checkVisibility() ? [at] : []))"""


def sent(widget):
    """What the browser is given, without the packing."""
    n, q, d, heads, size = widget._shape
    parts = widget._haystack()._asdict()
    del parts["seed"]
    arrays = {name: array.flatten().tolist() for name, array in parts.items()}
    sizes = {"n": n, "q": q, "d": d, "heads": heads, "size": size, "starts": widget._starts}
    options = {name: getattr(widget, name) for name in USED}
    return sizes | {"needles": widget.needles, "arrays": arrays, "settings": options}


def slow_clusters():
    """Clusters whose centres still move in the last step, and would in one more."""
    keys = torch.randn(256, 3, generator=torch.Generator().manual_seed(2))
    widget = HaystackExplorer(keys, keys[:4], scorer="cluster", clusters=16)
    centres = [
        ab.k_means(widget.rounded()[0], 16, steps=n, generator=torch.Generator().manual_seed(0))
        for n in (9, 10, 11)
    ]
    assert not torch.equal(centres[0], centres[1]) and not torch.equal(centres[1], centres[2])
    return widget


def assert_pythons(module, several):
    found = module("haystack/choose.js").evaluate(CALL, [sent(widget) for widget in several])
    for widget, one in zip(several, found, strict=True):
        shape = widget.kept().shape
        kept = torch.tensor(one["kept"]).bool().reshape(shape)
        assert torch.equal(kept, widget.kept()), widget.scorer
        scores = torch.tensor(one["scores"], dtype=torch.float64).reshape(shape)
        # the root in a distance makes much of the rounding of a small number
        torch.testing.assert_close(scores, widget.scores(), atol=1e-6, rtol=1e-9)
        weights = torch.tensor(one["weights"], dtype=torch.float64).reshape(shape)
        torch.testing.assert_close(weights, widget.weights(), atol=1e-12, rtol=0)
        assert one["spent"] == widget.spent()
        assert [x["found"] for x in one["results"]] == widget.found().tolist()
        assert [x["count"] for x in one["results"]] == widget.kept().sum(-1).tolist()
        shares = [x["weight"] for x in one["results"]]
        assert shares == pytest.approx(widget.weight_kept().tolist(), abs=1e-12)


@given(st.lists(widgets(), min_size=1, max_size=6))
@in_browser
def test_what_is_kept_is_pythons(module, several):
    assert_pythons(module, several)


def empty_clusters(nearest):
    """Each key twice, and a centre at each: one of two is nearest to no key."""
    options = {"scorer": "cluster", "clusters": 8, "nearest": nearest}
    return HaystackExplorer(torch.eye(4).repeat(2, 1), [[0.5, 1.0, 3.0, 2.0]], **options)


def test_hard_clusters_are_pythons(module):
    empty = [empty_clusters(nearest) for nearest in (1, 2, 3, 4)]
    assert_pythons(module, [tied_clusters(2), slow_clusters(), *empty])


def said_of(page) -> str:
    return page.locator(".hx-said").inner_text()


@pytest.mark.parametrize(
    ("scorer", "words"),
    [
        ("indexer", lambda score: ["its cheap score", score]),
        ("hash", lambda score: ["in the query's bucket in", score, "of 2 rounds"]),
        ("cluster", lambda score: ["its centre is", -score, "from the query"]),
    ],
)
def test_pointing_at_a_key_reads_it(show, scorer, words):
    widget = haystack(scorer=scorer)
    page = show(widget).page
    canvas = page.locator("canvas")
    width, line = canvas.evaluate("(c) => [c.clientWidth, c.clientHeight / 2]")
    before = said_of(page)
    cell = min(28, (width - 32) // 32)
    for j, (row, column) in {0: (0, 0), 31: (0, 31), 33: (1, 1)}.items():
        x, y = 30 + (column + 0.5) * cell, (row + 1) * line - 14
        canvas.hover(position={"x": x, "y": y})
        name, weight, score, fate = haystack_key(widget, j)
        tells(said_of(page), [f"{name}: weight {weight}; ", *words(score), f"; {fate}"])
    canvas.hover(position={"x": 30 + 20.5 * cell, "y": 2 * line - 14})  # where no key is
    assert said_of(page).startswith("key 33")
    page.mouse.move(0, 0)
    assert said_of(page) == before


def test_on_a_phone_the_arrows_follow_shorter_rows(show):
    page = show(haystack(), width=360).page
    canvas = page.locator("canvas")
    canvas.focus()
    canvas.press("Home")
    canvas.press("ArrowDown")
    assert live(page).startswith("key 16")


def test_a_missed_needle_is_struck_through(show):
    kept = haystack().kept()[1]
    strokes = {}
    for shown in (kept, ~kept):
        needle = shown.nonzero()[0].item()
        page = show(haystack(needles=[needle] * 5)).page
        size = page.locator("canvas").evaluate("(c) => [c.clientWidth, c.clientHeight]")
        cell = min(28, (size[0] - 32) // 32)
        bottom = (needle // 32 + 1) * size[1] / 2 - 5
        box = {"x": 30 + cell * (needle % 32), "y": bottom - cell, "w": cell, "h": cell}
        strokes[bool(kept[needle])] = rgb("#b4410e") in colours(page, box, "canvas")
        line = page.locator(".ah-readout span").first
        said = "found" if kept[needle] else "missed"
        assert (
            line.inner_text().endswith(f"{said}.") and line.get_attribute("class") == f"hx-{said}"
        )
    assert strokes == {True: False, False: True}


def test_a_change_of_256_keys_takes_less_than_a_frame(browser):
    """The least of many, so that a busy machine does not count."""
    random = torch.Generator().manual_seed(0)
    keys, queries = torch.randn(256, 16, generator=random), torch.randn(16, 16, generator=random)
    for scorer in CHOICES:
        with speed.shown(browser, HaystackExplorer(keys, queries, scorer=scorer)) as page:
            for slider in page.evaluate(SEEN):
                assert min(page.evaluate(speed.CHANGES, [[slider], 20])) < 16, (scorer, slider)
