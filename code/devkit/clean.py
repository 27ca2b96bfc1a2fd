"""Bring an executed notebook into the one form that is committed.

Two runs of the same notebook must give the same bytes, on any machine: random widget ids, kernel
counters, addresses, paths and editors' metadata are replaced or dropped here.
"""

import hashlib
import json
import re
from pathlib import Path

import nbformat

from devkit import ROOT

WIDGET_STATE = "application/vnd.jupyter.widget-state+json"
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
NOTEBOOK_KEYS = {"attnbook", "kernelspec", "language_info", "mystnb", "widgets"}
CELL_KEYS = {"attnbook", "mystnb", "tags"}
KERNELSPEC = {"display_name": "Python 3", "language": "python", "name": "python3"}
GATED = {"gpu", "data"}

MODEL_ID = re.compile(r"(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])")
NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?")
TIME = re.compile(r"\b(?:ms|µs|milliseconds|microseconds|seconds)\b|\d s\b")
CLOSE = 0.05  # of a number: more than another processor changes in most losses
ADDRESS, CELL_PATH = "0x...", "<cell>"  # what stands for a memory address, for a cell's file
REPLACEMENTS = [
    (re.compile(re.escape(str(ROOT)) + r"/?"), ""),
    (re.compile(re.escape(str(Path.home())) + r"(?=/)"), "~"),
    (re.compile(r"(?:/[\w.~-]+)*/ipykernel_\d+/\d+\.py"), CELL_PATH),
    (re.compile(r"\b0x[0-9a-f]{6,}\b"), ADDRESS),
]


def tags(cell) -> set:
    """The tags of a cell."""
    return set(cell.metadata.get("tags", []))


def code_cells(nb) -> list:
    """The code cells with something in them, in order."""
    return [c for c in nb.cells if c.cell_type == "code" and c.source.strip()]


def joined(text) -> str:
    """nbformat keeps long text as a list of lines."""
    return text if isinstance(text, str) else "".join(text)


def clean(nb, name: str):
    """The notebook in its committed form; `name` seeds the ids of its widgets."""
    nb = _stable_models(nb, name)
    nb.metadata = nbformat.from_dict(
        {k: v for k, v in nb.metadata.items() if k in NOTEBOOK_KEYS}
        | {"kernelspec": KERNELSPEC, "language_info": {"name": "python"}}
    )
    nb.nbformat, nb.nbformat_minor = 4, 5
    _cell_ids(nb)
    for cell in nb.cells:
        cell.metadata = nbformat.from_dict(
            {k: v for k, v in cell.metadata.items() if k in CELL_KEYS and v}
        )
        if cell.cell_type == "code":
            cell.outputs = _outputs(cell.outputs)
            cell.execution_count = None
    ran = [c for c in code_cells(nb) if c.outputs or not tags(c) & GATED]
    for number, cell in enumerate(ran, start=1):
        cell.execution_count = number
        for output in cell.outputs:
            if output.output_type == "execute_result":
                output.execution_count = number
    return nb


def keep_ignored(old, new) -> None:
    """Let ignored cells keep stored outputs that say the same: times, and numbers that are close.

    Times differ from run to run, and losses a little from processor to processor; the tests do not
    compare them, and a fresh copy is no change worth a commit. Any other number that moves is news:
    what it was computed from has changed. Pictures cannot be compared, so they are kept as long as
    no such number has moved. What shows a widget is taken anew, as its state is.
    """
    stored = {c.id: c for c in old.cells if c.cell_type == "code" and "id" in c}
    pairs = [
        (stored[cell.id], cell)
        for cell in new.cells
        if cell.get("id") in stored
        and "nbval-ignore-output" in tags(cell)
        and not any(WIDGET_VIEW in output.get("data", {}) for output in cell.outputs)
    ]
    same = [
        (before, cell)
        for before, cell in pairs
        if before.source == cell.source and _shape(before.outputs) == _shape(cell.outputs)
    ]
    moved = {cell.id for before, cell in same if _moved(before.outputs, cell.outputs)}
    for before, cell in same:
        if cell.id not in moved and not (moved and _has_picture(cell.outputs)):
            cell.outputs = before.outputs


def _moved(before, after) -> bool:
    """Whether a number that is no time differs by more than processors do."""
    texts = ["\n".join(map(_text, _outputs(outputs))) for outputs in (before, after)]
    if any(TIME.search(text) for text in texts):
        return False
    numbers = (map(float, NUMBER.findall(text)) for text in texts)
    return any(abs(a - b) > CLOSE * max(a, b) for a, b in zip(*numbers, strict=True))


def _text(output) -> str:
    data = output.get("data", {})
    return joined(output.get("text", "") or data.get("text/plain", ""))


def _has_picture(outputs) -> bool:
    return any(mime.startswith("image/") for o in outputs for mime in o.get("data", {}))


def _shape(outputs) -> list:
    """Outputs without their numbers and pictures."""
    shape = []
    for output in _outputs(outputs):
        if output.output_type == "stream":
            shape.append((output.name, NUMBER.sub("#", joined(output.text))))
        elif output.output_type == "error":
            shape.append(output.ename)
        else:
            shape.append(
                [
                    (mime, NUMBER.sub("#", joined(body)) if mime.startswith("text/") else "")
                    for mime, body in sorted(output.data.items())
                ]
            )
    return shape


def _cell_ids(nb) -> None:
    """Every cell keeps its id; one without gets one from its place, and keeps that."""
    seen = set()
    for place, cell in enumerate(nb.cells):
        if not cell.get("id") or cell.id in seen:
            cell.id = hashlib.md5(f"{place} {cell.source}".encode()).hexdigest()[:8]
        seen.add(cell.id)


def _outputs(outputs) -> list:
    """Outputs with streams merged and what belongs to one machine taken out."""
    merged = []
    for output in outputs:
        output = nbformat.from_dict(output)
        if output.output_type == "stream":
            output.text = joined(output.text)
            if merged and merged[-1].get("name") == output.name:
                merged[-1].text += output.text
                continue
        merged.append(output)
    for output in merged:
        if output.output_type == "stream":
            output.text = _portable(re.sub(r"[^\n]*\r(?!\n)", "", output.text))
        elif "data" in output:
            output.metadata = nbformat.from_dict(
                {k: v for k, v in output.get("metadata", {}).items() if k in output.data}
            )
            for mime, body in output.data.items():
                if mime.startswith("text/"):
                    output.data[mime] = _portable(joined(body))
    return merged


def _portable(text: str) -> str:
    for pattern, replacement in REPLACEMENTS:
        text = pattern.sub(replacement, text)
    return text


def _stable_models(nb, name):
    """Rename widget models by order of first use, sort them, and stub their source."""
    kept = nb.metadata.get("widgets", {}).get(WIDGET_STATE)
    if not kept:
        return nb
    shown = json.dumps([c.get("outputs", []) for c in nb.cells])
    if WIDGET_VIEW not in shown:  # the state of a widget that the notebook no longer has
        del nb.metadata["widgets"]
        return nb
    order = _order(MODEL_ID.findall(shown), kept["state"])
    names = {old: hashlib.md5(f"{name}-{n}".encode()).hexdigest() for n, old in enumerate(order)}
    text = MODEL_ID.sub(lambda m: names.get(m[0], m[0]), nbformat.writes(nb))
    nb = nbformat.reads(text, as_version=4)
    kept = nb.metadata.widgets[WIDGET_STATE]
    kept["state"] = _stubbed(dict(sorted(kept["state"].items())))
    return nb


def _order(shown, models) -> list[str]:
    """Models by first use: the shown ones, each before what it refers to, then the others.

    Those that nothing shows come by their content, so that the order does not rest on ids.
    """

    def content(model):
        return MODEL_ID.sub("", json.dumps(models[model], sort_keys=True))

    inner = {id for model in models.values() for id in MODEL_ID.findall(json.dumps(model))}
    rest = sorted(models, key=lambda model: (model in inner, content(model)))
    order, waiting = [], [*shown, *rest]
    while waiting:
        model = waiting.pop(0)
        if model in models and model not in order:
            order.append(model)
            waiting[:0] = MODEL_ID.findall(json.dumps(models[model], sort_keys=True))
    return order


def _stubbed(state):
    """A widget's code is kept once, in the site's bundle, not in every notebook."""
    from attnbook import widgets

    return widgets.stub_state(state) if hasattr(widgets, "stub_state") else state
