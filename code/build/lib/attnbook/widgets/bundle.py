"""Join a widget's JavaScript modules into the one module that anywidget wants.

Standard library only: the site's build loads this file by its path, without torch or anywidget.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

HERE = Path(__file__).parent

#: Every widget class by its `_anywidget_id`: its entry module, beside which its style sheet stands.
WIDGETS: dict[str, str] = {
    "attnbook.widgets.AlignmentViewer": "alignment.js",
    "attnbook.widgets.AttentionHeatmap": "heatmap.js",
    "attnbook.widgets.HeadAblation": "ablation.js",
    "attnbook.widgets.KernelRegression": "kernel.js",
    "attnbook.widgets.LayerHeadBrowser": "browse.js",
    "attnbook.widgets.PositionExplorer": "positions.js",
}

#: Style sheets that a widget class takes over from others, before its own.
STYLES: dict[str, list[str]] = {
    "attnbook.widgets.AlignmentViewer": ["heatmap.css"],
    "attnbook.widgets.HeadAblation": ["heatmap.css"],
    "attnbook.widgets.KernelRegression": ["heatmap.css"],
    "attnbook.widgets.LayerHeadBrowser": ["heatmap.css"],
    "attnbook.widgets.PositionExplorer": ["heatmap.css"],
}

PLAYGROUND = HERE.parent / "playground"  # its modules import from here, never the other way

_IMPORT = re.compile(r'^import \{[^}]*\} from "(?:\./|\.\./widgets/)(\w+\.js)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?!default\b)", re.MULTILINE)


def _read(name: str) -> str:
    folder = PLAYGROUND if name.startswith("play") else HERE
    return (folder / name).read_text(encoding="utf-8")


def modules(entry: str) -> list[str]:
    """`entry` and the modules that it imports, directly or not; each after what it imports."""
    found: list[str] = []

    def visit(name: str, above: tuple[str, ...]) -> None:
        if name in above:
            raise ValueError(f"modules import each other: {' > '.join([*above, name])}")
        if name in found:
            return
        for other in _IMPORT.findall(_read(name)):
            visit(other, (*above, name))
        found.append(name)

    visit(entry, ())
    return found


def join(entry: str) -> str:
    """One ES module from `entry` and all that it imports; only `entry` exports.

    The names then meet in one scope, so no two modules may declare the same one.
    """
    *others, last = modules(entry)
    texts = [_EXPORT.sub("", _IMPORT.sub("", _read(name))) for name in others]
    return "\n".join([*texts, _IMPORT.sub("", _read(last))])


def sources(widget: str) -> dict[str, str]:
    """The ES module and style sheet of the widget class with this `_anywidget_id`."""
    entry = WIDGETS[widget]
    styles = [*STYLES.get(widget, []), Path(entry).with_suffix(".css").name]
    return {"esm": join(entry), "css": "\n".join(map(_read, styles))}


def registry_script(*widgets: str) -> str:
    """A classic script for the static site: adds widgets to `attnWidgets`, which maps id to source.

    Args:
        widgets: ids of `WIDGETS`; all, if none is given.
    """
    table = {widget: sources(widget) for widget in widgets or sorted(WIDGETS)}
    added = json.dumps(table, ensure_ascii=False)
    return f"window.attnWidgets = Object.assign(window.attnWidgets ?? {{}}, {added});\n"


def playground_script() -> str:
    """A classic script for the playground's page: the view, and its worker's source as a string."""
    worker = json.dumps(join("play_worker.js"), ensure_ascii=False)
    return f"(() => {{\nwindow.attnPlaygroundWorker = {worker};\n{join('play.js')}\n}})();\n"


def playground_style() -> str:
    """The playground's style sheet, after those of the widgets whose parts it shows."""
    play = (PLAYGROUND / "play.css").read_text(encoding="utf-8")
    return "\n".join([_read("heatmap.css"), _read("browse.css"), play])
