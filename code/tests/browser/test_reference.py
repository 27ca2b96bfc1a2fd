"""The reference in the built site: complete, and linked with the chapters in both directions."""

import inspect
import json
import re
from pathlib import Path

import pytest
from site_checks import parsed

import attnbook as ab
from devkit import ROOT
from devkit.chapters import chapters

BOOK = Path(__file__).resolve().parents[3] / "book"
PUBLIC = [n for n in ab.__all__ if not inspect.ismodule(getattr(ab, n))]
KINDS = "dl.py:is(.function, .class, .exception)"


@pytest.fixture(scope="module")
def described(site):
    """By name: the page and the entry of each object of the reference."""
    found = {}
    for path in sorted((site / "book/api").glob("*.html")):
        for entry in parsed(path).select(f"{KINDS} > dt[id^=attnbook]"):
            found.setdefault(entry["id"].rsplit(".", 1)[-1], []).append((path, entry))
    return found


@pytest.fixture(scope="module")
def cells():
    """By chapter: the code of its notebook."""
    return {
        path.stem: "\n".join(
            "".join(cell["source"])
            for cell in json.loads(path.read_text("utf-8"))["cells"]
            if cell["cell_type"] == "code"
        )
        for path in (BOOK / f"{name}.ipynb" for name in chapters())
    }


def uses(entry):
    """The chapters that an entry names: page and anchor."""
    line = entry.find_next_sibling("dd").find("p", class_="attn-uses")
    return [] if line is None else [a["href"].split("#") for a in line.select("a")]


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_is_described_once(described, name):
    (only,) = described[name]
    text = only[1].find_next_sibling("dd").get_text(" ", strip=True)
    assert inspect.getdoc(getattr(ab, name)).split()[0] in text.split()[:2]


def test_the_reference_says_which_chapters_use_a_name(described, cells):
    """Compared with a search of the notebooks' text that knows no syntax tree."""
    for name in PUBLIC:
        ((_, entry),) = described[name]
        said = {Path(page).stem for page, _ in uses(entry)}
        assert said >= {c for c, code in cells.items() if re.search(rf"\bab\.{name}\b", code)}, name
        assert said <= {c for c, code in cells.items() if re.search(rf"\b{name}\b", code)}, name
    assert any(len(uses(entry)) > 3 for ((_, entry),) in map(described.get, PUBLIC))


def test_a_use_leads_to_a_cell_that_has_the_name(described, site):
    pages = {path.name: parsed(path) for path in (site / "book").glob("[0-9]*.html")}
    count = 0
    for name, places in described.items():
        for _, entry in places:
            for page, anchor in uses(entry):
                cell = pages[Path(page).name].find(id=anchor)
                assert name in cell.find_next("pre").get_text(), f"{page}#{anchor}"
                count += 1
    assert count > 60


def test_a_name_in_a_cell_leads_to_the_reference(described, site, cells):
    for chapter, code in cells.items():
        page = parsed(site / f"book/{chapter}.html")
        links = page.select("pre a.attn-code")
        for link in links:
            target, anchor = link["href"].split("#")
            assert (site / "book" / target).is_file()
            assert anchor.removeprefix("module-").split(".")[-1] == link.get_text().split(".")[-1]
        linked = {link.get_text() for link in links}
        for name in PUBLIC:
            if re.search(rf"\bab\.{name}\(", code):
                assert f"ab.{name}" in linked, f"{chapter}: ab.{name}"
        stops = [link.get_text() for link in links if link.get("tabindex") != "-1"]
        assert len(stops) == len(set(stops))  # one stop of the Tab key a name


def test_a_name_in_the_text_leads_to_the_reference(site):
    text = (site / "book/03_attention.html").read_text("utf-8")
    link = r'<a class="reference internal" href="api/masks.html#attnbook.normalize.masked_softmax">'
    assert re.search(link + r"<code[^>]*><span[^>]*>ab.masked_softmax</span></code></a>", text)


def test_the_index_has_the_package(site):
    index = parsed(site / "genindex.html")
    name = "masked_softmax()"
    item = next(li for li in index.select("li") if li.find("code", string=name))
    assert [a["href"].split("#")[0] for a in item.select("a")][:2] == [
        "book/api/masks.html",
        "book/01_cues.html",
    ]
    assert "3a" in item.get_text().split()


def test_the_index_marks_the_chapters_that_show_a_name_s_source(site):
    source = "".join(path.read_text("utf-8") for path in sorted((ROOT / "book").glob("*.ipynb")))
    wanted = set(re.findall(r"\bshow_source\(ab\.(\w+)\)", source))
    items = [li for li in parsed(site / "genindex.html").select("li") if not li.find("li")]
    marked = {
        li.code.get_text().split("(")[0].split(".")[-1]
        for li in items
        if li.find("code") and li.find("strong")
    }
    assert len(items) > 100 and marked == wanted


def test_the_index_has_each_module_once(site):
    named = [li.get_text(" ", strip=True) for li in parsed(site / "genindex.html").select("li")]
    masks = [text for text in named if text.split(" ")[0] == "attnbook.masks"]
    assert len(masks) == 1 and masks[0].startswith("attnbook.masks (module)")
    assert not [text for text in named if text.startswith("module")]


def test_arguments_are_set_as_arguments(site):
    """Not as a list of definitions, which is what a heading becomes that is not the usual one."""
    for path in (site / "book/api").glob("*.html"):
        page = parsed(path)
        assert not [dt for dt in page.select("dt") if dt.get_text().startswith("Args")], path.name
        types = [dt.find_next("dd") for dt in page.select("dt") if dt.get_text() == "Return type:"]
        assert not [dd for dd in types if len(dd.get_text().split()) > 1], "a sentence cut in two"
        assert not [code for code in page.select("code") if "\\" in code.get_text()], path.name
