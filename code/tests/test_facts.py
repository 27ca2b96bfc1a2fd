"""Reading time and run time: reckoned, measured, and the chapters' own words agree with them."""

import json
import re

import attn_facts
import pytest
from docutils import nodes
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from devkit import ROOT, clean, notebooks
from devkit.chapters import chapters

RUNS = re.compile(r"It reads in about [\w ]+? and runs in ([\w ]+?)(?: on two CPU cores|[.:])")
SECONDS = {  # what a chapter may say, and what it then may take
    "a few seconds": (0, 15),
    "well under a minute": (0, 45),
    "under a minute": (0, 60),
    "about a minute": (30, 90),
    "under two minutes": (30, 120),
    "about two minutes": (90, 150),
}


def document(*parts):
    """A page with one section, of these parts."""
    made = nodes.document(None, None)
    made += nodes.section("", nodes.title("", "Title"), *parts)
    return made


def prose(words: int):
    return nodes.paragraph("", "word " * words)


def cell(lines: int):
    code = "x = 1\n\n" * lines  # blank lines take no time
    source = nodes.container("", nodes.literal_block(code, code))
    source["nb_element"] = "cell_code_source"
    return source


def test_reading_time_counts_words_and_visible_code():
    base = attn_facts.minutes(document())
    assert attn_facts.minutes(document(prose(280))) - base == pytest.approx(2)
    assert attn_facts.minutes(document(cell(60))) - base == pytest.approx(5)
    for tag in ("tag_hide-input", "tag_hide-cell"):
        folded = nodes.container("", cell(30), classes=["cell", tag])
        assert attn_facts.minutes(document(folded)) == base
    exercises = nodes.section("", prose(4000), ids=["exercises"])
    assert attn_facts.minutes(document(exercises)) == base


def test_a_prediction_takes_two_minutes_beside_its_words():
    def page(kind):
        return document(nodes.admonition("", prose(140), classes=[kind]))

    asked = attn_facts.minutes(page("attn-predict"))
    assert asked - attn_facts.minutes(page("note")) == pytest.approx(2)
    evidence = nodes.admonition("", nodes.title("", "Evidence"), classes=["attn-evidence"])
    box = nodes.admonition("", prose(140), classes=["attn-predict"])
    folded = document(evidence, box)
    assert attn_facts.minutes(folded) < attn_facts.minutes(document()) + 0.1


def test_times_are_said_in_round_numbers():
    assert [attn_facts.rounded(m) for m in (0, 12.4, 12.6, 51)] == [5, 10, 15, 50]
    words = {3: "a few seconds", 10.5: "about 10 seconds", 41: "about 50 seconds"}
    words |= {60: "about a minute", 85: "about 2 minutes", 125: "about 2 minutes"}
    assert {s: attn_facts.in_words(s) for s in words} == words


def test_a_stored_time_belongs_to_the_code_that_ran():
    code, hidden = new_code_cell("a"), new_code_cell("pip", metadata={"tags": ["remove-cell"]})
    prose, about = new_markdown_cell("A"), {"chapter": "1", "way": "short"}
    nb = new_notebook(cells=[prose, code], metadata={"attnbook": about})
    assert notebooks.note_time(nb, 3.14159) and nb.metadata.attnbook.run.seconds == 3.1
    assert not notebooks.note_time(nb, 99.0)  # a second run changes nothing
    prose.source, nb.cells = "B", [hidden, *nb.cells]
    assert not notebooks.note_time(nb, 99.0) and nb.metadata.attnbook.run.seconds == 3.1
    code.source = "b"
    assert notebooks.note_time(nb, 4.0) and nb.metadata.attnbook.run.seconds == 4.0
    assert clean.clean(nb, "01_a").metadata.attnbook.run.seconds == 4.0
    assert not notebooks.note_time(new_notebook(cells=[code]), 4.0)  # no page of a chapter


@pytest.mark.parametrize("chapter", chapters().values(), ids=lambda chapter: chapter.name)
def test_every_chapter_has_a_measured_time_that_is_what_it_says(chapter):
    how = f"`make notebooks NB=book/{chapter.name}.ipynb` measures it"
    assert chapter.seconds, f"{chapter.name}: its code is not what was measured: {how}"
    cells = json.loads((ROOT / "book" / f"{chapter.name}.ipynb").read_text("utf-8"))["cells"]
    text = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
    for runs in RUNS.findall(text):
        low, high = SECONDS[runs]
        assert low <= chapter.seconds <= high
