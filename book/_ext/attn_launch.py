"""Buttons that open a chapter elsewhere, as far as the book has an address, and its download.

Without `repository.url` there are none. Colab's appears on the pages whose notebook holds the
cell that installs the package there (`make notebooks` writes it): no button leads to a notebook
that cannot run.
"""

import json

INSTALL = "install-on-colab"  # the id of that cell, as in code/tools/stamp.py
HOSTS = {
    "notebook_interface": "jupyterlab",
    "binderhub_url": "https://mybinder.org",
    "colab_url": "https://colab.research.google.com",
}


def offer(app, config) -> None:
    """Tell the theme of the hosts, once there is an address to open."""
    if config.html_theme_options.get("repository_url"):
        config.html_theme_options["launch_buttons"] = dict(HOSTS)


def mend(app, pagename, templatename, context, doctree) -> None:
    """Take out the button of Colab where it would lead astray; name the download."""
    if pagename not in app.env.found_docs:
        return
    path = app.env.doc2path(pagename)
    for group in context.get("header_buttons", []):
        for button in group.get("buttons", []):
            if button.get("url", "").endswith(".ipynb") and "_sources" in button["url"]:
                button |= {
                    "text": "Download as notebook",
                    "tooltip": "Download as notebook",
                }
        if group.get("label") == "launch-buttons":
            group["buttons"] = [
                b for b in group["buttons"] if b["text"] != "Colab" or installs(path)
            ]


def installs(path) -> bool:
    """Whether a notebook starts with the cell that installs the package."""
    with open(path, encoding="utf-8") as file:
        return any(cell.get("id") == INSTALL for cell in json.load(file)["cells"][:2])


def setup(app):
    app.connect("config-inited", offer)
    app.connect("html-page-context", mend, priority=950)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
