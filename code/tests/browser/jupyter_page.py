"""A real JupyterLab or Notebook 7 in a browser's page, driven through its own commands."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

LOAD = 60_000  # milliseconds until a page of a busy machine must stand
SETTINGS = {  # no request to anywhere else
    "@jupyterlab/apputils-extension/notification.jupyterlab-settings": {
        "fetchNews": "false",
        "checkForUpdates": False,
    },
}
# Helpers of the page. A panel is the open notebook; a view is a widget's element in an output.
SCRIPT = """
window.front = {
  panel: () => jupyterapp.shell.currentWidget,
  cells: () => front.panel().content.widgets,
  async open(path) {
    const options = { path, factory: "Notebook" };
    await front.ready(await jupyterapp.commands.execute("docmanager:open", options));
  },
  async ready(panel) {
    await panel.context.ready;
    await panel.sessionContext.ready;
  },
  runs: {},
  begin(name, command = "notebook:run-all-cells") {
    front.runs[name] = jupyterapp.commands.execute(command);
  },
  finish: (name) => front.runs[name],
  outputs: () => front.panel().content.model.toJSON().cells.map((cell) => cell.outputs ?? []),
  async show(place) {
    front.panel().content.activeCellIndex = place;
    await front.panel().content.scrollToItem(place, "start");
    const output = front.cells()[place].node.querySelector(".jp-Cell-outputWrapper");
    output?.scrollIntoView({ block: "start" });
  },
  views: (place) => [...front.cells()[place].node.querySelectorAll(".attn-heatmap")],
  canvases: (view) => [...view.querySelectorAll("canvas")].filter((c) => c.checkVisibility()),
  painted(canvas) {
    if (!canvas.width || !canvas.height) return false;
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const seen = new Set(new Uint32Array(data.buffer));
    return seen.size > 1;
  },
  drawn(place) {
    const views = front.views(place);
    const all = views.flatMap(front.canvases);
    return views.length > 0 && all.length > 0 && all.every(front.painted);
  },
  pictures: (place) => front.views(place).flatMap(front.canvases).map((c) => c.toDataURL()).join(),
  isPicture: (place, picture) => front.pictures(place) === picture,
  async settled(place) {
    const before = front.pictures(place);
    await new Promise((after) => setTimeout(after, 100)); // its column may still get another width
    return front.drawn(place) && front.isPicture(place, before);
  },
  look: (place) => front.pictures(place) + front.views(place).map((view) => view.innerText).join(),
  changed: (place, before) => front.look(place) !== before,
  inTheme: (place, theme) => front.views(place).every((view) => view.dataset.theme === theme),
  async python(code) {
    const future = front.panel().sessionContext.session.kernel.requestExecute({ code });
    let said = "";
    future.onIOPub = ({ content: { text, traceback } }) => {
      said += text ?? traceback?.join("\\n") ?? "";
    };
    const { content } = await future.done;
    if (content.status !== "ok") throw new Error(said);
    return said.trim();
  },
  async insert(place, code) {
    front.panel().content.activeCellIndex = place;
    await jupyterapp.commands.execute("notebook:insert-cell-below");
    front.cells()[place + 1].model.sharedModel.setSource(code);
  },
  async another(place, code) {
    await front.insert(place, code);
    await jupyterapp.commands.execute("notebook:run-cell");
  },
  async remove(place) {
    front.panel().content.activeCellIndex = place;
    await jupyterapp.commands.execute("notebook:delete-cell");
  },
};
"""


def free_port() -> int:
    """A port that nothing listens on."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


@contextmanager
def serve_jupyter(folder: Path, home: Path, env: dict):
    """The address of a server for JupyterLab and Notebook 7 on `folder`, kernels of this Python."""
    settings = home / "settings"
    for name, values in SETTINGS.items():
        path = settings / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(values), encoding="utf-8")
    own = {
        "JUPYTER_CONFIG_DIR": home / "config",
        "JUPYTER_RUNTIME_DIR": home / "runtime",
        "JUPYTERLAB_SETTINGS_DIR": settings,
        "JUPYTERLAB_WORKSPACES_DIR": home / "workspaces",
        "IPYTHONDIR": home / "ipython",
    }
    port = free_port()
    options = {
        "ServerApp.token": "",
        "ServerApp.password": "",
        "ServerApp.port": port,
        "ServerApp.ip": "127.0.0.1",
        "ServerApp.root_dir": folder,
        "LabApp.expose_app_in_browser": True,
        "LabApp.news_url": "",
        "JupyterNotebookApp.expose_app_in_browser": True,
    }
    command = [sys.executable, "-m", "jupyterlab", "--allow-root", "--no-browser"]
    command += [f"--{name}={value}" for name, value in options.items()]
    with (home / "server.log").open("w") as log:
        server = subprocess.Popen(
            command,
            env=os.environ | env | {name: str(value) for name, value in own.items()},
            stdout=log,
            stderr=log,
            stdin=subprocess.DEVNULL,
        )
    base = f"http://127.0.0.1:{port}/"
    try:
        _wait_for(f"{base}api", server, home / "server.log")
        yield base
    finally:
        server.terminate()
        try:
            server.wait(20)
        except subprocess.TimeoutExpired:
            server.kill()


def _wait_for(url: str, server, log: Path) -> None:
    until = time.monotonic() + LOAD / 1000
    while time.monotonic() < until and server.poll() is None:
        try:
            urllib.request.urlopen(url)
            return
        except OSError:
            time.sleep(0.2)
    raise RuntimeError("Jupyter's server does not answer:\n" + log.read_text()[-3000:])


class JupyterPage:
    """JupyterLab or Notebook 7 in a visit's page."""

    def __init__(self, visit):
        self.visit, self.page = visit, visit.page
        self.page.set_default_timeout(LOAD)
        self.page.add_init_script(SCRIPT)

    def goto(self, path: str) -> None:
        """JupyterLab (`lab`), or a notebook in Notebook 7 (`notebooks/NAME.ipynb`)."""
        self.page.goto(self.visit.base + path)
        self.page.wait_for_function("window.jupyterapp")
        self.page.evaluate("jupyterapp.restored")
        if path.startswith("notebooks/"):
            self.page.wait_for_function("front.panel()?.context")
            self.page.evaluate("front.ready(front.panel())")

    def __call__(self, expression: str, *arguments):
        """Evaluate `front.EXPRESSION(*arguments)`."""
        return self.page.evaluate(f"(all) => front.{expression}(...all)", list(arguments))

    @property
    def faults(self) -> list[str]:
        """What went wrong in widgets, whose code is a blob; the front end has faults of its own."""
        ours = [error for error in self.visit.errors if "blob:" in error or "anywidget" in error]
        return ours + self.visit.outside

    def view(self, place: int):
        """The first element of the widget in a cell's output."""
        handle = self.page.evaluate_handle("(place) => front.views(place)[0]", place)
        return handle.as_element()

    def command(self, name: str, **options):
        """Carry out one of the front end's own commands."""
        return self.page.evaluate(
            "([name, options]) => jupyterapp.commands.execute(name, options)", [name, options]
        )

    def run_all(self) -> None:
        """Run all cells; wait for the last."""
        self("begin", "all")
        self("finish", "all")

    def wait(self, expression: str, *arguments) -> None:
        """Wait until `front.EXPRESSION(*arguments)` is true."""
        self.page.wait_for_function(f"(all) => front.{expression}(...all)", arg=list(arguments))

    def theme(self, name: str) -> None:
        """JupyterLab Light or JupyterLab Dark."""
        self.command("apputils:change-theme", theme=f"JupyterLab {name}")
        light = "true" if name == "Light" else "false"
        self.page.wait_for_function(
            "(light) => document.body.dataset.jpThemeLight === light", arg=light
        )
