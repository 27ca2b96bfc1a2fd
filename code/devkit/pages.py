"""The built site's pages, for what is made of them: the printed book and the slides."""

import sys
from pathlib import Path
from urllib.parse import urlsplit

import yaml
from bs4 import BeautifulSoup

from devkit import ROOT, browser

ASSETS = Path(__file__).parent / "assets"
PARSER = "lxml"


def contents(toc: Path = ROOT / "_toc.yml") -> list[str]:
    """The documents of the table of contents, in its order."""
    names = []

    def walk(node):
        if isinstance(node, list):
            for item in node:
                walk(item)
        elif isinstance(node, dict):
            names.extend(node[key] for key in ("root", "file") if key in node)
            for key in ("parts", "chapters", "sections"):
                walk(node.get(key))

    walk(yaml.safe_load(toc.read_text(encoding="utf-8")))
    return names


class Page:
    """One page of the site: its article, without what only a page needs, and its assets."""

    def __init__(self, site: Path, name: str):
        self.site, self.name = site, name
        self.path = site / f"{name}.html"
        if not self.path.is_file():
            raise FileNotFoundError(f"no {self.path}: run 'make book' first")
        self.soup = BeautifulSoup(self.path.read_text(encoding="utf-8"), PARSER)
        self.article = self.soup.select_one("article.bd-article")
        for extra in self.article.select(
            ".headerlink, .copybtn, noscript, .attn-ways, .attn-doors"
        ):
            extra.decompose()

    @property
    def title(self) -> str:
        return self.article.h1.get_text()

    def file(self, address: str) -> Path:
        """The file of the site that a relative address names."""
        return (self.path.parent / urlsplit(address).path).resolve()

    def styles(self) -> list[Path]:
        """The style sheets, in order."""
        return [self.file(link["href"]) for link in self.soup.select("link[rel=stylesheet]")]

    def scripts(self, *marks: str) -> list[Path]:
        """The scripts whose address has one of these marks, in order."""
        return [
            self.file(script["src"])
            for script in self.soup.select("script[src]")
            if any(mark in script["src"] for mark in marks)
        ]


def browser_for(playwright):
    """A headless Chromium or Chrome, found and started as the tests do it; else leave."""
    path = browser.find_browser(playwright)
    if path is None:
        sys.exit(browser.HOW)
    return browser.launch(playwright, path)
