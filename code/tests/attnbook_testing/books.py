"""A small book with this book's settings, extensions and assets, for the tests that build one."""

import re
import shutil
import subprocess
from pathlib import Path

import nbformat

from devkit.build import build

ROOT = Path(__file__).resolve().parents[3]


def small_book(
    folder: Path, pages: dict, *, url="", site="", model: Path | None = None
) -> subprocess.CompletedProcess:
    """Build pages, `index` among them, of Markdown or notebooks.

    `url` and `site` are the book's addresses, `model` the playground's; without, it has none.
    """
    settings = (ROOT / "_config.yml").read_text(encoding="utf-8")
    for name, value in (("url", url), ("baseurl", site)):
        pattern = rf'^  {name}: ".*"$'
        settings, count = re.subn(pattern, f'  {name}: "{value}"', settings, flags=re.MULTILINE)
        assert count == 1
    (folder / "_config.yml").write_text(settings, encoding="utf-8")
    for part in ("_ext", "_site"):
        ignored = shutil.ignore_patterns("playground")
        shutil.copytree(ROOT / "book" / part, folder / "book" / part, ignore=ignored)
    if model:
        (folder / "book" / "_site" / "playground").mkdir()
        shutil.copy(model, folder / "book" / "_site" / "playground" / "grammar.js")
    shutil.copy(ROOT / "book" / "references.bib", folder / "book")
    shutil.copy(ROOT / "requirements.txt", folder)
    toc = ["format: jb-book", "root: book/index", "parts:", "  - numbered: 1", "    chapters:"]
    toc += [f"      - file: book/{name}" for name in pages if name != "index"]
    (folder / "_toc.yml").write_text("\n".join(toc), encoding="utf-8")
    for name, page in pages.items():
        if isinstance(page, str):
            (folder / "book" / f"{name}.md").write_text(page, encoding="utf-8")
        else:
            nbformat.write(page, folder / "book" / f"{name}.ipynb")
    return build(folder, folder)
