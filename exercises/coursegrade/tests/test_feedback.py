"""What a student reads: all of it is there, each line says something of its own, nothing is markup."""

import json
from decimal import Decimal
from html.parser import HTMLParser

import markdown_it
import nbformat
import pytest
from exports import MOST, mark_by_hand, record, write_results
from grading_helpers import ALL, NAMES, rows_of
from hypothesis import given, settings
from hypothesis import strategies as st

from coursegrade import feedback, gradebook, returns, safe

FORMULA = r"Here $W_q x_i * y_i^{(t)} < d_k$ and \(e^{-s}\), see `f(x)[0]`: (1 point)"
OURS = {"html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "code", "blockquote"}
MARKUP = {"em", "strong", "ul", "ol", "li", "pre", "hr", "br", "a"}  # what Markdown may add
ANY = st.one_of(
    st.text(max_size=40),
    st.text("`*_[]()#!|~<>&$\\\n\r\t ab1.-=+:/", max_size=40),
    st.sampled_from(
        ["<script>alert(1)</script>", "![x](http://e)", "``a`", "www.example.org", "$x$"]
    ),
)


def story(student="ada", hint="A hint.", said="", comment="", flags=()):
    one = record(student) | {"student": student, "flags": list(flags), "cells": {"3": said or "x"}}
    one["rows"][0] |= {"ok": not said, "hint": hint, "message": said}
    hand = {"q5": feedback.Hand(Decimal("2.5"), 4, comment)}
    total = feedback.Outcome(Decimal(20), 32, Decimal("3.5"), "1 day")
    return feedback.Story(one, "01_cues", {"q1": 21}, {"q1": 28}, hand, total)


class Tags(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.seen, self.words, self.links = set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        if tag not in ("html", "meta"):  # ours
            self.links += [value for name, value in attrs if name == "href"]
            assert {name for name, _ in attrs} <= {"href", "title", "class", "start"}

    def handle_data(self, data):
        self.words.append(data)


@settings(max_examples=300, deadline=None)
@given(student=ANY, said=ANY, flag=ANY)
def test_what_a_student_wrote_is_text_and_nothing_else(student, said, flag):
    """Read back by a renderer of CommonMark: one heading, the lines of ours, all else is code."""
    one = story(student, said=said, flags=[flag])
    tokens = markdown_it.MarkdownIt("gfm-like", {"linkify": False}).parse(feedback.markdown(one))
    plain = markdown_it.MarkdownIt("gfm-like", {"linkify": False}).parse(
        feedback.markdown(story("ada", said="x", flags=["x"]))
    )
    assert [t.type for t in tokens] == [t.type for t in plain]
    inside = [child for token in tokens for child in token.children or ()]
    assert {child.type for child in inside} <= {"text", "code_inline"}
    codes = [" ".join(c.content.split()) for c in inside if c.type == "code_inline"]
    for words in (f"for your marker: {flag}", *([said] if safe.clean(said).strip() else [])):
        assert feedback.TAG.sub("< ", " ".join(safe.clean(words).split())) in codes
    page = Tags(feedback.page(one))
    assert page.seen <= OURS
    assert safe.clean(f"for your marker: {flag}") in "".join(page.words)


def test_what_the_instructor_wrote_stays():
    one = story(hint=FORMULA, said="no", comment=FORMULA + "\nAnd *more*.")
    text = feedback.markdown(one)
    assert text.count(FORMULA) == 2 and "> And *more*." in text
    page = "".join(Tags(feedback.page(one)).words)
    assert page.count(FORMULA.replace("`", "")) == 2
    assert "\\(" not in feedback.markdown(story(hint="The weights (all of them) sum to one."))
    assert "<script" not in feedback.markdown(story(comment="<script>"))
    assert "<script" not in feedback.page(story(comment="<script>", hint="<script>"))


COMMENT = """**Well** done, *but* see:

1. [the chapter](https://example.org/a_b) and `f(x)`
2. $W_q$, $ a*b*c $, $$x_1*y_2*z$$, \\(a*b*c\\) \\[a*b*c\\]
second line

# A heading

```
for x in y:
    z < 3
```"""


def test_a_comment_is_rendered_as_markdown():
    page = feedback.page(story(comment=COMMENT))
    for part in (
        *("<strong>Well</strong> done, <em>but</em>", "<ol>\n<li>", "<code>f(x)</code>"),
        '<a href="https://example.org/a_b">the chapter</a>',
        r"$W_q$, $ a*b*c $, $$x_1*y_2*z$$, \(a*b*c\) \[a*b*c\]<br />",
        *("<strong>A heading</strong>", "<pre><code>for x in y:\n    z &lt; 3\n</code></pre>"),
    ):
        assert part in page
    assert page.count("<h1>") == 1
    line = feedback.comment(story(comment=COMMENT))  # Moodle's column: one line, the same lines
    assert "\n" not in line and "for x in y:&#10;    z &lt; 3" in line and "<ol><li>" in line
    assert COMMENT.replace("\n", "\n> ") in feedback.markdown(story(comment=COMMENT))


@pytest.mark.parametrize(
    "text, shown",
    [
        ("<script>alert(1)</script>", "&lt;script&gt;"),
        ("<img src=http://e/x>", "&lt;img src=http://e/x&gt;"),
        ("![x](https://e/x.png)", '!<a href="https://e/x.png">x</a>'),
        ("![x][1]\n\n[1]: https://e/x.png", '!<a href="https://e/x.png">x</a>'),
        ("[x](javascript:alert(1))", "[x](javascript:alert(1))"),
        ("[x](JaVaScRiPt:alert(1))", "[x](JaVaScRiPt:alert(1))"),
        ("[x](data:text/html;base64,PA==)", "[x](data:"),
        ("[x](//e/x)", "[x](//e/x)"),
        ("[x](file:///etc/passwd)", "[x](file:"),
        ("<javascript:alert(1)>", "&lt;javascript:"),
        ('[x](http://e/" onclick="y)', "[x](http://e/&quot; onclick=&quot;y)"),
    ],
)
def test_a_comment_holds_no_tag_no_image_and_links_to_the_web_alone(text, shown):
    page = feedback.page(story(comment=text))
    assert shown in page and Tags(page).seen <= OURS | {"a"}
    assert all(link.startswith("https://") for link in Tags(page).links)
    assert "![" not in feedback.markdown(story(comment=text))


@settings(max_examples=300, deadline=None)
@given(st.lists(ANY, max_size=6).map("".join))
def test_any_comment_makes_a_page_of_tags_that_are_known(text):
    page = Tags(feedback.page(story(comment=text, hint=text)))
    assert page.seen <= OURS | MARKUP
    assert all(link.lower().startswith(("http://", "https://")) for link in page.links)


def test_the_report_adds_up():
    text = feedback.markdown(story(comment="Good."))
    assert "Total: 20 of 32 points, which is 23.5 less 3.5: it came 1 day late." in text
    assert "Automatic part: 21 of 28 points." in text and "## Q1: 21 of 28" in text
    assert "## Q5: 2.5 of 4\n\n> Good." in text
    before = story()._replace(total=None, by_hand={"q5": feedback.Hand(None, 4, "")})
    assert "Total" not in feedback.markdown(before)
    assert "Q5: not marked yet" in feedback.markdown(before)


def test_a_notebook_holds_the_same():
    book = nbformat.reads(feedback.notebook(story()), as_version=4)
    nbformat.validate(book)
    assert [cell.source for cell in book.cells] == [feedback.markdown(story())]


@pytest.mark.parametrize("exercise", ALL, ids=NAMES)
def test_each_case_has_a_sentence_of_its_own(exercise):
    hints = [(row.question, row.hint) for row in rows_of(exercise, "", "a")]
    assert len(set(hints)) == len(hints)


def test_marks_and_comments_reach_the_student(tmp_path):
    """Also after grading again, and also a comment that a table must put a quote before."""
    out = tmp_path / "marks"
    write_results(out, record("ada"), record("alan"))
    mark_by_hand(out, ada="2,5", comment="-1: which $W_q$?")
    assert write_results(out, record("ada"), record("alan")) == []
    assert "'-1: which" in (out / "written.csv").read_text(encoding="utf-8-sig")
    ada = (out / "feedback" / "ada.md").read_text()
    assert "Q5: 2.5 of 4\n\n> -1: which $W_q$?" in ada and "Total" not in ada
    assert "not marked yet" in (out / "feedback" / "alan.md").read_text()
    content, found = gradebook.results(out), gradebook.totals(out)
    assert returns.write(out, content, found, returns.stories(out, content, found, False)) == []
    ada = (out / "feedback" / "ada.html").read_text()
    assert f"Total: {MOST + 2.5} of {MOST + 4} points." in ada
    assert "Total" not in (out / "feedback" / "alan.html").read_text()
    [note] = write_results(out, record("ada", answers={"q5": "Another."}), record("alan"))
    assert "written-old.csv" in note and "which" not in (out / "feedback" / "ada.md").read_text()


def test_a_table_without_comments_is_still_read(tmp_path):
    """As an older version wrote it: no mark is lost."""
    write_results(tmp_path, record("ada"))
    (tmp_path / "written.csv").write_text("student,question,mark,answer\nada,q5,3,Because.\n")
    assert write_results(tmp_path, record("ada")) == []
    assert "Q5: 3 of 4" in (tmp_path / "feedback" / "ada.md").read_text()
    assert json.loads((tmp_path / "results.json").read_text())["by_hand"] == {"q5": 4}
