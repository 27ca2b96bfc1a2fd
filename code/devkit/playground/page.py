"""The script and the style of the playground's page. Standard library only: the build loads it.

`bundle` is `attnbook.widgets.bundle`, however it was loaded.
"""

import json
from pathlib import Path

HERE = Path(__file__).parent


def page_script(bundle) -> str:
    """A classic script: the view, and its worker's source as a string."""
    worker = json.dumps(bundle.join(HERE / "play_worker.js"), ensure_ascii=False)
    view = bundle.join(HERE / "play.js")
    return f"(() => {{\nwindow.attnPlaygroundWorker = {worker};\n{view}\n}})();\n"


def page_style(bundle) -> str:
    """The style sheet, after those of the widgets whose parts the page shows."""
    browser = bundle.WIDGETS["attnbook.widgets.LayerHeadBrowser"]
    return bundle.style(browser, HERE / "play.css")
