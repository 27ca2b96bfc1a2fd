"""`make doubt`: a sample of its sabotages is noticed, it can say otherwise, its page is whole."""

import nbformat
import pytest

from devkit import ROOT, doubt
from devkit.edits import replace


@pytest.fixture
def notebook(tmp_path):
    cells = [
        "from attnbook import causal_mask\none, two = 1, 2",
        "def check(x):\n    assert x == 1",
        "display(one)\ncheck(one)\nassert causal_mask(2).sum() == 3",
    ]
    cells = [nbformat.v4.new_code_cell(text, id=f"s-{n}") for n, text in enumerate(cells)]
    nb = nbformat.v4.new_notebook(cells=cells)
    nbformat.write(nb, tmp_path / "small.ipynb")
    return tmp_path / "small.ipynb"


def sabotage(old, new, file="cell"):
    return {"file": file, "what": f"{new} in {file}", "old": old, "new": new}


@pytest.mark.parametrize(
    "edit, verdict",
    [
        (("one, two = 1, 2", "one, two = 2, 2"), ("noticed", "x == 1")),
        (("one, two = 1, 2", "one, two = 1, 3"), ("unnoticed", "")),
        (("s-2", "one = 3", "data"), ("noticed", "x == 1")),
        (("s-2", "two = 3", "data"), ("unnoticed", "")),
        (
            ("s-1", "check = print", "data"),
            ("unnoticed", "the cell itself sets check after that line"),
        ),
        (("one, two = 1, 2", "two = 2"), ("broken", "NameError: name 'one' is not defined")),
        (
            ("return j <= i\n", "return j >= i * 0\n", "attnbook/masks.py"),
            ("noticed", "causal_mask(2).sum() == 3"),
        ),
    ],
)
def test_each_verdict_can_be_had(notebook, edit, verdict):
    assert doubt.doubt(notebook, [sabotage(*edit)]) == [verdict]


def test_an_edit_that_fits_nowhere_is_refused(notebook):
    with pytest.raises(ValueError, match="'three' must stand there once, not 0x"):
        doubt.doubt(notebook, [sabotage("three", "four")])
    with pytest.raises(ValueError, match="no code cell has the id 's-9'"):
        doubt.doubt(notebook, [sabotage("s-9", "one = 3", "data")])


def test_a_notebook_that_fails_as_it_is_is_refused(notebook):
    notebook.write_text(notebook.read_text("utf-8").replace("x == 1", "x == 5"), "utf-8")
    with pytest.raises(RuntimeError, match=r"without any sabotage: x == 5$"):
        doubt.doubt(notebook, [sabotage("check(one)", "check(two)")])


@pytest.mark.parametrize("chapter", doubt.chapters())
def test_a_sabotage_of_each_chapter_is_noticed(chapter):
    sample = doubt.load(chapter)[:1]
    ((state, _),) = doubt.doubt(doubt.BOOK / f"{chapter}.ipynb", sample)
    assert state == "noticed"


@pytest.mark.parametrize("chapter", doubt.chapters())
def test_each_sabotage_fits_the_code_of_today(chapter):
    cells = doubt.cells_of(doubt.BOOK / f"{chapter}.ipynb", all_machines=True)
    for sabotage in doubt.load(chapter):
        if doubt.of_notebook(sabotage):
            doubt.place_of(sabotage, cells)  # or raise
        else:
            text = (ROOT / "code" / sabotage["file"]).read_text(encoding="utf-8")
            assert replace(text, sabotage) != text


@pytest.mark.parametrize("chapter", doubt.chapters())
def test_the_page_says_of_each_sabotage_what_noticed_it(chapter):
    page = doubt.PAGE.read_text(encoding="utf-8")
    (part,) = [part for part in page.split("## ") if f"({chapter}.ipynb)" in part]
    rows = part.splitlines()[6:]
    whats = [sabotage["what"] for sabotage in doubt.load(chapter)]
    told = [row.split(" | ")[0] for row in rows if row] == [f"| {what}" for what in whats]
    assert told, f"the list has changed: `make doubt NAMES={chapter}` writes the page"
    assert "| **" not in part  # neither unnoticed nor broken
