"""Sphinx extension: every figure a second time, in the colours of the dark page.

A stored figure is a PNG of at most 256 colours on white. Its dark twin is the same picture with
another palette, so that it needs no second drawing: lightness is turned round in OKLab, hues stay,
and the book's own colours (the scale of weights, ink, rules) become exactly those that the widgets
have in the dark. High weights are far from the ground in both.
"""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
from PIL import Image
from sphinx.application import Sphinx

# The book's colours, on white and in the dark: those of the heat map's style sheet.
COLOURS = {
    "#ffffff": "#12171e",  # ground
    "#1f2933": "#dfe5ec",  # ink
    "#55606e": "#a3afbd",
    "#d5dbe3": "#36414f",  # rules
    "#9aa4b1": "#68778a",  # hatch
    "#f3f4f6": "#1c222b",
    "#ffc61a": "#ffd24d",  # gold
    "#b4410e": "#ff9a5c",  # the lines of a plot
    "#1b7f6b": "#4fc9b0",
    "#8a5aa8": "#c79be3",
    "#7a6a00": "#cdbb4a",
}
SCALES = {  # weights; differences, more and less
    "#dcebfb #a9cdf6 #6fa6ea #4480d0 #2a5fac #194383 #0d2a5c": (
        "#1f3757 #22528a #236eb5 #2f90dd #56b3f8 #8dd5ff #cdf5ff"
    ),
    "#e6def5 #c4b0e6 #9e80d1 #7a55b5 #5a3594 #3c1c6e": (
        "#3a2f57 #584391 #7b60bd #9a7fe0 #b297f5 #c9b2ff"
    ),
    "#fbe5c8 #f5c184 #e19a45 #bd7222 #8f4f10 #5e3106": (
        "#4b3416 #7a4d12 #a3690f #cc861c #e9a02c #ffb938"
    ),
}
STEPS = 16  # between two colours of a scale
LMS = np.array(
    [[0.4122214708, 0.5363325363, 0.0514459929],
     [0.2119034982, 0.6806995451, 0.1073969566],
     [0.0883024619, 0.2817188376, 0.6299787005]]
)  # fmt: skip
LAB = np.array(
    [[0.2104542553, 0.7936177850, -0.0040720468],
     [1.9779984951, -2.4285922050, 0.4505937099],
     [0.0259040371, 0.7827717662, -0.8086757660]]
)  # fmt: skip


def to_lab(colours: np.ndarray) -> np.ndarray:
    """sRGB (n, 3), 0 to 255, as OKLab (n, 3).  Source: Ottosson 2020."""
    x = colours / 255
    linear = np.where(x <= 0.04045, x / 12.92, ((x + 0.055) / 1.055) ** 2.4)
    return np.cbrt(linear @ LMS.T) @ LAB.T


def to_rgb(lab: np.ndarray) -> np.ndarray:
    """OKLab (n, 3) as sRGB (n, 3), 0 to 255, cut off where the screen ends."""
    linear = ((lab @ np.linalg.inv(LAB).T) ** 3) @ np.linalg.inv(LMS).T
    linear = linear.clip(0, 1)
    x = np.where(linear <= 0.0031308, linear * 12.92, 1.055 * linear ** (1 / 2.4) - 0.055)
    return (255 * x).round().astype(np.uint8)


def hexes(text: str) -> np.ndarray:
    """Colours such as "#ffffff #000000" as (n, 3)."""
    return np.array([list(bytes.fromhex(c.lstrip("#"))) for c in text.split()], dtype=float)


def between(colours: np.ndarray) -> np.ndarray:
    """A scale with `STEPS` colours for each of its own, as both drawings mix them."""
    places = np.linspace(0, len(colours) - 1, STEPS * (len(colours) - 1) + 1)
    return np.stack([np.interp(places, range(len(colours)), c) for c in colours.T], axis=1)


def turned(lab: np.ndarray) -> np.ndarray:
    """The other lightness, (n, 3): white becomes the dark ground, ink the light one."""
    ends = to_lab(hexes("#1f2933 #ffffff #dfe5ec #12171e"))[:, 0]
    lightness = np.interp(lab[:, 0], ends[:2], ends[2:])
    return np.column_stack([lightness, lab[:, 1:]])


def anchors() -> tuple[np.ndarray, np.ndarray]:
    """Colours that are known in both schemes, in OKLab: (n, 3) on white, (n, 3) in the dark."""
    pairs = [(hexes(" ".join(COLOURS)), hexes(" ".join(COLOURS.values())))]
    pairs += [(between(hexes(a)), between(hexes(b))) for a, b in SCALES.items()]
    light, dark = (np.concatenate(colours) for colours in zip(*pairs, strict=True))
    return to_lab(light), to_lab(dark)


def dark_colours(colours: np.ndarray) -> np.ndarray:
    """sRGB (n, 3) for the dark page: known colours exactly, others turned round beside them."""
    lab, (light, dark) = to_lab(colours), anchors()
    distance = np.linalg.norm(lab[:, None] - light, axis=-1)  # (n, anchors)
    weights = 1 / (distance**4 + 1e-10)
    weights /= weights.sum(axis=1, keepdims=True)
    near = np.exp(-((distance.min(axis=1) / 0.08) ** 2))[:, None]
    mended = turned(lab) + near * (weights @ (dark - turned(light)))
    return to_rgb(mended)


def dark_figure(png: bytes) -> bytes:
    """The same PNG with the dark page's palette."""
    image = Image.open(io.BytesIO(png))
    if image.mode != "P":
        image = image.convert("RGB").quantize(256, dither=Image.Dither.NONE)
    palette = np.array(image.getpalette(), dtype=float).reshape(-1, 3)
    image.putpalette(dark_colours(palette).tobytes())
    out = io.BytesIO()
    image.save(out, format="PNG", optimize=True)
    return out.getvalue()


def write_twins(app: Sphinx, exception) -> None:
    """Write the twins that pages ask for."""
    if exception or app.builder.format != "html":
        return
    folder = Path(app.outdir) / app.builder.imagedir
    for name in getattr(app.builder, "attn_figures", ()):
        dark = folder / f"{name.removesuffix('.png')}-dark.png"
        dark.write_bytes(dark_figure((folder / name).read_bytes()))


def setup(app: Sphinx) -> dict:
    """Register the last step."""
    app.connect("build-finished", write_twins)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
