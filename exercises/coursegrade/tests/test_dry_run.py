"""The last cell of a notebook says what grading will say of it."""

import contextlib
import io
import json

import pytest
from grading_helpers import ALL, Book

from coursegrade.modules import MODULES
from coursegrade.notebook import EXPERIMENT

EXERCISE = ALL[0]


def said(book, folder, monkeypatch, saved=True):
    """What the dry run prints, in a folder that holds the notebook."""
    monkeypatch.chdir(folder)
    if saved:
        (folder / "my 01.ipynb").write_text(book.text(), encoding="utf-8")
    names = {"__name__": "__main__"}
    for cell in book.cells:
        if cell["cell_type"] == "code" and not cell.get("outputs"):
            with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.suppress(SyntaxError):
                exec("".join(cell["source"]), names)
    return out.getvalue()


def test_a_good_notebook_has_nothing_to_mend(tmp_path, monkeypatch):
    (tmp_path / "other.ipynb").write_text("{}")
    words = said(Book(EXERCISE), tmp_path, monkeypatch)
    assert "nothing was found that would cost points" in words and "cell" not in words
    assert "float64" in words  # kinds are of no importance, and that is said


@pytest.mark.parametrize(
    "source, words",
    [
        ("import seaborn as sns", "imports seaborn, which is not there in grading"),
        ("from sklearn.svm import SVC", "imports sklearn, which"),
        ("def f(:\n    pass", "is no Python at its line 1"),
        ("!pip install -q \\\n   einops\n%matplotlib inline\nimport einops, math", ""),
        ("%%bash\nls -l", ""),
        (f"{EXPERIMENT}: mine\nimport seaborn", ""),
        ("import torch.nn.functional as F\nfrom collections import abc", ""),
    ],
)
def test_cells_are_looked_at(source, words, tmp_path, monkeypatch):
    book = Book(EXERCISE)
    cell = {"cell_type": "code", "source": source, "outputs": [{"output_type": "stream"}]}
    book.cells.insert(5, {**cell, "metadata": {}})
    found = said(book, tmp_path, monkeypatch)
    assert (f"my 01.ipynb, cell 6 {words}" if words else "nothing was found") in found


def test_names_kinds_errors_and_size(tmp_path, monkeypatch):
    book = Book(EXERCISE).put("attend", "1")
    book.add("saliency", after="_right = saliency\ndef saliency(keys): return iter(_right(keys))")
    failed = {"output_type": "error", "ename": "ValueError"}
    book.cells.insert(1, {"cell_type": "code", "source": "boom()", "outputs": [failed]})
    book.cells[0]["attachments"] = {"x": "x" * (65 << 20)}
    found = said(book, tmp_path, monkeypatch)
    assert "attend is not defined: its question has no answer" in found
    assert "saliency gives a tensor_iterator" in found or "saliency gives a tuple_iterator" in found
    assert "cell 2 ended in ValueError" in found and "has 65 MB, and 64 at most" in found


def test_a_notebook_without_its_file_is_told_so(tmp_path, monkeypatch):
    found = said(Book(EXERCISE), tmp_path, monkeypatch, saved=False)
    assert "file is not found here" in found


def test_it_names_what_is_there(tmp_path):
    text = json.dumps(Book(EXERCISE, solution=False).content)
    assert "einops" in MODULES and ", ".join(MODULES[:-1]) in text


def test_a_students_own_helper_of_a_tools_name_does_not_matter(tmp_path, monkeypatch):
    book = Book(EXERCISE)
    mine = "def close(*a): return 1 / 0\nsame = plain = Kept = Answers = close\n"
    book.add("cue_weights", before=mine)
    monkeypatch.chdir(tmp_path)
    out, names = io.StringIO(), {"__name__": "__main__"}
    with contextlib.redirect_stdout(out):
        for cell in book.cells:
            if cell["cell_type"] == "code":
                exec("".join(cell["source"]), names)
    assert "ok  " in out.getvalue() and "NOT YET" not in out.getvalue()
