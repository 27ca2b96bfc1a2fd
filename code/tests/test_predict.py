"""The predictions of every chapter: each takes an answer, and the committed output bears it out."""

import json
from collections import Counter
from statistics import median

import pytest

from devkit import ROOT
from devkit.chapters import chapters
from devkit.predict import CLASS, Box, boxes, printed

PAGES = sorted(chapters())
MOST = 0.45  # of the right choices may stand at one place


def notebook(name: str) -> dict:
    return json.loads((ROOT / "book" / f"{name}.ipynb").read_text("utf-8"))


def complaints(page: dict, box: Box) -> list[str]:
    """What is wrong with a box and its answer."""
    found = []
    if not box.code:
        found.append("no output below")
    if box.choices:
        if box.number or not 3 <= len(set(box.choices)) == len(box.choices) <= 5:
            found.append("three to five choices, each another, and no number")
        if box.right not in range(1, len(box.choices) + 1):
            found.append("one choice is right")
    elif not box.number or box.within < 0 or not float(box.number):
        found.append("no choices and no number")
    cells = [page["cells"][n] for n in box.code]
    outputs = [output for cell in cells for output in cell["outputs"]]
    told = any(o["output_type"] == "stream" or "text/html" in o.get("data", {}) for o in outputs)
    varies = any("nbval-ignore-output" in c["metadata"].get("tags", []) for c in cells)
    said = " ".join(box.shows.split()) in printed(page, box)
    if not said or (told and not varies and not box.shows):
        found.append(f"the output does not show {box.shows!r}")
    return found


@pytest.mark.parametrize("name", PAGES)
def test_every_box_takes_an_answer_that_the_output_shows(name):
    page = notebook(name)
    found = boxes(page)
    source = "".join("".join(c["source"]) for c in page["cells"] if c["cell_type"] == "markdown")
    assert len(found) == source.count(f":class: {CLASS}") > 0
    assert {box.cell: wrong for box in found if (wrong := complaints(page, box))} == {}


def test_the_right_choice_stands_at_every_place():
    """And it is not given away by its length; the median page has five boxes."""
    every = [box for name in PAGES for box in boxes(notebook(name))]
    asked = [box for box in every if box.choices]
    counts = sorted((len(boxes(notebook(name))), name) for name in PAGES)
    assert median(count for count, _ in counts) >= 5, f"too few boxes; the fewest: {counts[:3]}"
    places = Counter(box.right for box in asked)
    longest = sum(len(b.choices[b.right - 1]) == max(map(len, b.choices)) for b in asked)
    assert max(places.values()) <= MOST * len(asked) and set(places) == {1, 2, 3, 4}
    assert longest <= MOST * len(asked)


BOX = """:::{admonition} Predict, then run
:class: attn-predict
Which?

- one
- two,
  in two lines
- three
:::"""


def small(said: dict, output: str) -> dict:
    """A page with one box, a diagram, code, and the text that says why."""
    cells = [
        {"cell_type": "markdown", "id": "a", "source": [BOX]},
        {"cell_type": "markdown", "id": "b", "source": ["```{diagram} four\n```"]},
        {"cell_type": "code", "id": "c", "source": ["1"], "outputs": []},
        {"cell_type": "markdown", "id": "d", "source": ["Two."]},
        {"cell_type": "code", "id": "e", "source": ["2"], "outputs": []},
    ]
    for cell in cells:
        cell["metadata"] = {}
    cells[0]["metadata"] = {"attnbook": {"predict": said}}
    cells[2]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": [output]}]
    return {"cells": cells}


def test_a_box_is_read_with_its_choices_and_the_cells_below():
    (box,) = boxes(small({"right": 2, "shows": "two"}, "two\n"))
    assert box.choices == ("one", "two, in two lines", "three")
    assert (box.code, box.why) == ((2,), (1, 1))
    (further,) = boxes(small({"right": 2, "until": "e", "why": []}, ""))
    assert (further.code, further.why) == ((2, 4), ())


@pytest.mark.parametrize(
    ("said", "output"),
    [
        ({"right": 2, "shows": "three"}, "two"),
        ({"right": 2}, "two"),
        ({"right": 4, "shows": "two"}, "two"),
        ({"right": 0, "shows": "two"}, "two"),
        ({"number": "2", "right": 2}, "2"),
        ({}, "two"),
    ],
)
def test_a_wrong_box_is_noticed(said, output):
    page = small(said, output)
    assert complaints(page, *boxes(page))
    right = small({"right": 2, "shows": "two"}, "two")
    assert not complaints(right, *boxes(right))
