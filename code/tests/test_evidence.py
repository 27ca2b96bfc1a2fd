"""Evidence lies closed under one line that says what was found, and takes no time to read."""

import json
import re

import attn_evidence
import attn_facts
import pytest
from docutils import nodes

from devkit import ROOT
from devkit.chapters import chapters

LINE = re.compile(
    rf"^:::\{{admonition\}} Evidence\n:class: {attn_evidence.CLASS}\n(.*?)\n:::$", re.M | re.S
)


def page():
    """A section with a line in it, between two paragraphs, and with a subsection."""
    line = nodes.admonition("", nodes.title("", "Evidence"), classes=[attn_evidence.CLASS])
    line += nodes.paragraph("", "It helps.")
    inner = nodes.section("", nodes.title("", "Seeds"), nodes.paragraph("", "word " * 400))
    section = nodes.section(
        "", nodes.title("", "Title"), nodes.paragraph("", "Open. " * attn_facts.WORDS)
    )
    section += [line, nodes.paragraph("", "Closed. " * 600), inner]
    document = nodes.document(None, None)
    document += section
    return document


def test_what_follows_the_line_is_evidence_and_takes_no_time():
    document = page()
    opened, _, closed, seeds = document.findall(nodes.paragraph)
    assert list(map(attn_evidence.is_evidence, (opened, closed, seeds))) == [False, True, True]
    assert attn_facts.minutes(document) == pytest.approx(1, abs=0.1)


def test_the_box_holds_what_follows_to_the_end_of_the_section():
    document = page()
    (section, _) = document.findall(nodes.section)
    attn_evidence.fold(section, attn_evidence.place_of_line(section))
    _, opened, *line, closed, inner, end = section
    written = "".join(node.astext() for node in line)
    assert written.endswith("<summary><b>Evidence:</b> It helps.</summary>")
    assert (opened.astext()[:4], closed.astext()[:6]) == ("Open", "Closed")
    assert isinstance(inner, nodes.section) and end.astext() == "</details>"


@pytest.mark.parametrize("name", sorted(chapters()))
def test_the_line_is_one_sentence_that_says_what_was_found(name):
    cells = json.loads((ROOT / "book" / f"{name}.ipynb").read_text("utf-8"))["cells"]
    text = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
    lines = LINE.findall(text)
    assert len(lines) == text.count(f":class: {attn_evidence.CLASS}")
    assert [x for x in lines if "\n\n" in x or x[-1] != "." or len(x.split()) < 5] == []
