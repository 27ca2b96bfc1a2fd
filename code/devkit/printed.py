"""Print the whole book to one PDF, from the built site and through a headless browser.

    python -m devkit.printed [--site _build/html] [--out _build/book.pdf]

All pages of the table of contents but the reference stand one after the other in one page, with
their numbers of chapters, equations and figures; each widget is its picture. No TeX is needed.
Code that is folded on the site is only named. Hints, solutions and answers of puzzles end their
chapter, as in any book of exercises: whoever turns the page wants to see them.
It is printed twice: only then it is known on which page a chapter or an answer begins.
"""

import argparse
import io
import sys
import tempfile
import time
from html import escape
from pathlib import Path
from urllib.parse import urlsplit

from bs4 import BeautifulSoup
from pypdf import PdfReader, PdfWriter

from devkit import ROOT
from devkit.pages import ASSETS, PARSER, Page, browser_for, contents

LEFT_OUT = ("book/api/", "book/playground")  # a reference is looked up, a playground played with
FOOTER = (
    '<div style="width:100%;text-align:center;font:8pt sans-serif;color:#555">'
    '<span class="pageNumber"></span></div>'
)
COLUMN = 657  # pixels, 96 to the inch: the width of A4 without its margins
PAPER = {
    "format": "A4",
    "margin": dict.fromkeys(("top", "bottom", "left", "right"), "18mm"),
    "print_background": True,
    "display_header_footer": True,
    "header_template": "<span></span>",
    "footer_template": FOOTER,
    "tagged": False,  # a tag for each word of code and each sign of a formula: 12 MB
}
# Formulas and tables wider than the column are set smaller, so that none is cut. What is still too
# wide is named: for one such thing the browser would shrink the whole book.
FIT = """() => {
  for (const box of document.querySelectorAll("div.math")) {
    const inner = box.querySelector(".katex-display");
    const wide = inner && inner.scrollWidth / inner.clientWidth;
    if (wide > 1) inner.style.fontSize = `${Math.floor(96 / wide)}%`;
  }
  for (const table of document.querySelectorAll("table")) {
    const wide = () => table.scrollWidth > table.parentElement.clientWidth;
    for (let size = 9; size > 5 && wide(); size -= 0.25) table.style.fontSize = `${size}pt`;
  }
  const { clientWidth: edge, scrollWidth } = document.documentElement;
  if (scrollWidth <= edge) return [];
  return [...document.body.querySelectorAll("*:not(.katex *)")]
    .filter((box) => box.getBoundingClientRect().left + box.scrollWidth > edge + 1)
    .slice(-3).map((box) => `${box.tagName.toLowerCase()} ${box.textContent.trim().slice(0, 40)}`);
}"""
NUMBER = """(pages) => {
  for (const place of document.querySelectorAll(".printed-number")) {
    place.textContent = pages[place.closest("a").hash.slice(1)];
  }
}"""
CHAPTERS = """() => [...document.querySelectorAll(".printed-title nav a")].map(
  (link) => [link.firstElementChild.textContent, link.hash.slice(1)]
)"""
READY = """async () => {
  await document.fonts.ready;
  await Promise.all([...document.images].map((image) => image.decode().catch(() => null)));
}"""


def slug(name: str) -> str:
    return name.rsplit("/", 1)[-1]


def name_folded(page: Page) -> None:
    """A line for each folded code: its name, which leads to the page where that has an address."""
    site = page.soup.select_one("link[rel=canonical]")
    for folded in page.article.select("details.hide"):
        label = folded.select_one(".collapsed").get_text()
        line = page.soup.new_tag("p", attrs={"class": "printed-folded"})
        name = page.soup.new_tag("a", href=site["href"]) if site else page.soup.new_tag("span")
        name.string = "Code" if label.startswith("Show code") else label
        places = [page.soup.new_tag("span", id=node["id"]) for node in folded.select("[id]")]
        line.extend([name, *places])
        folded.replace_with(line)


def gather_answers(page: Page) -> None:
    """Hints, solutions and answers of puzzles end the chapter; a page number leads to each."""
    closed = page.article.select(".admonition.dropdown")
    if not closed:
        return
    answers = page.soup.new_tag("section", id="answers", attrs={"class": "printed-answers"})
    answers.append(page.soup.new_tag("h2", string="Hints and answers"))
    for number, box in enumerate(closed, 1):
        title = box.select_one(".admonition-title").extract().get_text()
        where = box.find_parent("section").find(["h1", "h2", "h3"], recursive=False).get_text()
        if (item := box.find_parent("li")) is not None:
            first = int(item.parent.get("start", 1))
            where += f", {first + len(item.find_previous_siblings('li'))}"
        box.insert_before(
            fragment(
                f'<p class="printed-closed" id="asked-{number}"><a href="#answer-{number}">{title} '
                f'<small>{number}, page <span class="printed-number">000</span></small></a></p>'
            )
        )
        answers.append(
            fragment(
                f'<p class="printed-answer" id="answer-{number}"><b>{number}</b> '
                f'<a href="#asked-{number}">{escape(where)}: {title}</a></p>'
            )
        )
        box["class"] = "printed-told"
        answers.append(box.extract())
    page.article.section.append(answers)


def fragment(html: str):
    """The first element of a piece of HTML."""
    return BeautifulSoup(html, PARSER).body.contents[0].extract()


def printable(page: Page, printed: set[str]) -> None:
    """Make an article fit for paper: pictures for widgets, addresses that hold in one page."""
    soup, article, own = page.soup, page.article, slug(page.name)
    name_folded(page)
    gather_answers(page)
    for other in article.select(".attn-figure-dark, .attn-stack"):  # for the dark, for phones
        other.decompose()
    for box in article.select(".attn-widget"):
        picture = box.img.extract()
        box.replace_with(picture)
    for choice in article.select(".attn-choices button"):
        choice.unwrap()
    for button in article.select("script, button, .attn-answer form, .cell_input .toggle-hidden"):
        button.decompose()
    for details in article.select("details"):
        details["open"] = ""
    for image in article.select("img"):
        image["src"] = page.file(image["src"]).as_uri()
        image["loading"] = "eager"
    for node in article.select("[id]"):
        node["id"] = f"{own}--{node['id']}"
    for link in article.select("a[href]"):
        parts = urlsplit(link["href"])
        if parts.scheme:
            continue
        target = page.path if not parts.path else page.file(link["href"])
        name = slug(target.stem)
        if target.suffix == ".html" and name in printed:
            link["href"] = f"#{name}--{parts.fragment}" if parts.fragment else f"#{name}"
            del link["title"]
        else:
            link.unwrap()
    whole = soup.new_tag("section", id=own)
    whole["class"] = "printed-page"
    whole.append(article.extract())
    page.whole = whole


def assemble(site: Path, names: list[str]) -> str:
    """The book as one page of HTML."""
    names = [n for n in names if not n.startswith(LEFT_OUT) and (site / f"{n}.html").is_file()]
    pages = [Page(site, name) for name in names]
    styles = dict.fromkeys(path for page in pages for path in page.styles())
    lines = []
    for page in pages[1:]:
        number = '<span class="printed-number"></span>'
        lines.append(f'<li><a href="#{slug(page.name)}"><span>{page.title}</span>{number}</a></li>')
    for page in pages:
        printable(page, {slug(name) for name in names})
    title = pages[0].soup.title.get_text().split("—")[-1].strip()
    soup = BeautifulSoup(
        f"""<!doctype html><html lang="en" data-theme="light"><head><meta charset="utf-8">
<title>{title}</title>
{"".join(f'<link rel="stylesheet" href="{path.as_uri()}">' for path in styles)}
<link rel="stylesheet" href="{(ASSETS / "print.css").as_uri()}">
</head><body class="printed">
<header class="printed-title"><h1>{title}</h1>
<p>Text and figures CC BY 4.0, code MIT. The widgets are still here; on the site they move. A line
in grey beside a bar names code that is folded on the site: it is in the chapter's notebook. Hints
and answers end each chapter.</p>
<nav><h2>Contents</h2><ol>{"".join(lines)}</ol></nav></header>
</body></html>""",
        PARSER,
    )
    for page in pages:
        soup.body.append(page.whole)
    return str(soup)


def begins(pdf: bytes) -> dict[str, int]:
    """The page, counted from 1, of every place that a link within the PDF leads to."""
    reader = PdfReader(io.BytesIO(pdf))
    return {
        name.removeprefix("/"): reader.get_destination_page_number(place) + 1
        for name, place in reader.named_destinations.items()
    }


def to_pdf(html: str, out: Path) -> None:
    """Let the browser typeset the page; nothing but files may be asked for."""
    from playwright.sync_api import sync_playwright

    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        source = Path(folder) / "book.html"
        source.write_text(html, encoding="utf-8")
        browser = browser_for(playwright)
        page = browser.new_page(viewport={"width": COLUMN, "height": 1000})
        page.emulate_media(media="print", color_scheme="light")
        page.set_default_timeout(300_000)
        page.goto(source.as_uri())
        page.evaluate(READY)
        if wide := page.evaluate(FIT):
            raise ValueError(f"wider than the paper: {wide}")
        pages = begins(page.pdf(**PAPER))
        page.evaluate(NUMBER, pages)
        book = PdfWriter(clone_from=io.BytesIO(page.pdf(**PAPER)))
        for title, place in page.evaluate(CHAPTERS):
            book.add_outline_item(title=title, page_number=pages[place] - 1)
        book.write(out)
        browser.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--site", type=Path, default=ROOT / "_build" / "html")
    parser.add_argument("--out", type=Path, default=ROOT / "_build" / "book.pdf")
    args = parser.parse_args()
    start = time.perf_counter()
    try:
        html = assemble(args.site.resolve(), contents())
    except FileNotFoundError as error:
        print(error, file=sys.stderr)
        return 1
    to_pdf(html, args.out)
    print(f"Printed in {time.perf_counter() - start:.0f} s: {args.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
