"""Slides of each chapter, from the built site and so from the same notebook.

    python -m devkit.slides [CHAPTER ...]     such as 03_scoring; without names: all chapters

They go to _build/slides, with all that they load: open a file, no network and no server. A slide
holds a heading, what is set off (formulas, figures, tables, lists, code, widgets) and the
sentences that introduce a term or lead to what is set off; the rest of the prose is its notes.
"""

import argparse
import shutil
import sys
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from devkit import ROOT
from devkit.chapters import chapter_of
from devkit.pages import ASSETS, Page, contents

HEADINGS = ("h1", "h2", "h3")
LEFT_OUT = {"Exercises", "References"}  # sections that are read, not shown
HEAVY = ".cell, figure, .attn-widget, table, pre"  # one of them fills a slide


@dataclass
class Slide:
    """A heading, what is shown, and what is said."""

    heading: str
    level: int
    shown: list = field(default_factory=list)
    notes: list = field(default_factory=list)
    full: bool = False

    @property
    def room(self) -> int:
        """What is left for a code cell or a figure: a formula takes two lines' worth."""
        return 4 - sum(2 if node.name == "div" else 1 for node in self.shown)


def blocks(section, level=1):
    """A section's blocks in order, its subsections opened: (level of the section, block)."""
    for node in section.find_all(recursive=False):
        if node.name == "section":
            if node.find(HEADINGS).get_text().strip("#") not in LEFT_OUT:
                yield from blocks(node, level + 1)
        else:
            yield level, node


def is_heavy(node) -> bool:
    return bool(node.css.match(HEAVY) or node.select_one(HEAVY))


def is_shown(node) -> bool:
    """Whether a block stands on the slide; other prose and evidence are for the speaker."""
    if node.name == "details" and "attn-evidence" in node["class"]:
        return False
    if node.name != "p":
        return True
    text = node.get_text().strip()
    return bool(node.find("strong")) or text.endswith((":", ",")) or node.parent.name == "figure"


def slides_of(article) -> list[Slide]:
    """The article cut into slides."""
    made = []
    for level, node in blocks(article.find("section")):
        if node.name in HEADINGS:
            made.append(Slide(node.decode_contents(), level))
        elif not made or "footnote" in (node.get("class") or []):
            continue
        elif not is_shown(node):
            made[-1].notes.append(node)
        else:
            heavy = is_heavy(node)
            if made[-1].full or (heavy and made[-1].room < 0):
                made.append(Slide(made[-1].heading, made[-1].level))
            if node.select_one(".cell_output :is(figure, .attn-widget, img)"):
                made[-1].notes.append(node.select_one(".cell_input").extract())
            told = node.select("details.attn-closed > :not(summary, .cell_output, figure)")
            made[-1].notes += [part.extract() for part in told]
            made[-1].shown.append(node)
            made[-1].full = heavy
    return [made[0], *(slide for slide in made[1:] if slide.shown or slide.notes)]


def as_html(page: Page, address) -> str:
    """One page with a chapter's slides; `address(path)` is where a file of the site stands."""
    for link in page.article.select("a[href]"):
        if "://" not in link["href"]:
            link.unwrap()  # a slide leads nowhere else
    parts = []
    for number, slide in enumerate(slides_of(page.article), start=1):
        notes = "".join(map(str, slide.notes))
        shown = "".join(map(str, slide.shown))
        tag = "h1" if slide.level == 1 else "h2"
        kind = "title" if slide.level == 1 else "plain"
        parts.append(
            f'<section class="slide {kind}" id="slide-{number}" aria-label="Slide {number}">'
            f'<{tag}>{slide.heading}</{tag}><div class="shown">{shown}</div>'
            f'<aside class="notes" aria-label="Notes">{notes}</aside></section>'
        )
    states = page.soup.select('script[type="application/vnd.jupyter.widget-state+json"]')
    head = "".join(map(str, states))
    for sheet in page.styles():
        head += f'<link rel="stylesheet" href="{address(sheet)}">'
    head += '<link rel="stylesheet" href="slides.css">'
    for script in page.scripts("/attn-", "widgets/"):
        head += f'<script defer src="{address(script)}"></script>'
    return f"""<!doctype html>
<html lang="en" data-theme="light"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Slides: {escape(page.title)}</title>
<link rel="icon" href="_static/favicon.svg" type="image/svg+xml">
{head}<script defer src="slides.js"></script></head>
<body class="slides"><main class="bd-article">{"".join(parts)}</main>
<nav class="slides-bar" aria-label="Slides">
<button type="button" data-go="-1">Back</button><output></output>
<button type="button" data-go="1">On</button><button type="button" data-notes>Notes</button>
</nav></body></html>
"""


def write(site: Path, out: Path, names: list[str]) -> list[Path]:
    """Write the slides of these chapters and copy what they load."""
    out.mkdir(parents=True, exist_ok=True)
    for folder in ("_static", "_images"):
        shutil.copytree(site / folder, out / folder, dirs_exist_ok=True)
    for asset in ("slides.css", "slides.js"):
        shutil.copy(ASSETS / asset, out)
    written = []
    for name in names:
        page = Page(site, name)
        for image in page.article.select("img"):
            image["src"] = page.file(image["src"]).relative_to(site).as_posix()
        html = as_html(page, lambda path: path.relative_to(site).as_posix())
        written.append(out / f"{name.rsplit('/', 1)[-1]}.html")
        written[-1].write_text(html, encoding="utf-8")
    return written


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("chapters", nargs="*", metavar="CHAPTER")
    parser.add_argument("--site", type=Path, default=ROOT / "_build" / "html")
    parser.add_argument("--out", type=Path, default=ROOT / "_build" / "slides")
    args = parser.parse_args()
    every = [name for name in contents() if chapter_of(ROOT, name)]
    wanted = {Path(name).stem for name in args.chapters}
    if unknown := wanted - {Path(name).stem for name in every}:
        print(f"no such chapter: {', '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    names = [name for name in every if not wanted or Path(name).stem in wanted]
    try:
        written = write(args.site.resolve(), args.out.resolve(), names)
    except FileNotFoundError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{len(written)} decks of slides. Open {written[0].as_uri()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
