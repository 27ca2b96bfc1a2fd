"""The registry of chapters: what notebooks say of themselves, and that the book's are in order."""

import json
from itertools import groupby

from attnbook_testing.refusals import refuses

from devkit import ROOT
from devkit.chapters import ROUTES, Chapter, chapter_of, chapters, code_hash, read, route


def notebook(folder, name, **about):
    cells = [{"cell_type": "code", "source": ["x = 1"], "metadata": {}}]
    path = folder / f"{name}.ipynb"
    path.write_text(json.dumps({"cells": cells, "metadata": {"attnbook": about} if about else {}}))
    return path


def test_a_page_is_what_its_notebook_says(tmp_path):
    for name, label in (("10_a", "10"), ("03_b", "3b"), ("03_c", "3a")):
        notebook(tmp_path, name, chapter=label, way="short")
    notebook(tmp_path, "gallery")
    assert [page.label for page in chapters(tmp_path).values()] == ["3a", "3b", "10"]
    assert chapter_of(tmp_path.parent, f"{tmp_path.name}/10_a") == Chapter("10_a", 10, "", "short")
    for other in ("gallery", "glossary", "api/10_a"):
        assert chapter_of(tmp_path, other) is None


def test_a_page_that_is_not_in_order_is_refused(tmp_path):
    for name, label in (("03_a", "4"), ("03_a", "3B"), ("a", "3"), ("03_a", "x")):
        path = notebook(tmp_path, name, chapter=label, way="short")
        refuses(ValueError, f"{name}.ipynb: .*number.* got '{label}'", read, path)
    refuses(ValueError, "number.* got None", read, notebook(tmp_path, "03_a"))
    path = notebook(tmp_path, "03_a", chapter="3", way="scenic")
    refuses(ValueError, "one of short, .* got 'scenic'", read, path)


def test_a_time_is_that_of_the_code(tmp_path):
    code = code_hash(json.loads(notebook(tmp_path, "a").read_text()))
    for stored, seconds in ((code, 3), (code[::-1], None)):
        run = {"code": stored, "seconds": 3}
        page = read(notebook(tmp_path, "01_a", chapter="1", way="short", run=run))
        assert page.seconds == seconds


def test_the_books_pages_have_letters_in_order_and_assignments_that_are_there():
    pages = chapters().values()
    for _, several in groupby(pages, key=lambda page: page.number):
        letters = [page.letter for page in several]
        assert letters == ([""] if len(letters) == 1 else [*"abc"[: len(letters)]])
    numbers = {f"{page.number:02}" for page in pages}  # an assignment may be there before its pages
    folders = {path.name for path in (ROOT / "exercises").glob("[0-9][0-9]_*")}
    named = {page.assignment for page in pages} - {None}
    assert named == {name for name in folders if name[:2] in numbers}


def test_the_ways_have_the_pages_that_the_plan_of_the_course_says():
    labels = {page.name: page.label for page in chapters().values()}
    short, transformer, everything = (
        [labels.get(name, name) for name in route(way)] for way in ROUTES
    )
    assert short == ["1", "3a", "playground"]
    assert transformer == ["1", "3a", "5", "6a", "7a", "8a"]
    assert everything == [*labels.values()]
