"""The reader's edition where people run it: JupyterLab and Notebook 7, with a kernel.

Each chapter's widgets draw, answer, speak with the kernel, live twice, follow the theme, and come
back after a reload. A chapter that trains runs only what its widgets rest on (`slices`); nbval has
run the whole of it.
"""

import shutil

import jupyter_page
import nbformat
import pytest
import slices
from attnbook_testing.book_widgets import NAMES as CLASSES

from devkit import ROOT
from devkit.chapters import chapters
from devkit.gates import KERNEL_ENV

BOOK = ROOT / "book"
CHAPTERS = {name: nbformat.read(BOOK / f"{name}.ipynb", as_version=4) for name in chapters()}
NAMES = [name for name, page in CHAPTERS.items() if slices.widget_cells(page)] + ["gallery"]
WHOLE = (
    "01_cues",
    "02_kernel_regression",
    "03_attention",
    "03_scoring",
    "gallery",
)  # the others train
# For a page that is opened again, and for Notebook 7: together they show every class.
SHOWS_ALL = (
    "02_kernel_regression",
    "04_bahdanau",
    "05_multihead",
    "06_positions",
    "07_transformer_measured",
    "gallery",
)
# A line of Python that moves the first setting of a widget that can be moved.
STEER = "name, value = next((n, v) for n, one in w._settings.items() for v in one.others(w)"
STEER += " if not one.fixed); setattr(w, name, value)"
FIND = "import ipywidgets; w = ipywidgets.widgets.widget._instances['{}']; "
STATE = "import hashlib; print(hashlib.md5(repr([(k, bytes(v) if isinstance(v, memoryview) else v)"
STATE += " for k, v in sorted(w.get_state().items())]).encode()).hexdigest())"
CONTROLS = "input[type=range], input[type=checkbox], select, .ah-segments label, .ah-button"


class Jupyter:
    """A server, a folder of notebooks, and which of them have run."""

    def __init__(self, base, folder, visit):
        self.base, self.folder, self.visit, self.ran = base, folder, visit, {}

    def page(self):
        return jupyter_page.JupyterPage(self.visit(self.base, width=1400, height=1000))


@pytest.fixture(scope="module")
def jupyter(site, visit, tmp_path_factory):
    folder, home = tmp_path_factory.mktemp("notebooks"), tmp_path_factory.mktemp("home")
    for name in NAMES:
        source, target = site / "notebooks" / f"{name}.ipynb", folder / f"{name}.ipynb"
        if name in WHOLE:
            shutil.copy(source, target)
        else:
            shown = set(slices.widget_cells(CHAPTERS[name]))
            nbformat.write(slices.widget_slice(nbformat.read(source, as_version=4), shown), target)
    with jupyter_page.serve_jupyter(folder, home, KERNEL_ENV) as base:
        yield Jupyter(base, folder, visit)


@pytest.fixture(scope="module")
def lab(jupyter):
    """One page of JupyterLab, in which one notebook after the other is opened and run.

    All at once they keep a busy machine so long that anywidget gives up: a model has two seconds.
    """
    page = jupyter.page()
    page.goto("lab?reset")
    return page


@pytest.fixture(scope="module")
def lab_again(jupyter):
    """A second page, opened when the notebooks were run and saved in the first."""
    page = jupyter.page()
    page.goto("lab?reset")
    return page


@pytest.fixture(scope="module")
def seven(jupyter):
    """A page for Notebook 7, and the classes of widgets that were tried in it."""
    return jupyter.page(), set()


def widgets_of(page):
    """The place of each cell that shows a widget, with its id; no cell ends in an error."""
    found = []
    for place, outputs in enumerate(page("outputs")):
        for output in outputs:
            assert output["output_type"] != "error", "\n".join(output["traceback"])
            view = output.get("data", {}).get(slices.VIEW)
            if view and view["model_id"]:  # a progress bar that has closed has none
                found.append((place, view["model_id"]))
    return found


def try_widget(page, place, model, kind):
    """It moves by Python, by a control and by a key."""
    steer(page, place, model, kind)
    root = page.view(place)
    for act in (use_control, use_key):
        before = page("python", FIND.format(model) + STATE), root.inner_text()
        act(root)
        for n in range(100):
            if n == 40 and act is use_key:
                use_key(root, "ArrowUp")  # it may have stood at the end
            after = page("python", FIND.format(model) + STATE), root.inner_text()
            # a key may but move the mark over the map, which no trait holds
            if after[0] != before[0] or (act is use_key and after[1] != before[1]):
                break
            page.page.wait_for_timeout(30)
        else:
            raise AssertionError(f"{kind} in cell {place} does not answer: {act.__name__}")


def steer(page, place, model, kind):
    """A trait set in Python is seen in the cell at this place."""
    before = page("look", place)
    page("python", FIND.format(model) + STEER)
    page.wait("changed", place, before)


def try_second_view(page, place, model, kind):
    """The same widget once more, in a cell below: it draws and follows."""
    page("another", place, FIND.format(model) + "w")
    page("show", place + 1)
    page.wait("drawn", place + 1)
    steer(page, place + 1, model, kind)
    page("remove", place + 1)


def use_control(root):
    """Move the first control that can be moved; without any, click a cell of the map."""
    control = root.query_selector(CONTROLS)
    if control is None:
        canvas = root.query_selector("canvas:visible")
        canvas.click(position={"x": canvas.bounding_box()["width"] - 12, "y": 60})
        return
    tag = control.evaluate("(node) => node.type ?? node.localName")
    if tag == "range":
        control.press("ArrowLeft" if control.evaluate("(n) => n.value === n.max") else "ArrowRight")
    elif tag == "select-one":
        count = len(control.query_selector_all("option"))
        control.select_option(index=(control.evaluate("(n) => n.selectedIndex") + 1) % count)
    elif tag == "label":
        root.query_selector(".ah-segments label:has(input:not(:checked))").click()
    else:
        control.click()


def use_key(root, key="ArrowDown"):
    """An arrow on the picture; on heads that are buttons, Enter."""
    picture = root.query_selector("canvas[tabindex='0']:visible")
    if picture:
        picture.focus()
        picture.press(key)
    else:
        button = root.query_selector("button:has(canvas)")
        button.focus()
        button.press("Enter")


def try_theme(page, place):
    """The widget is drawn anew in the dark, and as before in the light.

    A busy machine may give its column another width on the way, and with it another picture: then
    once more from there.
    """
    page("show", place)
    for _ in range(3):
        page.wait("settled", place)
        light = page("pictures", place)
        page.theme("Dark")
        page.wait("inTheme", place, "dark")
        assert page("pictures", place) != light
        page.theme("Light")
        page.wait("inTheme", place, "light")
        page.wait("settled", place)
        if page("isPicture", place, light):
            return
    raise AssertionError(f"cell {place}: the light picture never comes back")


def try_all(page, name, known=None):
    """Every widget of a notebook that has run; returns where they stand.

    Two views and the theme are tried once for a class: they rest on the class alone. So are
    controls and keys where the classes `known` are given; widgets of those need but draw.
    """
    found = widgets_of(page)
    chapter = nbformat.read(BOOK / f"{name}.ipynb", as_version=4)
    assert len(found) == len(slices.widget_cells(chapter)) > 0
    kinds = set() if known is None else known
    for place, model in found:
        kind = page("python", FIND.format(model) + "print(type(w).__name__)")
        page("show", place)
        page.wait("drawn", place)
        if known is None or kind not in kinds:
            try_widget(page, place, model, kind)
        if kind not in kinds:
            try_second_view(page, place, model, kind)
            try_theme(page, place)
        kinds.add(kind)
    assert page.faults == []
    return found


def test_every_chapter_has_a_widget():
    """On one of its pages."""
    there = {name[:2] for name in NAMES if name in CHAPTERS}
    assert {name[:2] for name in CHAPTERS} == there


@pytest.mark.parametrize("name", NAMES)
def test_lab_runs_all_and_every_widget_is_alive(jupyter, lab, name):
    lab("open", f"{name}.ipynb")
    assert widgets_of(lab) == [], name  # pictures, until the cells are run
    lab.run_all()
    found = try_all(lab, name)
    lab.command("docmanager:save")
    pictures = []
    for place, _ in found:
        lab("show", place)
        lab.wait("drawn", place)
        pictures.append(lab("pictures", place))
    jupyter.ran[name] = pictures


@pytest.mark.parametrize("name", SHOWS_ALL)
def test_the_saved_notebook_comes_back_as_it_was(jupyter, lab, lab_again, name):
    assert name in jupyter.ran, "it did not run"
    lab_again("open", f"{name}.ipynb")
    for (place, _), picture in zip(widgets_of(lab_again), jupyter.ran[name], strict=True):
        lab_again("show", place)
        lab_again.wait("drawn", place)
        assert lab_again("pictures", place) == picture
    assert lab_again.faults == []


@pytest.mark.parametrize("name", SHOWS_ALL)
def test_notebook_7_shows_them_too(jupyter, seven, name):
    """It runs the first; of the others it joins the kernel."""
    page, known = seven
    page.goto(f"notebooks/{name}.ipynb")
    if name == SHOWS_ALL[0] or name not in jupyter.ran:
        page.run_all()
    try_all(page, name, known)
    assert name != SHOWS_ALL[-1] or known == set(CLASSES)


TRAIN = """\
import os, time
import torch
import attnbook as ab
os.environ.pop("ATTNBOOK_PROGRESS", None)  # as a reader's kernel is
history = ab.fit(
    torch.nn.Linear(2, 1), [torch.randn(4, 2)] * 20, epochs=1, learning_rate=0.1,
    loss=lambda model, x: (model(x).square().mean(), 4), callbacks=[lambda event: time.sleep(0.15)],
)
print("done")"""


def test_a_progress_bar_is_seen_and_leaves_nothing(jupyter, lab):
    lab("open", "01_cues.ipynb")
    last = len(lab("outputs")) - 1
    lab("insert", last, TRAIN)
    lab("begin", "training", "notebook:run-cell")
    bar = lab.page.locator(".jp-Notebook:visible .jp-OutputArea-output", has_text="/20 [")
    bar.wait_for(state="visible")
    lab("finish", "training")
    bar.wait_for(state="hidden")
    outputs = lab("outputs")[last + 1]
    assert [o["text"] for o in outputs if o["output_type"] == "stream"] == ["done\n"]
    assert [o["data"] for o in outputs if o["output_type"] == "display_data"] == [{}]  # no picture
