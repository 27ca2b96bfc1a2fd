"""The built site: no warning, no outside host, light pages, and a build that can fail."""

import re
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from attnbook_testing.books import small_book

from devkit import build as tool

ROOT = Path(__file__).resolve().parents[2]


LOADS = {("script", "src"), ("img", "src"), ("link", "href"), ("iframe", "src"), ("source", "src")}
CODE = re.compile(r"<(pre|code|script|annotation)\b.*?</\1>", re.DOTALL)
LOADING_LINKS = {"stylesheet", "preload", "modulepreload", "icon", "shortcut icon"}


class Page(HTMLParser):
    """What a page loads, where it leads, and its icons."""

    def __init__(self, path):
        super().__init__()
        self.path, self.text = path, path.read_text(encoding="utf-8")
        self.loads, self.links, self.icons, self.ids = [], [], set(), set()
        self.feed(self.text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.ids.add(attrs.get("id"))
        for name, value in attrs.items():
            leads = tag == "link" and attrs.get("rel") not in LOADING_LINKS
            if (tag, name) in LOADS and value and not leads:
                self.loads.append(value)
        if tag == "a" and attrs.get("href"):
            self.links.append(attrs["href"])
        classes = (attrs.get("class") or "").split()
        if {"fa-solid", "fas", "fab", "far"} & set(classes):
            self.icons |= {c for c in classes if c.startswith("fa-")} - {"fa-solid", "fa-lg"}

    def target(self, address):
        """The file of the site that a relative address names."""
        return (self.path.parent / unquote(urlsplit(address).path)).resolve()


@pytest.fixture(scope="module")
def book(site):
    """The real book: its folder and its pages."""
    return site, [Page(p) for p in sorted(site.rglob("*.html"))]


@pytest.fixture(scope="module")
def scratch(tmp_path_factory):
    """A book with one page of formulas, in chapters 7 and 9, and one without."""
    folder = tmp_path_factory.mktemp("scratch")
    done = small_book(
        folder,
        {
            "index": "# Start\n\nNo formula here.",
            "07_first": "# First\n\n$$\n\\begin{aligned}a<b \\\\\\\\& c>d\\end{aligned}\n$$ "
            "(eq-first)\n\nInline $a<b$.",
            "09_second": "# Second\n\n## Part\n\n$$\nx\n$$ (eq-second)\n\n"
            "{eq}`eq-first` and {eq}`eq-second`",
        },
    )
    assert done.returncode == 0, done.stdout[-3000:]
    return folder / "_build" / "html" / "book"


def test_the_build_has_every_page(book):
    names = re.findall(r"(?:file|root): (\S+)", (ROOT / "_toc.yml").read_text(encoding="utf-8"))
    assert names and all((book[0] / f"{name}.html").is_file() for name in names)
    root = Page(book[0] / "index.html")
    assert root.links == ["book/index.html"] and "url=book/index.html" in root.text


def test_pages_and_style_sheets_load_from_the_site_alone(book):
    for page in book[1]:
        for address in page.loads:
            if not address.startswith("data:"):
                assert not urlsplit(address).scheme and not address.startswith("//"), address
                assert page.target(address).is_file(), f"{page.path.name} loads {address}"
        assert not re.search(r"""import\(\s*["']https?:|@import\s+url\(["']?https?:""", page.text)
    for sheet in book[0].rglob("*.css"):
        for address in re.findall(r"url\(([^)]*)\)", sheet.read_text(encoding="utf-8")):
            address = address.strip("'\" ")
            if not address.startswith(("data:", "#", "%23")):
                assert not urlsplit(address).scheme and not address.startswith("//"), address
                assert (sheet.parent / urlsplit(address).path).is_file(), f"{sheet.name}: {address}"


def test_links_within_the_site_arrive(book):
    pages = {page.path: page for page in book[1]}
    for page in book[1]:
        for address in page.links:
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            target = page.target(address) if parts.path else page.path
            assert target.is_file(), f"{page.path.name} links to {address}"
            if parts.fragment and target in pages and target.suffix == ".html":
                assert unquote(parts.fragment) in pages[target].ids, f"{page.path.name}: {address}"


def test_every_picture_has_words_and_a_size_and_loads_late(book):
    pages = [page for page in book[1] if "book" in page.path.relative_to(book[0]).parts]
    pictures = [i for page in pages for i in re.findall(r"<img [^>]*>", page.text)]
    assert len(pictures) > 20
    stacks = [i for page in pages for i in re.findall(r'<span class="attn-stack"[^>]*>', page.text)]
    assert stacks and all(re.search('role="img" aria-label="[^"]{8,}"', stack) for stack in stacks)
    for picture in pictures:
        part = 'class="attn-part' in picture  # of a stack, which has the words
        assert re.search('alt=""' if part else 'alt="[^"]{8,}"', picture), picture
        if "_images/" in picture:
            size = re.search(r'width="\d+" height="\d+"', picture)
            assert 'loading="lazy"' in picture and size, picture


def test_a_build_begins_with_nothing_of_an_older_one(tmp_path, monkeypatch):
    """What readers have written in copies of the notebooks stays."""
    for name in (*tool.MADE, "lab"):
        (tmp_path / "_build" / name).mkdir(parents=True)
    met = []
    monkeypatch.setattr(
        subprocess, "run", lambda *_, **__: met.extend((tmp_path / "_build").iterdir())
    )
    tool.build(tmp_path)
    assert [path.name for path in met] == ["lab"]


def test_neither_thebe_nor_font_awesome_nor_mathjax(book):
    heavy = {"thebe", "fontawesome", "mathjax.js", "tex-mml", "require.js", "html-manager"}
    for page in book[1]:
        loads = "\n".join(page.loads).lower()
        assert not [name for name in heavy if name in loads], page.path.name
        assert "THEBE" not in page.text
    assert not [p for name in ("*fontawesome*", "fa-*.woff2") for p in book[0].rglob(name)]


def test_every_icon_has_a_drawing(book):
    style = (book[0] / "_static" / "site.css").read_text(encoding="utf-8")
    drawn = set(re.findall(r"^\.(fa-[\w-]+) \{ --icon:", style, re.MULTILINE))
    used = set().union(*(page.icons for page in book[1]))
    assert "fa-bars" in used
    assert used <= drawn, f"no drawing in book/_site/site.css for {sorted(used - drawn)}"


def test_every_page_names_the_licences_and_follows_the_system(book):
    alone = {book[0] / "index.html", book[0] / "404.html"}  # without the theme: they load nothing
    for page in book[1]:
        if page.path in alone:
            continue
        assert "creativecommons.org/licenses/by/4.0/" in page.text, page.path.name
        assert "Code: MIT" in page.text
        assert 'data-default-mode="auto"' in page.text
        assert any("favicon.svg" in address for address in page.loads)
        for host in ("colab.research.google", "mybinder.org", "launch-buttons"):
            assert host not in page.text, f"{page.path.name}: a launch button without an address"


def test_katex_only_where_there_is_a_formula(scratch):
    plain = " ".join(Page(scratch / "index.html").loads)
    for unused in ("katex", "copybutton", "togglebutton", "mystnb", "sphinx-design", "searchindex"):
        assert unused not in plain
    search = Page(scratch.parent / "search.html")
    assert "searchindex.js" in " ".join(search.loads)
    assert "SHOW_SEARCH_SUMMARY = false" in search.text and "SHOW_SEARCH" not in plain
    assert any("katex.min.css" in a for a in Page(scratch / "07_first.html").loads)


def test_formulas_are_set_while_the_book_is_built(book, scratch):
    """No script sets them: a page holds their boxes, and MathML with their TeX."""
    first = Page(scratch / "07_first.html")
    assert first.text.count('class="katex-html"') == first.text.count("<annotation") == 2
    several = 0
    for page in (first, *book[1]):
        assert not re.search(r"katex\S*\.js|auto-render", page.text), page.path.name
        assert not re.search(r"<attn-tex|\\\(|\\\[", re.sub(CODE, "", page.text)), page.path.name
        formulas = page.text.count('class="katex"')
        assert formulas == page.text.count('class="katex-mathml"') == page.text.count("</math>")
        assert formulas >= len(re.findall(r'<(?:span|div) class="[^"]*\bmath\b', page.text))
        several += formulas > 20
    assert several > 10
    assert not [path for path in book[0].rglob("*.js") if "katex" in path.name]


def test_chapters_are_numbered_by_their_file_and_a_display_is_no_markup(scratch):
    first, second = (
        (scratch / f"{name}.html").read_text(encoding="utf-8") for name in ("07_first", "09_second")
    )
    assert re.search(r"<annotation [^>]*>[^<]*a&lt;b", first) and "a<b" not in first
    assert '<span class="section-number">7. </span>First' in first
    assert '<span class="section-number">9. </span>Second' in second
    assert re.search(r'class="eqno">\(7\.1\)', first)
    assert re.search(r'class="eqno">\(9\.1\)', second)
    assert "(7.1)" in second and "(9.1)" in second


def test_each_fault_fails_the_build(tmp_path):
    (tmp_path / "book" / "diagrams").mkdir(parents=True)
    node = "edges = []\n[nodes]\na = {kind='op', at=[0, 0], eq='eq-lost'}"
    path = tmp_path / "book" / "diagrams" / "lost.toml"
    path.write_text(f"title = 'A'\ndesc = 'B'\n{node}", encoding="utf-8")
    faults = (
        "{eq}`absent-equation`",
        "[x](absent.md)",
        "{cite}`absent1999`",
        "{py:func}`absent_f`",
        "```{asserted} absent.ipynb#cell\nA claim.\n```",
        "```{diagram} absent\nSeen.\n```",
        "```{diagram} lost\nSeen.\n```",
    )
    pages = {"index": "# Start\n\n" + "\n\n".join(faults), "01_a": "# A"}
    done = small_book(tmp_path, pages)
    assert done.returncode != 0
    warnings = "\n".join(line for line in done.stdout.splitlines() if "WARNING" in line)
    for name in ("absent-eq", "absent.md", "absent1999", "absent_f"):
        assert name in warnings, warnings
    assert "asserted absent.ipynb#cell" in done.stdout
    assert "diagram absent" in done.stdout
    assert "no equation is labelled eq-lost" in done.stdout
