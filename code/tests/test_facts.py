"""Reading time and run time: reckoned, measured, and the chapters' own words agree with them."""

import json
import re
from pathlib import Path

import attn_facts
import pytest
from docutils import nodes

from devkit import run_times

ROOT = Path(__file__).resolve().parents[2]


CHAPTERS = sorted((ROOT / "book").glob("[0-9][0-9]_*.ipynb"))
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
    assert attn_facts.minutes(document(prose(400))) - base == pytest.approx(2)
    assert attn_facts.minutes(document(cell(30))) - base == pytest.approx(5)
    for tag in ("tag_hide-input", "tag_hide-cell"):
        folded = nodes.container("", cell(30), classes=["cell", tag])
        assert attn_facts.minutes(document(folded)) == base
    exercises = nodes.section("", prose(4000), ids=["exercises"])
    assert attn_facts.minutes(document(exercises)) == base


def test_times_are_said_in_round_numbers():
    assert [attn_facts.rounded(m) for m in (0, 12.4, 12.6, 51)] == [5, 10, 15, 50]
    words = {3: "a few seconds", 10.5: "about 10 seconds", 41: "about 50 seconds"}
    words |= {60: "about a minute", 85: "about 2 minutes", 125: "about 2 minutes"}
    assert {s: attn_facts.in_words(s) for s in words} == words


def test_a_stored_time_belongs_to_the_code_that_ran(tmp_path):
    store = tmp_path / "times.json"
    code, hidden = ({"cell_type": "code", "source": [s], "metadata": {}} for s in ("a\n", "pip"))
    hidden["metadata"]["tags"] = ["remove-cell"]
    prose_cell = {"cell_type": "markdown", "source": ["A"], "metadata": {}}
    nb = {"cells": [prose_cell, code]}
    assert run_times.record("01_a", nb, 3.14159, store)
    assert not run_times.record("01_a", nb, 99.0, store)  # a second run changes nothing
    before = store.read_bytes()
    prose_cell["source"], nb["cells"] = ["B"], [hidden, *nb["cells"]]
    assert not run_times.record("01_a", nb, 99.0, store) and store.read_bytes() == before
    code["source"] = ["b\n"]
    assert run_times.record("01_a", nb, 4.0, store)
    assert run_times.load(store)["01_a"]["seconds"] == 4.0


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_every_chapter_has_a_measured_time_that_is_its_own(path):
    how = f"`make notebooks NB=book/{path.name}` measures it"
    if path.stem not in run_times.load():
        pytest.skip(f"{path.name} was never measured, and its page names no run time: {how}")
    assert attn_facts.run_seconds(path), f"{path.name}: its code is not what was measured: {how}"


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_what_a_chapter_says_of_its_time_was_measured(path):
    cells = json.loads(path.read_text("utf-8"))["cells"]
    text = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
    for runs in RUNS.findall(text):
        low, high = SECONDS[runs]
        if path.stem not in run_times.load():
            pytest.skip(f"{path.name} was never measured")
        assert low <= attn_facts.run_seconds(path) <= high
