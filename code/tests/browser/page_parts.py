"""What the tests ask of a page with widgets, and do to it."""

from __future__ import annotations

import numpy as np

from attnbook.data.text import detokenize

LIVE = ".ah-hidden [aria-live]"
DARK = {  # how a page says that it is dark, and how it takes that back
    "data-theme": ("document.documentElement.dataset.theme = 'dark'", "delete document"
                   ".documentElement.dataset.theme"),
    "jupyter": ("document.body.dataset.jpThemeLight = 'false'",
                "delete document.body.dataset.jpThemeLight"),
}  # fmt: skip


def live(page) -> str:
    """What a screen reader has heard last."""
    return page.locator(LIVE).inner_text()


def readout(page) -> str:
    """The line under the picture."""
    return page.locator(".ah-readout").inner_text()


def soon(page, check, *arguments):
    """Check until it holds: a table, for one, is written a moment after a change."""
    for _ in range(60):
        try:
            return check(*arguments)
        except (AssertionError, ValueError):  # words stand where numbers are expected
            page.wait_for_timeout(25)
    return check(*arguments)


def said(page, text):
    """Wait until the live line holds `text`."""

    def check():
        assert text in live(page)

    soon(page, check)


def pictures(page, at=".attn-widget") -> list[str]:
    """All that is drawn: canvases that are seen, and lines."""
    return page.locator(at).evaluate_all(
        """(boxes) => boxes.flatMap((box) => [...box.querySelectorAll("canvas, svg")])
          .filter((node) => node.getClientRects().length)
          .map((node) => node.toDataURL?.() ?? node.outerHTML)"""
    )


def cells(page, at=".ah-hidden table") -> list[list[str]]:
    """The text of a table, without its head."""
    return page.locator(at).first.evaluate(
        """(table) => [...table.querySelectorAll("tr")].slice(1).map(
          (row) => [...row.children].map((cell) => cell.textContent.replace("−", "-")))"""
    )


def use(page, role, name, value=None):
    """Work the first control of this role and name, as a reader does."""
    control = page.get_by_role(role, name=name, exact=True).first
    if role == "slider":
        control.press(value)
    elif role == "combobox":
        control.select_option(value)
    elif role == "checkbox":
        control.press("Space")
    elif role in ("spinbutton", "textbox"):
        control.fill(value)
    else:
        control.click(force=True)


def cell_box(page, i, j, canvas=".ah-map canvas") -> dict:
    """The place of cell (i, j) on its canvas, from the frame around it when it has the focus."""
    map_ = page.locator(canvas).first
    map_.focus()
    for key, times in (("Home", 1), ("PageUp", 1), ("ArrowDown", i), ("ArrowRight", j)):
        for _ in range(times):
            map_.press(key)
    return ring_of(page)


def ring_of(page, panel=0) -> dict:
    """The place of the frame around the marked cell, on its canvas."""
    return page.locator(".ah-ring:visible").nth(panel).evaluate(
        """(ring) => {
          const [x, y] = ring.style.transform.match(/[\\d.]+/g).map(Number);
          return { x, y, w: parseFloat(ring.style.width), h: parseFloat(ring.style.height) };
        }"""
    )  # fmt: skip


def pixels(page, box, canvas=".ah-map canvas") -> np.ndarray:
    """(height, width, 4) of a place on a canvas."""
    data = page.locator(canvas).locator("visible=true").first.evaluate(
        """(canvas, { x, y, w, h }) => {
          const part = canvas.getContext("2d").getImageData(x, y, w, h);
          return { data: [...part.data], shape: [part.height, part.width, 4] };
        }""",
        box,
    )  # fmt: skip
    return np.array(data["data"]).reshape(data["shape"])


def colours(page, box, canvas=".ah-map canvas") -> set[tuple[int, ...]]:
    """The colours of a place on a canvas."""
    return {tuple(colour) for colour in pixels(page, box, canvas).reshape(-1, 4).tolist()}


def rgb(colour: str) -> tuple[int, ...]:
    """`#rrggbb` as opaque pixels have it."""
    return (*(int(colour[at : at + 2], 16) for at in (1, 3, 5)), 255)


def answered(page) -> list[str]:
    """Wait until the playground has nothing on its way; the tokens that it shows."""
    page.locator(".pg-output[aria-busy=false]").wait_for()
    return page.locator(".pg-token").all_inner_texts()


def french(tokens, names=()) -> str:
    """French tokens as the playground writes them: as `detokenize` does, with capitals."""
    out, begins = [], True
    for token in tokens:
        out.append(token[:1].upper() + token[1:] if begins or token in names else token)
        begins = token in (".", "?", "!") or (begins and not any(map(str.isalnum, token)))
    return detokenize(out, "fr").replace("'", "’")
