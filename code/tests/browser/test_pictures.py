"""The still pictures and heights that `make notebooks` stores: drawn by the widgets, kept, true."""

import base64
import copy
import io
import os
import re
import subprocess
import sys
from contextlib import closing, contextmanager
from itertools import product

import nbformat
import pytest
from attnbook_testing.book_widgets import NAMES, SHOWN
from PIL import Image

from attnbook.widgets import bundle
from devkit import ROOT, check, clean, pictures
from devkit.browser import page_of

CHAPTER = nbformat.read(ROOT / "book" / "03_attention.ipynb", as_version=4)
ID = "0" * 32


def test_every_class_is_shown_in_the_book():
    assert set(SHOWN) == set(NAMES)


@pytest.fixture
def chapter():
    return copy.deepcopy(CHAPTER)


def only(nb):
    """The output and model of the chapter's one widget."""
    ((_, output, model),) = pictures.shown_widgets(nb)
    return output, model


def forbid(*_):
    pytest.fail("Chromium was asked for")


@pytest.fixture
def drawing(browser, monkeypatch):
    """`refresh` may draw, by the browser that the session has already."""

    @contextmanager
    def page():
        with closing(new_page(browser)) as opened:
            yield opened

    monkeypatch.setattr(pictures, "chromium", page)


def new_page(browser, width=800, height=10_000):
    size = {"width": width, "height": height}
    return browser.new_page(viewport=size, device_scale_factor=pictures.SCALE)


def test_a_picture_whose_widget_is_the_same_stays(chapter, monkeypatch):
    """Also under another id, and where a run left no picture: `make notebooks` anywhere."""
    monkeypatch.setattr(pictures, "chromium", forbid)
    assert pictures.refresh(chapter, CHAPTER) == [] and chapter == CHAPTER
    output, _ = only(chapter)
    del output.data["image/png"]
    output.metadata.clear()
    renamed = re.sub(output.data[clean.WIDGET_VIEW].model_id, "f" * 32, nbformat.writes(chapter))
    chapter = nbformat.reads(renamed, as_version=4)
    assert pictures.refresh(chapter, CHAPTER) == []
    new, old = only(chapter)[0], only(CHAPTER)[0]
    assert new.data["image/png"] == old.data["image/png"] and new.metadata == old.metadata


def another_state(nb, monkeypatch):
    only(nb)[1]["state"]["causal"] = True


def other_code(nb, monkeypatch):
    sources = bundle.sources

    def other(name):
        code = sources(name)
        return code | {"css": code["css"] + ".ah-title { color: red }"}

    monkeypatch.setattr(bundle, "sources", other)


def another_page(nb, monkeypatch):
    monkeypatch.setattr(pictures, "STYLE", f"{pictures.STYLE} .attn-widget {{ padding: 9px }}")


CHANGES = [another_state, other_code, another_page]


@pytest.mark.parametrize("change", CHANGES)
def test_it_is_drawn_again_when_state_or_code_changes(chapter, monkeypatch, drawing, change):
    change(chapter, monkeypatch)
    (complaint,) = [line for line in check.problems(chapter) if "picture" in line]
    assert "code cell" in complaint and "--pictures" in complaint
    before = only(CHAPTER)[0].data["image/png"]
    assert pictures.refresh(chapter, CHAPTER) == []
    output, _ = only(chapter)
    assert check.problems(chapter) == []
    assert output.data["image/png"] != before
    once = copy.deepcopy(chapter)
    monkeypatch.setattr(pictures, "chromium", forbid)
    assert pictures.refresh(chapter, once) == [] and chapter == once


def test_without_chromium_it_says_what_has_no_picture(chapter, tmp_path):
    """The other notebook, where all is the same, keeps its picture."""
    another_state(chapter, None)
    for name, nb in (("same", CHAPTER), ("other", chapter)):
        nbformat.write(nb, tmp_path / f"{name}.ipynb")
    tool = [sys.executable, "-m", "devkit.notebooks", "--pictures"]
    nowhere = {"PATH": str(tmp_path), "PLAYWRIGHT_BROWSERS_PATH": str(tmp_path)}
    done = subprocess.run(
        [*tool, *sorted(tmp_path.glob("*.ipynb"))],
        env=os.environ | nowhere,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    (said,) = [line for line in done.stderr.splitlines() if "Chromium" in line]
    assert "other.ipynb" in said and "AttentionHeatmap" in said
    assert "same.ipynb:" not in done.stderr
    other, same = (
        nbformat.read(tmp_path / f"{name}.ipynb", as_version=4) for name in ("other", "same")
    )
    assert "image/png" not in only(other)[0].data, "an old picture would show another widget"
    assert same == CHAPTER


@pytest.fixture(scope="module")
def drawn(browser):
    """Each widget's picture, size and heights, drawn now."""
    with closing(new_page(browser)) as page:
        return {n: pictures.draw(page, pictures.page_for(model)) for n, (_, model) in SHOWN.items()}


@pytest.mark.parametrize("name", SHOWN)
def test_a_picture_is_the_widget_as_it_stands(drawn, name):
    png, size, heights = drawn[name]
    stored = SHOWN[name][0]
    image = Image.open(io.BytesIO(png))
    assert image.size == (round(1.5 * size["width"]), pytest.approx(1.5 * size["height"], abs=1))
    assert len(png) < check.MAX_FIGURE and image.mode == "P"
    assert abs(size["height"] - heights[str(pictures.WIDTHS[0])]) <= 1
    colours = image.convert("RGB").getcolors(1 << 20)
    painted = sum(n for n, (r, g, b) in colours if b > r + 60 or max(r, g, b) < 100)
    assert painted > 2000, "the map is painted"
    for width, height in stored["metadata"][clean.WIDGET_VIEW]["heights"].items():
        assert heights[width] == pytest.approx(height, rel=0.1), "fonts differ, layouts do not"
    assert base64.b64decode(stored["data"]["image/png"]).startswith(b"\x89PNG")


def use(page):
    """Move everything that stays with one example and one model, and yield after each step."""
    for control in page.locator("input[type=range]").all():
        for key in ("Home", "End"):
            control.press(key)
            yield
    for control in page.locator("input[type=checkbox], [role=switch]").all():
        control.press("Space")
        yield
    if not page.locator(".attn-align").count():  # another sentence may be longer
        for control in page.locator("input[type=radio]").all():
            if control.evaluate("(input) => !input.closest('[hidden]')"):  # it counts now
                control.check(force=True)
                yield
        for choice in page.locator("select").all():
            choice.select_option(index=choice.locator("option").count() - 1)
            yield
    page.locator("canvas[tabindex], table[tabindex]").first.press("End")
    yield


@pytest.mark.parametrize(("name", "width"), [*product(SHOWN, pictures.WIDTHS)])
def test_a_widget_keeps_the_height_that_it_was_drawn_with(browser, drawn, name, width):
    """Mounted into a box of that height it fills it, whatever the reader does."""
    height = drawn[name][2][str(width)]
    box = f"width: {width}px; --attn-wide: {height}; --attn-narrow: {height}; margin: 0"
    style = f"*, ::before, ::after {{ box-sizing: border-box }} .attn-widget {{ {box} }}"
    page = new_page(browser, width + 48, 900)
    page.set_content(page_of({ID: SHOWN[name][1]}, [ID], style))
    page.wait_for_function(pictures.AWAKE)
    taken = lambda at: page.locator(at).first.bounding_box()["height"]  # noqa: E731
    assert height - 2 < taken(".attn-widget > div") <= height
    for _ in use(page):
        assert taken(".attn-widget") == height
    page.close()
