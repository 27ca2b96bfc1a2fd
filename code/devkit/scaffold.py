"""Begin a chapter, or a widget: files that run, pass every test, and are to be replaced.

    python -m devkit.scaffold chapter 13 tasks
    python -m devkit.scaffold widget Hops 13

A chapter is a notebook, a room of the package with its test, mutants and page of the reference,
an assignment of one question, and sabotages. A widget has one setting; it is shown on the page of
its chapter and in the gallery. The files are made from those of `templates/`, whose paths are
those of the new files, with NN, NAME and CLASS in place of number, name and class.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

import jinja2
import jupytext
import nbformat

from devkit import ROOT
from devkit.chapters import chapters

TEMPLATES = Path(__file__).parent / "templates"
JINJA = jinja2.Environment(
    loader=jinja2.FileSystemLoader(TEMPLATES),
    undefined=jinja2.StrictUndefined,
    keep_trailing_newline=True,
)
GALLERY = ROOT / "book" / "gallery.ipynb"


def chapter(number: int, name: str) -> list[Path]:
    """Write the files of a chapter and enter it in the lists; returns its notebooks.

    Raises:
        ValueError: the number or the name is taken, or the name is no Python name in lower case.
    """
    if any(page.number == number for page in chapters().values()):
        raise ValueError(f"there is a chapter {number} already")
    if not re.fullmatch(r"[a-z][a-z_]*", name) or (ROOT / f"code/attnbook/{name}.py").exists():
        raise ValueError(f"NAME must be new and a Python name in lower case, got {name!r}")
    words = {"number": number, "nn": f"{number:02}", "name": name}
    words["title"] = name.replace("_", " ").capitalize()
    target = ROOT / f"book/{words['nn']}_{name}.ipynb"
    for path in write(TEMPLATES / "chapter", ROOT, words):
        if path.parent == ROOT / "book":
            about = {"chapter": str(number), "way": "everything", "assignment": target.stem}
            save(as_notebook(path.read_text(encoding="utf-8"), name, about), target)
            path.unlink()
    edit(ROOT / "_toc.yml", "  - caption: Appendices\n", f"      - file: book/{target.stem}\n")
    edit(ROOT / "_toc.yml", "          - file: book/api/transformer\n",
         f"          - file: book/api/{name}\n")  # fmt: skip
    edit(ROOT / "book/api/index.md", "| [The Transformer]",
         f"| [{words['title']}]({name}.md) | `attnbook.{name}` |\n")  # fmt: skip
    package = ROOT / "code/attnbook/__init__.py"
    rooms = re.findall(r"^from \.\w+ import", package.read_text(encoding="utf-8"), re.M)
    after = next(line for line in rooms if line > f"from .{name} import")
    edit(package, after, f"from .{name} import {name}_weights\n")
    return [target]


def widget(name: str, label: str) -> list[Path]:
    """Write a widget and show it on the page of a chapter and in the gallery; returns both.

    Raises:
        ValueError: the name is taken or no class's, there is no such chapter, or its page has no
            place for the widget. Nothing is written then.
    """
    folder = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
    target = ROOT / "code/attnbook/widgets" / folder
    if target.exists():
        raise ValueError(
            f"NAME must be new and a class's, got {name!r}; remove {target.relative_to(ROOT)} "
            "to begin it again"
        )
    if not re.fullmatch(r"([A-Z][a-z]+)+", name):
        raise ValueError(f"NAME must be new and a class's, such as DocumentReader, got {name!r}")
    pages = [p for p in chapters().values() if label in (p.label, str(p.number))]
    if not pages:
        raise ValueError(f"there is no chapter {label}")
    words = {"class": name, "name": folder, "title": re.sub(r"\B(?=[A-Z])", " ", name).capitalize()}
    places = (ROOT / f"book/{pages[0].name}.ipynb", "## Summary"), (GALLERY, "## Without a browser")
    edited = []
    for path, heading in places:
        notebook = nbformat.read(path, as_version=4)
        page = path.stem.lstrip("0123456789_").replace("_", "-")
        shown = render("widget/cell.py.j2", words | {"page": page})
        cells = as_notebook(shown, f"{page}-{folder}").cells
        texts = [
            (n, found.start())
            for n, cell in enumerate(notebook.cells)
            if cell.cell_type == "markdown"
            and (found := re.search(f"^{heading}$", cell.source, re.M))
        ]
        if not texts:
            raise ValueError(
                f"{path.name}: no heading {heading!r}, before which the widget is shown"
            )
        at, start = texts[0]
        if start:  # in the middle of a cell: what follows becomes a cell of its own
            text = notebook.cells[at].source
            notebook.cells[at].source = text[:start].rstrip()
            cells.append(nbformat.v4.new_markdown_cell(text[start:], id=f"{cells[0]['id']}-after"))
            at += 1
        notebook.cells[at:at] = cells
        edited.append((notebook, path))
    write(TEMPLATES / "widget/NAME", target, words)
    for notebook, path in edited:
        save(notebook, path)
    return [path for path, _ in places]


def write(folder: Path, target: Path, words: dict) -> list[Path]:
    """Render each template of a folder to its place below `target`; returns the files."""
    names = {"NN": words.get("nn"), "NAME": words["name"], "CLASS": words.get("class")}
    written = []
    for source in sorted(folder.rglob("*.j2")):
        place = str(source.relative_to(folder).with_suffix(""))
        path = target / re.sub("NN|NAME|CLASS", lambda found: names[found[0]], place)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(render(str(source.relative_to(TEMPLATES)), words), encoding="utf-8")
        kept = path.with_suffix(".ipynb") if path.parent == ROOT / "book" else path
        print(f"wrote {kept.relative_to(ROOT).as_posix()}")
        written.append(path)
    return written


def render(template: str, words: dict) -> str:
    """A template's text with these words."""
    return JINJA.get_template(template).render(words)


def as_notebook(text: str, name: str, about: dict | None = None):
    """Cells from jupytext's percent form, with ids that begin with `name`."""
    notebook = jupytext.reads(text, fmt="py:percent")
    for n, cell in enumerate(notebook.cells):
        cell["id"] = f"{name}-{n:03}".replace("_", "-")
    notebook.metadata = {"attnbook": about} if about else {}
    return notebook


def save(notebook, path: Path) -> None:
    """Write a notebook as the runner does."""
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    path.write_text(nbformat.writes(notebook).rstrip("\n") + "\n", encoding="utf-8")


def edit(path: Path, before: str, line: str) -> None:
    """Enter a line before the one text `before` of a file."""
    text = path.read_text(encoding="utf-8")
    if text.count(before) != 1:
        raise ValueError(f"{path.name}: {before!r} must stand there once")
    path.write_text(text.replace(before, line + before), encoding="utf-8")


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    kinds = parser.add_subparsers(dest="kind", required=True)
    one = kinds.add_parser("chapter")
    one.add_argument("number", type=int)
    one.add_argument("name")
    one = kinds.add_parser("widget")
    one.add_argument("name")
    one.add_argument("chapter")
    args = parser.parse_args(argv)
    try:
        made = chapter(args.number, args.name) if args.kind == "chapter" else None
        made = made or widget(args.name, args.chapter)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    print("CONTRIBUTING.md says what is in them, and what comes next.", flush=True)
    steps = [["devkit.notebooks", *map(str, made)]]
    steps += [["devkit.doubt", made[0].stem]] * (args.kind == "chapter")
    return int(any(subprocess.run([sys.executable, "-m", *step]).returncode for step in steps))


if __name__ == "__main__":
    sys.exit(main())
