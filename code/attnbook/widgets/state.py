"""The widget state that a notebook saves, kept small: a widget's code is stored once, not here."""

from __future__ import annotations

import copy

#: What stands in a committed notebook for the ES module: a front end that restores the saved
#: state without a kernel shows this line.
STUB_ESM = (
    'export default { render({ el }) { el.textContent = "Run this cell to wake the widget."; } };'
)
#: What stands there for the style sheet: nothing. anywidget keeps one sheet a class in a page, and
#: a stub's, when the notebook's saved state is restored last, would take the place of the real one.
STUB_CSS = ""


def stub_state(state: dict) -> dict:
    """Replace the code in saved widget state by stubs.

    Args:
        state: the value of `application/vnd.jupyter.widget-state+json` in a notebook's metadata,
            or its inner `state` dictionary, which maps model ids to models.

    Returns:
        A copy of the same form; models that are not anywidgets are left as they are.
    """
    state = copy.deepcopy(state)
    models = state["state"] if "version_major" in state else state
    for model in models.values():
        traits = model.get("state", {})
        if "_anywidget_id" not in traits:
            continue
        traits["_esm"] = STUB_ESM
        if "_css" in traits:
            traits["_css"] = STUB_CSS
    return state
