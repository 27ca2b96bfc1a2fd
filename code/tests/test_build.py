"""The built site: no warning, no outside host, light pages, and a build that can fail."""

import gzip
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "code" / "tools"))

from build import build  # noqa: E402

LOADS = {("script", "src"), ("img", "src"), ("link", "href"), ("iframe", "src"), ("source", "src")}
LOADING_LINKS = {"stylesheet", "preload", "modulepreload", "icon", "shortcut icon"}
FIRST_VIEW = 400_000  # bytes, gzip


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


def scratch_book(folder, pages):
    """A small book with this book's settings, extensions and assets."""
    shutil.copy(ROOT / "_config.yml", folder)
    for part in ("_ext", "_site"):
        shutil.copytree(ROOT / "book" / part, folder / "book" / part)
    shutil.copy(ROOT / "book" / "references.bib", folder / "book")
    names = list(pages)
    toc = ["format: jb-book", "root: book/index", "parts:", "  - numbered: 1", "    chapters:"]
    toc += [f"      - file: book/{name}" for name in names if name != "index"]
    (folder / "_toc.yml").write_text("\n".join(toc), encoding="utf-8")
    for name, text in pages.items():
        (folder / "book" / f"{name}.md").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """The real book, built afresh: its log and its pages."""
    out = tmp_path_factory.mktemp("book")
    done = build(out)
    assert done.returncode == 0, done.stdout[-3000:]
    site = out / "_build" / "html"
    return done.stdout, site, [Page(p) for p in sorted(site.rglob("*.html"))]


@pytest.fixture(scope="module")
def scratch(tmp_path_factory):
    """A book with one page of formulas, in chapters 7 and 9, and one without."""
    folder = scratch_book(
        tmp_path_factory.mktemp("scratch"),
        {
            "index": "# Start\n\nNo formula here.",
            "07_first": "# First\n\n$$\na<b \\\\& c>d\n$$ (eq-first)\n\nInline $a<b$.",
            "09_second": "# Second\n\n## Part\n\n$$\nx\n$$ (eq-second)\n\n"
            "{eq}`eq-first` and {eq}`eq-second`",
        },
    )
    done = build(folder, folder)
    assert done.returncode == 0, done.stdout[-3000:]
    return folder / "_build" / "html" / "book"


def test_the_build_is_without_a_warning(book):
    assert "WARNING" not in book[0] and "ERROR" not in book[0]
    assert "build succeeded" in book[0]


def test_pages_of_the_contents_are_there(book):
    names = re.findall(r"(?:file|root): (\S+)", (ROOT / "_toc.yml").read_text(encoding="utf-8"))
    assert names
    for name in names:
        assert (book[1] / f"{name}.html").is_file()


def test_pages_load_from_the_site_alone(book):
    for page in book[2]:
        for address in page.loads:
            if not address.startswith("data:"):
                assert not urlsplit(address).scheme and not address.startswith("//"), address
                assert page.target(address).is_file(), f"{page.path.name} loads {address}"
        assert not re.search(r"""import\(\s*["']https?:|@import\s+url\(["']?https?:""", page.text)


def test_style_sheets_load_from_the_site_alone(book):
    for sheet in book[1].rglob("*.css"):
        for address in re.findall(r"url\(([^)]*)\)", sheet.read_text(encoding="utf-8")):
            address = address.strip("'\" ")
            if not address.startswith(("data:", "#", "%23")):
                assert not urlsplit(address).scheme and not address.startswith("//"), address
                assert (sheet.parent / urlsplit(address).path).is_file(), f"{sheet.name}: {address}"


def test_links_within_the_site_arrive(book):
    pages = {page.path: page for page in book[2]}
    for page in book[2]:
        for address in page.links:
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            target = page.target(address) if parts.path else page.path
            assert target.is_file(), f"{page.path.name} links to {address}"
            if parts.fragment and target in pages and target.suffix == ".html":
                assert unquote(parts.fragment) in pages[target].ids, f"{page.path.name}: {address}"


def test_every_picture_has_words(book):
    pages = [page for page in book[2] if "book" in page.path.relative_to(book[1]).parts]
    pictures = [i for page in pages for i in re.findall(r"<img [^>]*>", page.text)]
    assert len(pictures) > 20
    for picture in pictures:
        assert re.search(r'alt="[^"]{8,}"', picture), picture


def test_two_builds_of_one_commit_are_the_same(book, tmp_path):
    """To the byte: no date, no address in memory, no order of a set gets into the site."""
    again = build(tmp_path)
    assert again.returncode == 0, again.stdout[-3000:]
    one, two = (
        {p.relative_to(site): p for p in site.rglob("*") if p.is_file()}
        for site in (book[1], tmp_path / "_build" / "html")
    )
    assert one.keys() == two.keys() and len(one) > 100
    assert [n for n in one if one[n].read_bytes() != two[n].read_bytes()] == []


def test_neither_thebe_nor_font_awesome_nor_mathjax(book):
    for page in book[2]:
        for heavy in (
            "thebe",
            "fontawesome",
            "mathjax.js",
            "tex-mml",
            "require.js",
            "html-manager",
        ):
            loads = "\n".join(page.loads)
            assert heavy not in loads.lower(), f"{page.path.name} loads {heavy}"
        assert "THEBE" not in page.text
    assert not list(book[1].rglob("*fontawesome*"))
    assert not list(book[1].rglob("fa-*.woff2"))


def test_every_icon_has_a_drawing(book):
    style = (book[1] / "_static" / "site.css").read_text(encoding="utf-8")
    drawn = set(re.findall(r"^\.(fa-[\w-]+) \{ --icon:", style, re.MULTILINE))
    used = set().union(*(page.icons for page in book[2]))
    assert "fa-bars" in used
    assert used <= drawn, f"no drawing in book/_site/site.css for {sorted(used - drawn)}"


def test_every_page_names_the_licences_and_follows_the_system(book):
    alone = {book[1] / "index.html", book[1] / "404.html"}  # without the theme: they load nothing
    for page in book[2]:
        if page.path in alone:
            continue
        assert "creativecommons.org/licenses/by/4.0/" in page.text, page.path.name
        assert "Code: MIT" in page.text
        assert 'data-default-mode="auto"' in page.text
        assert any("favicon.svg" in address for address in page.loads)
        for host in ("colab.research.google", "mybinder.org", "launch-buttons"):
            assert host not in page.text, f"{page.path.name}: a launch button without an address"


def test_the_root_leads_to_the_landing_page(book):
    root = Page(book[1] / "index.html")
    assert root.links == ["book/index.html"]
    assert "url=book/index.html" in root.text


def test_a_first_view_is_light(book):
    """Page, scripts, styles and the fonts of most formulas: without a browser, a lower bound."""
    fonts = sum(f.stat().st_size for f in book[1].rglob("KaTeX_Ma*.woff2"))
    for page in book[2]:
        files = {page.target(a) for a in page.loads if a.endswith((".css", ".js")) or "?" in a}
        files = {f for f in files if f.suffix in (".css", ".js")}
        weight = sum(len(gzip.compress(f.read_bytes())) for f in {page.path, *files})
        assert weight + fonts <= FIRST_VIEW, f"{page.path.name}: {weight + fonts} bytes"


def test_pictures_have_a_size_and_load_late(book):
    images = [i for page in book[2] for i in re.findall(r"<img [^>]*_images/[^>]*>", page.text)]
    assert images
    for image in images:
        assert 'loading="lazy"' in image and re.search(r'width="\d+" height="\d+"', image), image


def test_katex_only_where_there_is_a_formula(scratch):
    plain = " ".join(Page(scratch / "index.html").loads)
    for unused in ("katex", "copybutton", "togglebutton", "mystnb", "sphinx-design", "searchindex"):
        assert unused not in plain
    search = Page(scratch.parent / "search.html")
    assert "searchindex.js" in " ".join(search.loads)
    assert "SHOW_SEARCH_SUMMARY = false" in search.text and "SHOW_SEARCH" not in plain
    assert any("katex.min.css" in a for a in Page(scratch / "07_first.html").loads)
    assert any("katex.min.js" in a for a in Page(scratch / "07_first.html").loads)


def test_a_display_is_no_markup(scratch):
    text = (scratch / "07_first.html").read_text(encoding="utf-8")
    assert r"a\lt b" in text and "a<b" not in text


def test_chapters_are_numbered_by_their_file(scratch):
    first = (scratch / "07_first.html").read_text(encoding="utf-8")
    second = (scratch / "09_second.html").read_text(encoding="utf-8")
    assert '<span class="section-number">7. </span>First' in first
    assert '<span class="section-number">9. </span>Second' in second
    assert re.search(r'class="eqno">\(7\.1\)', first)
    assert re.search(r'class="eqno">\(9\.1\)', second)
    assert "(7.1)" in second and "(9.1)" in second


def test_each_fault_fails_the_build(tmp_path):
    faults = (
        "{eq}`absent-equation`",
        "[x](absent.md)",
        "{cite}`absent1999`",
        "{py:func}`absent_f`",
        "```{asserted} absent.ipynb#cell\nA claim.\n```",
    )
    pages = {"index": "# Start\n\n" + "\n\n".join(faults), "01_a": "# A"}
    folder = scratch_book(tmp_path, pages)
    done = build(folder, folder)
    assert done.returncode != 0
    warnings = "\n".join(line for line in done.stdout.splitlines() if "WARNING" in line)
    for name in ("absent-eq", "absent.md", "absent1999", "absent_f"):
        assert name in warnings, warnings
    assert "asserted absent.ipynb#cell" in done.stdout


def test_the_printed_book_has_a_picture_for_each_widget(tmp_path):
    """The LaTeX source, from which a PDF is set, shows the widgets' still pictures."""
    start = "from jupyter_book.cli.main import main; main()"
    options = ["build", str(ROOT), "--path-output", str(tmp_path), "--builder", "latex"]
    done = subprocess.run(
        [sys.executable, "-c", start, *options], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    (source,) = (tmp_path / "_build" / "latex").glob("*.tex")
    text = source.read_text(encoding="utf-8")
    assert re.search(r"\{\{\w+\}\.png\}\s*\\caption\{The masked softmax explorer", text)
    for _, name in re.findall(r"includegraphics(\[[^]]*\])?\{\{(\w+)\}\.png\}", text):
        assert (source.parent / f"{name}.png").stat().st_size > 1000
