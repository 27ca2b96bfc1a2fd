"""The widgets as the book's pages have saved them, and where their settings can be moved."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

from attnbook import widgets
from attnbook.widgets import bundle

ROOT = Path(__file__).resolve().parents[3]
STATE = "application/vnd.jupyter.widget-state+json"
VIEW = "application/vnd.jupyter.widget-view+json"


def shown() -> dict[str, tuple[dict, dict]]:
    """Of each class the output and the saved model that has most controls, from the book."""
    found = {}
    for path in sorted((ROOT / "book").glob("*.ipynb")):
        page = json.loads(path.read_text(encoding="utf-8"))
        models = page["metadata"].get("widgets", {}).get(STATE, {}).get("state", {})
        outputs = [output for cell in page["cells"] for output in cell.get("outputs", ())]
        for output in outputs:
            model = models.get(output.get("data", {}).get(VIEW, {}).get("model_id"))
            if model and model["state"].get("_anywidget_id", "") in bundle.WIDGETS:
                name = model["state"]["_anywidget_id"].rpartition(".")[2]
                found.setdefault(name, []).append((output, model))
    most = lambda pair: len(pair[1]["state"].get("controls", ()))  # noqa: E731
    return {name: max(pairs, key=most) for name, pairs in found.items()}


SHOWN = shown()
SAVED = {name: model for name, (_, model) in SHOWN.items()}
NAMES = sorted(bundle.WIDGETS, key=lambda widget: widget.rpartition(".")[2])
NAMES = [widget.rpartition(".")[2] for widget in NAMES]


def settings_of(name: str) -> dict:
    return getattr(widgets, name)._settings


def moved(model: dict, /, **traits) -> dict:
    """A saved model with other traits."""
    return model | {"state": model["state"] | traits}


def others(name: str, traits: dict) -> list[tuple[str, object]]:
    """Each setting that has a control, with each value that it can be moved to from here.

    A choice of words goes back at last: other controls may hang on it.
    """
    found, here = [], SimpleNamespace(**traits)
    for trait, setting in settings_of(name).items():
        form, values = setting.form(), setting.others(here)
        if values and form.get("label") and trait in traits.get("controls", [trait]):
            values += [traits[trait]] * ("words" in form)
            found += [(trait, value) for value in values]
    return found


def steer(name: str) -> dict:
    """A change of a saved widget that is seen."""
    return dict([others(name, SAVED[name]["state"])[0]])
