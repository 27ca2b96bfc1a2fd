"""Join a widget's JavaScript modules into the one module that anywidget wants.

Standard library only: the site's build loads this file by its path, without torch or anywidget.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

HERE = Path(__file__).parent

#: Every widget class by its `_anywidget_id`: its modules, those that others import first.
WIDGETS: dict[str, list[str]] = {
    "attnbook.widgets.AttentionHeatmap": [
        "softmax.js",
        "draw.js",
        "controls.js",
        "picture.js",
        "theme.js",
        "words.js",
        "heatmap.js",
    ],
    "attnbook.widgets.KernelRegression": [
        "softmax.js",
        "draw.js",
        "controls.js",
        "theme.js",
        "words.js",
        "kernel_fit.js",
        "kernel_map.js",
        "kernel_plot.js",
        "kernel_words.js",
        "kernel_controls.js",
        "kernel.js",
    ],
}

#: Style sheets that a widget class takes over, before the one named after its last module.
STYLES: dict[str, list[str]] = {"attnbook.widgets.KernelRegression": ["heatmap.css"]}

_IMPORT = re.compile(r'^import \{[^}]*\} from "\./[\w]+\.js";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?!default\b)", re.MULTILINE)


def join(names: list[str]) -> str:
    """One ES module from several that stand beside this file.

    Imports between them are dropped and so are their exports, save for the last `export
    default`: the names then meet in one scope, so no two modules may declare the same one.
    """
    texts = [(HERE / name).read_text(encoding="utf-8") for name in names]
    return "\n".join(_EXPORT.sub("", _IMPORT.sub("", text)) for text in texts)


def sources(widget: str) -> dict[str, str]:
    """The ES module and style sheet of the widget class with this `_anywidget_id`."""
    own = Path(WIDGETS[widget][-1]).with_suffix(".css").name
    styles = [*STYLES.get(widget, []), own]
    return {
        "esm": join(WIDGETS[widget]),
        "css": "\n".join((HERE / name).read_text(encoding="utf-8") for name in styles),
    }


def registry_script() -> str:
    """A classic script for the static site: `attnWidgets` maps each widget's id to its source."""
    table = {widget: sources(widget) for widget in sorted(WIDGETS)}
    return f"window.attnWidgets = {json.dumps(table, ensure_ascii=False)};\n"
