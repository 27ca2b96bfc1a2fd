"""What a committed notebook must be: executed, clean, light, and readable without its pictures.

Used by the tests, by pre-commit and after `make notebooks`. Each check yields its complaints.
"""

import json
import re
from itertools import pairwise

from devkit.clean import (
    ADDRESS,
    CELL_KEYS,
    CELL_PATH,
    GATED,
    KERNELSPEC,
    NOTEBOOK_KEYS,
    WIDGET_STATE,
    WIDGET_VIEW,
    code_cells,
    joined,
    tags,
)
from devkit.gates import at_small_sizes
from devkit.pictures import is_drawn, mark_of, shown_widgets

MAX_FIGURE = 60_000  # bytes
MAX_STUB = 1_000  # characters of a widget's stubbed source
PICTURES = ("image/png", "image/jpeg", "image/svg+xml")
MACHINE_PATH = re.compile(
    r"(?<![\w.~:/-])/(?:home|Users|root|tmp|work|opt|mnt|private|var/folders)/[\w.-]+"
    r"|\b[A-Z]:\\Users\\|ipykernel_\d+"
)
FIGURES = re.compile(r"[-+−]?[\d.]|[–-]$|$")
BARE_IMAGE = re.compile(r"!\[\s*\]\(")


def executed(nb):
    """Every code cell has run, in order; a gated cell without outputs need not have."""
    expected = 1
    for number, cell in enumerate(code_cells(nb), start=1):
        if tags(cell) & GATED and not cell.outputs and cell.execution_count is None:
            continue
        if cell.execution_count is None:
            yield f"code cell {number} is not executed"
        elif cell.execution_count != expected:
            yield f"code cell {number} has execution count {cell.execution_count}, not {expected}"
        expected += 1


def no_errors(nb):
    """No output is an error."""
    for number, cell in enumerate(code_cells(nb), start=1):
        for output in cell.outputs:
            if output.output_type == "error":
                yield f"code cell {number} ends in {output.ename}: {output.evalue}"


def light_figures(nb):
    """No figure weighs more than MAX_FIGURE."""
    for number, mime, body in _pictures(nb):
        size = len(joined(body)) * (3 / 4 if mime != "image/svg+xml" else 1)
        if size > MAX_FIGURE:
            yield f"code cell {number} has a figure of {size / 1e3:.0f} kB (limit 60 kB)"


def alternative_text(nb):
    """Every figure says in words what it shows: `mystnb.image.alt` of its cell."""
    for number, cell in enumerate(code_cells(nb), start=1):
        shown = {m for o in cell.outputs for m in o.get("data", {})}
        alt = cell.metadata.get("mystnb", {}).get("image", {}).get("alt", "")
        if shown & {*PICTURES, WIDGET_VIEW} and not str(alt).strip():
            yield f"code cell {number} shows a figure without alternative text (mystnb.image.alt)"
    for place, cell in enumerate(nb.cells):
        if cell.cell_type == "markdown" and BARE_IMAGE.search(cell.source):
            yield f"cell {place} (text) has an image without alternative text"


def clean_metadata(nb):
    """Only the metadata that the book uses."""
    if extra := set(nb.metadata) - NOTEBOOK_KEYS:
        yield f"notebook metadata {sorted(extra)}"
    if nb.metadata.get("kernelspec") != KERNELSPEC:
        yield f"kernelspec is not {KERNELSPEC}"
    if nb.metadata.get("language_info") != {"name": "python"}:
        yield "language_info is not just the name python"
    ids = [c.get("id") for c in nb.cells]
    if None in ids or len(set(ids)) < len(ids):
        yield "cells without an id, or two with the same"
    for place, cell in enumerate(nb.cells):
        if extra := set(cell.metadata) - CELL_KEYS:
            yield f"cell {place} has metadata {sorted(extra)}"
        for output in cell.get("outputs", []):
            if extra := set(output.get("metadata", {})) - set(output.get("data", {})):
                yield f"cell {place} has output metadata {sorted(extra)}"


def no_machine(nb):
    """No path or process of the machine that ran it."""
    for place, cell in enumerate(nb.cells):
        texts = [cell.source]
        for output in cell.get("outputs", []):
            texts += [joined(output.get("text", "")), "\n".join(output.get("traceback", []))]
            texts += [
                joined(b)
                for m, b in output.get("data", {}).items()
                if m.startswith("text/") or m.endswith("svg+xml")
            ]
        for text in texts:
            if found := MACHINE_PATH.search(text):
                yield f"cell {place} names a path of a machine: {found[0]}"
    if found := MACHINE_PATH.search(json.dumps(nb.metadata)):
        yield f"the metadata names a path of a machine: {found[0]}"


def no_printed_tables(nb):
    """A table is a data frame: a head of words is not printed over columns of numbers."""
    for number, cell in enumerate(code_cells(nb), start=1):
        for output in cell.outputs:
            lines = joined(output.get("text", "")).split("\n")
            for head, row in pairwise(re.split(" {2,}", line.strip()) for line in lines):
                under = len(row) - len(head) in (0, 1) and all(map(FIGURES.match, row[1:]))
                if under and len(head) > 1 and not any(map(FIGURES.match, head)):
                    yield f"code cell {number} prints a table: show a pandas.DataFrame"
                    break


def no_semicolons(nb):
    """nbval does not honour a closing `;`: write `_ = ...`."""
    for number, cell in enumerate(code_cells(nb), start=1):
        if cell.source.rstrip().endswith(";"):
            yield f"code cell {number} ends with ';'"


def repeatable(nb):
    """A compared output holds nothing that the runner had to blot out: an address, a warning."""
    for number, cell in enumerate(code_cells(nb), start=1):
        if "nbval-ignore-output" in tags(cell) or tags(cell) & GATED:
            continue
        text = "\n".join(
            joined(output.get("text", "")) + joined(output.get("data", {}).get("text/plain", ""))
            for output in cell.outputs
        )
        for blot in (ADDRESS, CELL_PATH):
            if blot in text:
                yield f"code cell {number} prints '{blot}', which no other run repeats"


def gated_cells(nb):
    """A gpu cell's output is never compared; a test can run it on the CPU at small sizes."""
    for number, cell in enumerate(code_cells(nb), start=1):
        if "gpu" not in tags(cell):
            continue
        if "nbval-ignore-output" not in tags(cell):
            yield f"code cell {number} is tagged gpu but not nbval-ignore-output"
        try:
            at_small_sizes(cell.source, cell.metadata.get("attnbook", {}).get("small", {}))
        except ValueError as error:
            yield f"code cell {number}: {error}"


def stubbed_widgets(nb):
    """The saved state holds no widget source, and every view has its model."""
    state = nb.metadata.get("widgets", {}).get(WIDGET_STATE, {}).get("state", {})
    for model in state.values():
        for key in ("_esm", "_css"):
            if len(model.get("state", {}).get(key) or "") > MAX_STUB:
                yield f"widget {model['state'].get('_anywidget_id', '')} carries its source ({key})"
    for number, cell in enumerate(code_cells(nb), start=1):
        for output in cell.outputs:
            view = output.get("data", {}).get(WIDGET_VIEW)
            if view and view.get("model_id") not in state:
                yield f"code cell {number} shows a widget whose state is not saved"


def drawn_widgets(nb):
    """Every widget of the book has its picture and heights, of its present state and code."""
    for number, output, model in shown_widgets(nb):
        if not is_drawn(output, mark_of(model)):
            yield (
                f"code cell {number} shows a widget without a picture of its present state and "
                "code: `make notebooks ARGS=--pictures` draws it"
            )


CHECKS = (
    executed,
    no_errors,
    light_figures,
    alternative_text,
    clean_metadata,
    no_machine,
    no_printed_tables,
    no_semicolons,
    repeatable,
    gated_cells,
    stubbed_widgets,
    drawn_widgets,
)


def problems(nb) -> list[str]:
    """Everything that keeps this notebook from being committed."""
    return [complaint for check in CHECKS for complaint in check(nb)]


def _pictures(nb):
    for number, cell in enumerate(code_cells(nb), start=1):
        for output in cell.outputs:
            for mime, body in output.get("data", {}).items():
                if mime in PICTURES:
                    yield number, mime, body
            if narrow := output.get("metadata", {}).get("image/png", {}).get("narrow"):
                yield number, "image/png", narrow["png"]
