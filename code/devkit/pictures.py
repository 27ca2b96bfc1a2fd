"""The still picture of each widget in a notebook, and its heights, drawn in Chromium by the widget.

The site shows the picture until the widget wakes, and where no script runs; it keeps the height
free. Both are stored with the output, beside the mark of what they were drawn from. Where that is
the same, the stored picture stays, byte for byte, whatever fonts this machine has.
"""

import base64
import hashlib
import io
import json
import math
from contextlib import contextmanager

from devkit import browser
from devkit.clean import MODEL_ID, WIDGET_STATE, WIDGET_VIEW, code_cells

WIDTHS = (720, 312)  # CSS pixels: the book's column, a phone
TOUCH = "touch"  # the height in the column where one points with a finger; on a phone one does
SCALE = 1.5  # device pixels in one of them, for sharp screens
COLOURS = 256
# As on the site: boxes are measured with their borders.
STYLE = "*, ::before, ::after { box-sizing: border-box } body { width: 760px }" + "".join(
    f".attn-widget:nth-child({n}) {{ width: {width}px }}" for n, width in enumerate(WIDTHS, 1)
)
AWAKE = "[...document.querySelectorAll('.attn-widget')].every((box) => box.dataset.widget)"
HEIGHTS = """() => [...document.querySelectorAll(".attn-widget > div")]
  .map((root) => root.getBoundingClientRect().height)"""


def shown_widgets(nb) -> list:
    """Each output that shows a widget of the book: (number of its cell, output, saved model)."""
    models = nb.metadata.get("widgets", {}).get(WIDGET_STATE, {}).get("state", {})
    found = []
    for number, cell in enumerate(code_cells(nb), start=1):
        for output in cell.outputs:
            view = output.get("data", {}).get(WIDGET_VIEW, {})
            model = models.get(view.get("model_id"), {})
            if model.get("state", {}).get("_anywidget_id", "").startswith("attnbook."):
                found.append((number, output, model))
    return found


def page_for(model) -> str:
    """A page with the widget once for each of WIDTHS, mounted as in the book."""
    return browser.page_of({"shown": model}, ["shown"] * len(WIDTHS), STYLE)


def mark_of(model) -> str:
    """What a widget's picture is drawn from, in short: its state but for ids, and its code."""
    from attnbook.widgets import bundle

    state = MODEL_ID.sub("", json.dumps(model, sort_keys=True))
    code = bundle.sources(model["state"]["_anywidget_id"])
    drawn = json.dumps([state, code, STYLE, SCALE, COLOURS])
    return hashlib.sha256(drawn.encode()).hexdigest()[:16]


def is_drawn(output, mark: str) -> bool:
    """Whether the output holds a picture that was drawn from what has this mark."""
    stored = output.get("metadata", {}).get(WIDGET_VIEW, {})
    return stored.get("drawn") == mark and "image/png" in output.data


def take(output, other) -> None:
    """Store the picture, its size and the heights that another output holds."""
    output.data["image/png"] = other.data["image/png"]
    for mime in ("image/png", WIDGET_VIEW):
        output.metadata[mime] = other.metadata[mime]


def refresh(nb, stored) -> list[str]:
    """Give each widget of `nb` its picture: a stored one of the same mark, else a new one.

    Returns a complaint for each widget that has none, because there is no Chromium.
    """
    old = {o.metadata.get(WIDGET_VIEW, {}).get("drawn"): o for _, o, _ in shown_widgets(stored)}
    wanted = []
    for number, output, model in shown_widgets(nb):
        mark = mark_of(model)
        if not is_drawn(output, mark):
            output.data.pop("image/png", None)
            if mark in old and is_drawn(old[mark], mark):
                take(output, old[mark])
            else:
                wanted.append((number, output, model, mark))
    if not wanted:
        return []
    with chromium() as page:
        if page is None:
            return [
                f"code cell {number} shows a new {model['state']['_anywidget_id'].split('.')[-1]}, "
                "and its picture needs Chromium"
                for number, _, model, _ in wanted
            ]
        for _, output, model, mark in wanted:
            png, size, heights = draw(page, page_for(model))
            output.data["image/png"] = base64.b64encode(png).decode("ascii")
            output.metadata["image/png"] = size
            output.metadata[WIDGET_VIEW] = {"drawn": mark, "heights": heights}
    return []


@contextmanager
def chromium():
    """A page of a headless Chromium, or None where there is none."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        yield None
        return
    with sync_playwright() as playwright:
        path = browser.find_browser(playwright)
        if path is None:
            yield None
            return
        chromium = browser.launch(playwright, path)
        yield chromium.new_page(
            viewport={"width": 800, "height": 10_000},  # all is in view, so that all wakes
            device_scale_factor=SCALE,
            color_scheme="light",
            reduced_motion="reduce",
        )
        chromium.close()


def draw(page, html: str) -> tuple[bytes, dict, dict]:
    """The picture at the first of WIDTHS, its size in CSS pixels, and the heights."""
    touch = page.context.new_cdp_session(page)
    for finger in (True, False):
        touch.send("Emulation.setTouchEmulationEnabled", {"enabled": finger})
        page.set_content(html)
        page.wait_for_function(AWAKE)
        boxes = page.locator(".attn-widget")
        if any(box.get_attribute("data-widget") != "awake" for box in boxes.all()):
            raise RuntimeError("a widget did not wake: see the browser's console")
        wide, narrow = map(math.ceil, page.evaluate(HEIGHTS))
        if finger:
            heights = {str(WIDTHS[1]): narrow, TOUCH: wide}
        else:
            heights = {str(WIDTHS[0]): wide, **heights}
    touch.detach()
    png, width, height = smaller(boxes.first.screenshot(animations="disabled"))
    return png, {"width": width, "height": height}, heights


def smaller(png: bytes) -> tuple[bytes, int, int]:
    """A screenshot in few colours, without the blank at its right; width, height (CSS pixels)."""
    from PIL import Image, ImageChops

    image = Image.open(io.BytesIO(png)).convert("RGB")
    *_, right, _ = ImageChops.invert(image).getbbox()
    width = min(math.ceil(right / SCALE + 2), WIDTHS[0])
    image = image.crop((0, 0, round(width * SCALE), image.height))
    image = image.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, kmeans=1, dither=Image.Dither.NONE)
    stored = io.BytesIO()
    image.save(stored, format="PNG", optimize=True)
    return stored.getvalue(), width, round(image.height / SCALE)
