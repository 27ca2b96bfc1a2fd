"""Join a widget's JavaScript modules into the one module that anywidget wants.

What the class declares of its settings comes with them: a module imports it as `SETTINGS` from
"./settings.js", of which there is no file. The site's build loads this one by its path.
"""

from __future__ import annotations

import importlib
import json
import re
from pathlib import Path

HERE = Path(__file__).parent

#: The gallery: the entry module of each widget class by its `_anywidget_id`. A folder's entry is
#: the module with a capital, named as the class; its style sheet, if any, stands beside it.
WIDGETS: dict[str, Path] = {
    f"attnbook.widgets.{path.stem}": path
    for path in sorted(HERE.glob("*/*.js"), key=lambda path: path.stem)
    if path.stem[0].isupper()
}

_SETTINGS = "./settings.js"
_IMPORT = re.compile(r'^import \{[^}]*\} from "(\.[\w./]+\.js)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?!default\b)", re.MULTILINE)


def modules(entry: str | Path) -> list[Path]:
    """`entry` and the modules that it imports, directly or not; each after what it imports.

    Args:
        entry: a path, relative to this folder or absolute.
    """
    found: list[Path] = []

    def visit(path: Path, above: tuple[Path, ...]) -> None:
        if path in above:
            names = " > ".join(other.name for other in [*above, path])
            raise ValueError(f"modules import each other: {names}")
        if path in found:
            return
        for other in _IMPORT.findall(path.read_text(encoding="utf-8")):
            if other != _SETTINGS:
                visit((path.parent / other).resolve(), (*above, path))
        found.append(path)

    visit((HERE / entry).resolve(), ())
    return found


def join(entry: str | Path, settings: dict | None = None) -> str:
    """One ES module from `entry` and all that it imports; only `entry` exports.

    The names then meet in one scope, so no two modules may declare the same one.
    """
    texts = [_IMPORT.sub("", path.read_text(encoding="utf-8")) for path in modules(entry)]
    declared = [f"const SETTINGS = {json.dumps(settings, ensure_ascii=False)};"] if settings else []
    return "\n".join([*declared, *(_EXPORT.sub("", text) for text in texts[:-1]), texts[-1]])


def style(*entries: str | Path) -> str:
    """The style sheet that all widgets share, then those beside these entry modules."""
    sheets = [HERE / "core" / "style.css", *((HERE / e).with_suffix(".css") for e in entries)]
    return "\n".join(sheet.read_text(encoding="utf-8") for sheet in sheets if sheet.exists())


def sources(widget: str) -> dict[str, str]:
    """The ES module and style sheet of the widget class with this `_anywidget_id`."""
    home, _, name = widget.rpartition(".")
    found = getattr(importlib.import_module(home), name)
    return {"esm": found._esm, "css": found._css}


def registry_script(*widgets: str) -> str:
    """A classic script for the static site: adds widgets to `attnWidgets`, which maps id to source.

    Args:
        widgets: ids of `WIDGETS`; all, if none is given.
    """
    added = json.dumps(
        {widget: sources(widget) for widget in widgets or WIDGETS}, ensure_ascii=False
    )
    return f"window.attnWidgets = Object.assign(window.attnWidgets ?? {{}}, {added});\n"
