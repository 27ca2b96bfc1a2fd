"""Every notebook that people are given: the reader's edition and the students' assignments.

A markdown cell must show the same in JupyterLab, Notebook, Colab and VS Code: what they have in
common is CommonMark with tables, dollars around formulas, and `<details>`.
"""

import functools
import html
import json
import re
from html.parser import HTMLParser

import nbformat
import pytest
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin

from devkit.chapters import chapters
from devkit.predict import boxes

KEYS = {"kernelspec", "language_info"}
MYST = {
    "a role": re.compile(r"\{[a-z][\w:+-]*\}`"),
    "a directive": re.compile(r"^\s*(?::{3,}|`{3,}\s*\{)", re.MULTILINE),
    "a label": re.compile(r"^\s*\([\w-]+\)=\s*$|\$\$\s*\([\w-]+\)", re.MULTILINE),
    "a substitution": re.compile(r"\{\{|\}\}(?!\})"),
    "attributes": re.compile(r"^\{[.#:][^}]*\}", re.MULTILINE),
    "a comment": re.compile(r"^%", re.MULTILINE),
    "an option": re.compile(r"^:[a-z-]+:", re.MULTILINE),
}
DRAWN = "data:image/svg+xml;base64,"  # a diagram: notebook front ends let it through
TAGS = re.compile(r"<(?!/?(?:details|summary)>)/?[a-zA-Z!]")


def formulas_out(text):
    """The text without formulas and code, where braces and percent signs are LaTeX's own."""
    text = re.sub(r"\$\$.*?\$\$", "", text, flags=re.DOTALL)
    text = re.sub(r"(?<!\\)\$[^$\n]+\$", "", text)
    return re.sub(r"^```.*?^```|``.+?``|`[^`\n]+`", "", text, flags=re.DOTALL | re.MULTILINE)


def complaints(text):
    """What in a markdown cell some front end would show raw."""
    for name, pattern in MYST.items():
        where = text if name in ("a role", "a directive", "a label") else formulas_out(text)
        if found := pattern.search(where):
            yield f"{name}: {found[0]!r}"
    if found := TAGS.search(formulas_out(text)):
        yield f"HTML: {found[0]!r}"
    parser = MarkdownIt("commonmark").enable("table").use(dollarmath_plugin)
    parser.validateLink = lambda url: url.startswith(DRAWN) or MarkdownIt().validateLink(url)
    tokens = parser.parse(text)
    inner = [t for token in tokens for t in (token, *(token.children or []))]
    for token in inner:
        if token.type == "text" and re.search(
            r"\$|\*\*|\\[a-zA-Z]{2}|\[.*\]\(|&\w+;", token.content
        ):
            yield f"markup that stays text: {token.content!r}"
        if token.type == "text" and re.search(r"^\s*\|.*\|\s*$", token.content):
            yield f"a table that is none: {token.content!r}"
        if token.type.startswith("math") and not token.content.strip():
            yield "an empty formula"
        if token.type == "link_open" and not token.attrGet("href"):
            yield "a link to nowhere"


BAD = {
    "see {numref}`fig-one`": "a role",
    "by {footcite:p}`xu2016`": "a role",
    ":::{admonition} Look\ntext\n:::": "a directive",
    "```{footbibliography}\n```": "a directive",
    "$$ x $$ (eq-x)": "a label",
    "(sec-one)=\n# One": "a label",
    "{{ name }}": "a substitution",
    "text **bold": "markup that stays text",
    "costs 5$ and": "markup that stays text",
    "<div>one</div>": "HTML",
}


@pytest.mark.parametrize("text", BAD, ids=list(BAD.values()))
def test_raw_markup_is_seen(text):
    assert any(found.startswith(BAD[text]) for found in complaints(text))


@pytest.mark.parametrize(
    "text", ["$$\na_{ij} \\tag{3.1}\n$$", "`{'a': 1}` and $x^{\\{1\\}}$", "5 %"]
)
def test_plain_markup_is_let_through(text):
    assert list(complaints(text)) == []


def notebooks(site):
    return sorted([*(site / "notebooks").glob("*.ipynb"), *(site / "assignments").glob("*.ipynb")])


def test_the_edition_is_whole(site):
    assert {path.stem for path in (site / "notebooks").glob("*")} == {*chapters(), "gallery"}
    given = {path.stem for path in (site / "assignments").glob("*")}
    assert given == {page.assignment for page in chapters().values()} - {None}


def test_no_cell_shows_raw_markup(site):
    found = [
        f"{path.name} {cell.get('id')}: {complaint}"
        for path in notebooks(site)
        for cell in nbformat.read(path, as_version=4).cells
        if cell.cell_type == "markdown"
        for complaint in complaints(cell.source)
    ]
    assert found == []


def test_no_metadata_trips_a_front_end(site):
    for path in notebooks(site):
        nb = nbformat.read(path, as_version=4)
        nbformat.validate(nb)
        assert set(nb.metadata) == KEYS, path.name
        for cell in nb.cells:
            assert set(cell.metadata) <= {"jupyter"}, path.name
            for output in cell.get("outputs", []):
                assert output.output_type != "error"
                assert not any("widget" in mime for mime in output.get("data", {})), path.name


class Page(HTMLParser):
    """A built page's headings, numbers and ids."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.captions, self.equations, self.headings = set(), [], [], []
        self.path, self.text = [], ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.ids.add(attrs.get("id"))
        classes = attrs.get("class") or ""
        kind = tag if re.fullmatch(r"h[1-6]", tag) else ""
        kind = "caption" if "caption-number" in classes else kind
        kind = "equation" if "eqno" in classes else kind
        if kind:
            self.path, self.text = [kind, tag], ""

    def handle_data(self, data):
        self.text += data if self.path else ""

    def handle_endtag(self, tag):
        if not self.path or tag != self.path[1]:
            return
        text = self.text.replace("#", "").replace("\u00b6", "").strip()
        (
            self.captions
            if self.path[0] == "caption"
            else self.equations
            if self.path[0] == "equation"
            else self.headings
        ).append(text)
        self.path = []


@pytest.fixture(scope="module")
def pairs(site):
    """Each chapter's page and its notebook's text."""
    found = {}
    for path in (site / "notebooks").glob("*.ipynb"):
        cells = nbformat.read(path, as_version=4).cells
        text = "\n\n".join(c.source for c in cells if c.cell_type == "markdown")
        page = (site / "book" / f"{path.stem}.html").read_text(encoding="utf-8")
        found[path.stem] = page, text
    return found


def test_figures_and_equations_have_the_pages_numbers(pairs):
    for name, (page, text) in pairs.items():
        seen = Page(page)
        assert re.findall(r"^\*\*(Fig\. [\da-z.]+)\*\*", text, re.MULTILINE) == seen.captions, name
        tags = [f"({number})" for number in re.findall(r"\\tag\{([\da-z.]+)\}", text)]
        assert tags == seen.equations, name


def test_a_diagram_is_a_picture_with_words(pairs):
    for name, (page, text) in pairs.items():
        count = page.count('class="attn-diagram align-default"')
        assert len(re.findall(rf"^!\[[^\]]{{60,}}\]\({re.escape(DRAWN)}", text, re.M)) == count
        few = name[:2] > "04" or name.endswith("_measured")
        assert count >= 2 or few


def test_headings_are_those_of_the_page(pairs):
    for name, (page, text) in pairs.items():
        text = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
        plain = [re.sub(r"[*`\\$]", "", h) for h in re.findall(r"^#+ (.*)$", text, re.MULTILINE)]
        shown = [re.sub(r"\\[()]", "", h) for h in Page(page.partition("<article")[2]).headings]
        numbered = re.compile(r"^\d+[a-z]?(\.\d+)*\.\s+")  # on the page a title has its number
        shown = [numbered.sub("", shown[0]), *shown[1:]]
        assert [html.unescape(h) for h in plain] == shown[: len(plain)], name
        assert len(plain) > 3


@functools.cache
def ids_of(path):
    return Page(path.read_text(encoding="utf-8")).ids


def test_links_lead_into_the_site(pairs, site):
    for name, (_, text) in pairs.items():
        links = re.findall(r"\]\(([^)\s]+)\)", text)
        inside = [link for link in links if not link.startswith(("https://", DRAWN))]
        assert name == "gallery" or inside, name
        for link in inside:
            path, _, anchor = link.partition("#")
            target = (site / "notebooks" / path).resolve()
            assert target.is_file() and target.is_relative_to(site), link
            if anchor and target.suffix == ".html":
                assert anchor in ids_of(target), link
        assert "glossary" not in "".join(inside)


def test_citations_say_author_and_year_and_are_listed(pairs):
    for name, (page, text) in pairs.items():
        if name == "gallery":
            continue
        cited = set(re.findall(r"\b((?:18|19|20)\d\d)\)", text))
        listed = text.partition("## References")[2]
        assert cited, name
        for year in cited:
            assert year in listed, (name, year)
        notes = len(re.findall(r'class="[^"]*footnote-reference', page))
        assert notes, name
        assert len(re.findall(r"^- ", listed, re.MULTILINE)) == page.count('role="doc-footnote"')


def test_code_and_outputs_are_the_chapters(site):
    book = site.parents[1] / "book" if (site.parents[1] / "book").is_dir() else None
    if book is None:
        pytest.skip("the site stands alone: its sources are not beside it")
    for path in (site / "notebooks").glob("*.ipynb"):
        chapter = nbformat.read(book / path.name, as_version=4)
        code = {c.id: c for c in nbformat.read(path, as_version=4).cells if c.cell_type == "code"}
        first, *rest = code
        assert first == "install" and "attnbook" in code[first].source
        sources = [c for c in chapter.cells if c.cell_type == "code" and c.source.strip()]
        assert rest == [c.id for c in sources]
        closed = {chapter.cells[n].id for box in boxes(chapter) for n in box.code}
        for cell in sources:
            made = code[cell.id]
            gated = {"gpu", "data"} & set(cell.metadata.get("tags", []))
            if not gated:
                assert made.source == cell.source
            else:
                assert made.source.startswith("if ") and "Skipped" in made.source
            if cell.id in closed and not gated:
                assert made.outputs == [] and made.execution_count is None
                continue
            for before, after in zip(cell.outputs, made.outputs, strict=True):
                kept = {m: b for m, b in before.get("data", {}).items() if "widget" not in m}
                assert kept == after.get("data", {})
                if "widget" in json.dumps(list(before.get("data", {}))):
                    assert "image/png" in after.data  # the picture stands until the cell is run


def test_the_pages_download_is_the_edition(site):
    for name in ("03_scoring", "gallery"):
        page = (site / "book" / f"{name}.html").read_text(encoding="utf-8")
        assert f'href="../notebooks/{name}.ipynb"' in page
        assert "_sources" not in page
    assert not (site / "_sources").exists()  # MyST, which no front end but the book shows
