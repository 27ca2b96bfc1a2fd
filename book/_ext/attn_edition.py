"""The reader's edition: each chapter as a notebook to run, written by the build of the site.

`_build/html/notebooks/NN_name.ipynb` is made from the page's own document: references are the
page's numbers with links to the site, citations say author and year, and what MyST alone can show
has become Markdown that every front end shows (`attn_markdown`). Code and outputs are those of the
chapter; a widget is its picture until its cell is run, and what is to be predicted is empty.
"""

from __future__ import annotations

import ast
import re
import textwrap
from pathlib import Path
from urllib.parse import urljoin

import nbformat
from attn_launch import EDITION, edition_of
from attn_markdown import Markdown
from attn_publish import address
from docutils import nodes
from packaging.requirements import Requirement
from sphinx.errors import ExtensionError
from sphinx.transforms.post_transforms import SphinxPostTransform

from devkit import course
from devkit.predict import boxes

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
HIDDEN = {  # a tag of Jupyter Book, and what JupyterLab and Notebook understand
    "hide-input": {"source_hidden": True},
    "hide-output": {"outputs_hidden": True},
    "hide-cell": {"source_hidden": True, "outputs_hidden": True},
}
# What a cell needs that not every machine has: the question that it asks, and what it says.
GATES = {
    "gpu": (
        "if not torch.cuda.is_available():",
        'print("Skipped: this cell needs a CUDA device.")',
    ),
    "data": ("if missing := ab.data.why_missing():", 'print(f"Skipped: {missing}")'),
}
TOLD, TOLD_END = "<details>\n<summary>What it shows</summary>", "\n\n</details>"
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
FIRST_CELL = """\
# Installs the course's packages where they are missing. A torch that is there stays as it is.
import importlib.util

if not all(map(importlib.util.find_spec, ["attnbook", "experiments"])):
    %pip install -q {needs}
    %pip install -q --no-deps {peer} {wheels}"""
# The same while the site has no address to install from.
FIRST_CELL_UNNAMED = """\
# Does nothing, unless the course's packages are missing.
import importlib.util

if not all(map(importlib.util.find_spec, ["attnbook", "experiments"])):
    print(
        "attnbook is missing here: it is in {zip}, beside the book's pages. "
        "Unzip it, and run `{line}` in its folder."
    )"""


def install_cell(site: str, root: Path) -> str:
    """The first cell: it installs from the site's address, or says where the packages are."""
    if not site:
        return FIRST_CELL_UNNAMED.format(zip=course.ZIP, line=course.LINES[1])
    pins = (root / "requirements.txt").read_text(encoding="utf-8").splitlines()
    declared = [Requirement(need).name for need in course.project("code")["dependencies"]]
    return FIRST_CELL.format(
        needs=" ".join([*declared, "statsmodels"]),
        peer=next(line for line in pins if line.startswith("d2l==")),
        wheels=" ".join(f"{site}{course.WHEELS}/{name}" for name in course.wheel_names()),
    )


def gated(source: str, tags) -> str:
    """The cell's code behind the question whether this machine has what it needs."""
    for tag in sorted(GATES.keys() & set(tags)):
        question, says = GATES[tag]
        tree = ast.parse(source)
        if isinstance(tree.body[-1], ast.Expr) and not isinstance(tree.body[-1].value, ast.Call):
            raise ExtensionError(f"a cell tagged {tag} must print what it shows:\n{source}")
        inner = textwrap.indent(source, "    ")
        whole = f"{question}\n    {says}\nelse:\n{inner}"
        same = ast.dump(ast.Module(ast.parse(whole).body[0].orelse, [])) == ast.dump(tree)
        if not same:  # a text over several lines has moved
            raise ExtensionError(f"a cell tagged {tag} cannot be moved to the right:\n{source}")
        source = whole
    return source


def hidden(tags) -> dict:
    """The metadata that folds a cell."""
    folds = {k: v for tag in HIDDEN.keys() & set(tags) for k, v in HIDDEN[tag].items()}
    return {"jupyter": folds} if folds else {}


def code_cell(cell, closed: bool = False) -> nbformat.NotebookNode:
    """A code cell for people: no metadata of the book, pictures in place of widgets.

    Without its output, where the reader is to predict that. What not every machine can run keeps
    it, folded.
    """
    tags = cell.metadata.get("tags", [])
    if closed and not GATES.keys() & set(tags):
        return nbformat.v4.new_code_cell(cell.source, id=cell.id, metadata=hidden(tags))
    outputs = [nbformat.from_dict(output) for output in cell.outputs]
    for output in outputs:
        if "data" in output:
            output.data.pop(WIDGET_VIEW, None)
            output.metadata.pop(WIDGET_VIEW, None)
            output.metadata.get("image/png", {}).pop("narrow", None)  # the site's, for phones
    return nbformat.v4.new_code_cell(
        gated(cell.source, tags),
        id=cell.id,
        metadata=hidden([*tags, *(["hide-output"] if closed else [])]),
        outputs=outputs,
        execution_count=cell.execution_count,
    )


class Edition:
    """One chapter's notebook, from its document and its source."""

    def __init__(self, app, document: nodes.document, docname: str):
        self.app, self.env, self.docname = app, app.env, docname
        self.document = document
        self.source = nbformat.read(self.env.doc2path(docname), as_version=4)
        self.markdown = Markdown(self.link, self.cite, self.number)
        self.closed = {n for box in boxes(self.source) if box.answers for n in box.code}
        self.cells, self.text = [], []

    def build(self) -> nbformat.NotebookNode:
        """Every code cell of the source, and the document's text between them."""
        self.placed = 0
        for section in self.document.children:
            self.walk(section, level=0)
        self.flush()
        self.code_up_to(len(self.source.cells))
        install = install_cell(address(self.app), Path(self.app.srcdir))
        self.cells.insert(1, nbformat.v4.new_code_cell(install, id="install"))
        return nbformat.v4.new_notebook(cells=self.cells, metadata=METADATA)

    def walk(self, node: nodes.Node, level: int) -> None:
        """Text is collected until a code cell comes; sections are headings."""
        if isinstance(node, nodes.section):
            for child in node.children:
                self.walk(child, level + 1)
        elif isinstance(node, nodes.container) and node.get("nb_element") == "cell_code":
            self.flush()
            self.code_up_to(node["cell_index"] + 1)
            self.text += map(self.markdown.block, node.findall(nodes.caption))
        else:
            self.markdown.level = level
            if written := self.markdown.block(node):
                told = "box" in node and not isinstance(node, nodes.Admonition)
                self.text += self.folded(written) if told else [written]

    def folded(self, written: str) -> list[str]:
        """What tells the result of the cell above: folded, with what was told before it."""
        before = self.text.pop() if self.text and self.text[-1].startswith(TOLD) else TOLD
        return [f"{before.removesuffix(TOLD_END)}\n\n{written}{TOLD_END}"]

    def flush(self) -> None:
        """What was collected becomes a cell."""
        if self.text:
            name = f"text-{len(self.cells):03d}"
            self.cells.append(nbformat.v4.new_markdown_cell("\n\n".join(self.text), id=name))
            self.text = []

    def code_up_to(self, end: int) -> None:
        """The source's code cells before `end`, those that the page does not show included."""
        for place, cell in enumerate(self.source.cells[self.placed : end], start=self.placed):
            if cell.cell_type == "code" and cell.source.strip():
                self.cells.append(code_cell(cell, place in self.closed))
        self.placed = max(self.placed, end)

    def number(self, node: nodes.Element) -> str:
        """The page's number of a figure, a table or a formula."""
        kind, form = {
            nodes.math_block: ("displaymath", self.app.config.math_eqref_format),
            nodes.figure: (
                "figure",
                self.app.config.numfig_format["figure"].replace("%s", "{number}"),
            ),
        }[type(node)]
        numbers = self.env.toc_fignumbers.get(self.docname, {}).get(kind, {})
        found = next((numbers[i] for i in node["ids"] if i in numbers), None)
        return form.format(number=".".join(map(str, found))) if found else ""

    def link(self, node: nodes.reference) -> str | None:
        """Where a reference leads: into the site; a term of the glossary stays plain."""
        target = node.get("refuri") or f"#{node['refid']}"
        if "internal" not in node and re.match(r"[a-z]+:", target):
            return target
        page = self.app.builder.get_target_uri(self.docname)
        place = urljoin(page, target)
        if "/glossary.html#term-" in place:
            return None
        return (address(self.app) or "../") + place

    def cite(self, references: list, before: str) -> str:
        """(author, year; ...), or (year) where the text before it has said the authors."""
        entries = [self.entry(reference["refid"]) for reference in references]
        authors = [surnames(entry) for entry in entries]
        years = [entry.fields["year"] for entry in entries]
        plain = re.sub(r"[\s*\xa0]+", " ", before)
        if len(entries) == 1 and plain.rstrip().endswith(authors[0]):
            return f"({years[0]})"
        return "(" + "; ".join(f"{a}, {y}" for a, y in zip(authors, years, strict=True)) + ")"

    def entry(self, note: str):
        """The entry of the bibliography behind a footnote."""
        entries = self.env.get_domain("cite").bibdata.data.entries
        for key, entry in entries.items():
            if nodes.make_id(f"footcite-{key}") == note:
                return entry
        raise ExtensionError(f"attn_edition: {self.docname}: no entry for the footnote {note}")


def surnames(entry) -> str:
    """Authors as a text names them: one, two, or the first and "et al."."""
    names = [
        " ".join(person.prelast_names + person.last_names) for person in entry.persons["author"]
    ]
    names = [re.sub(r"[{}\\]", "", name) for name in names]
    return " and ".join(names) if len(names) < 3 else f"{names[0]} et al."


class WriteEdition(SphinxPostTransform):
    """Writes the notebook once references are resolved, before the page takes its own form."""

    default_priority = 400
    formats = ("html",)

    def run(self, **kwargs) -> None:
        docname = self.env.docname
        name = edition_of(self.app, docname)
        if name is None:
            return
        try:
            notebook = Edition(self.app, self.document, docname).build()
        except NotImplementedError as error:
            raise ExtensionError(f"attn_edition: {docname}: {error}") from error
        nbformat.validate(notebook)
        path = Path(self.app.outdir) / EDITION / f"{name}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(nbformat.writes(notebook).rstrip("\n") + "\n", encoding="utf-8")


def setup(app):
    app.add_post_transform(WriteEdition)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
