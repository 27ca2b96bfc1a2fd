"""The explorer of normalisers in a browser: what a hand finds there."""

import pytest
from attnbook_testing.widgets import MAKE
from page_parts import cells, soon

from devkit.browser import load

HELD = """([scores, weights, labels]) => {
  const { clientWidth: width, clientHeight: height } = document.querySelector("canvas[tabindex]");
  const { planRows, handleAt } = window.arithmetic;
  const plan = planRows(document.createElement("canvas").getContext("2d"),
    { width, height, labels, most: 3, ratio: 1 });
  const found = {};
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const held = handleAt(plan, { scores, weights }, x, y);
      if (held !== null) (found[held] ??= []).push([x, y]);
    }
  }
  return found;
}"""


@pytest.fixture
def held(show):
    """The page of an explorer of three keys, and the points that a finger holds each handle at."""
    widget = MAKE["NormalizerExplorer"]()
    page = show(widget).page
    load(page, "normalizer/rows.js")
    given = [list(widget.scores), widget.weights().tolist(), list(widget.labels)]
    return page, page.evaluate(HELD, given)


def moved(page, point) -> list[int]:
    """The keys whose scores differ after a drag from this point of the canvas."""
    box, before = page.locator("canvas[tabindex]").bounding_box(), cells(page)
    page.mouse.move(box["x"] + point[0], box["y"] + point[1])
    page.mouse.down()
    page.mouse.move(box["x"] + point[0] + 15, box["y"] + point[1] + 15, steps=3)
    page.mouse.up()

    def changed():
        after = cells(page)
        assert after != before
        return [
            j for j, (old, new) in enumerate(zip(before, after, strict=True)) if old[1] != new[1]
        ]

    return soon(page, changed)


@pytest.mark.parametrize(("key", "at"), [("0", min), ("2", max)])
def test_a_handle_is_moved_from_beside_its_line(held, key, at):
    """Above the first line and below the last, where nothing else or the triangle stands."""
    page, points = held
    assert moved(page, at(points[key], key=lambda point: point[1])) == [int(key)]


@pytest.mark.parametrize("at", [min, max])
def test_the_point_of_the_triangle_is_moved_from_its_edge(held, at):
    page, points = held
    x, _ = zip(*points["simplex"], strict=True)
    assert 66 <= max(x) - min(x) < 80, "wider than a finger"
    assert len(moved(page, at(points["simplex"]))) > 1
