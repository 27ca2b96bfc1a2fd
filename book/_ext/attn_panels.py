"""The panels of a figure, found in its picture, so that on a phone they stand one below the other.

A figure of the book is one PNG on white. Its panels are the wide parts that blank columns divide;
what is narrow to the left of a panel are its labels. A panel without labels of its own shares those
of the first, so that they are shown before it again. Nothing is drawn anew: a page shows windows
onto the same file. A figure that cannot be cut is left whole. Only for figures that have no form of
their own for phones (`ab.plots.figure`): when the last page has been run anew with it, this goes.
"""

from __future__ import annotations

import io
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from PIL import Image

PHONE = 312  # CSS pixels of a small phone's column
LARGEST, LEAST = 1.25, 0.84  # scales: sharp enough, and labels of 12 pixels not below 10
ROOM = 1.4 * PHONE  # a figure not much wider than a phone need not be cut
GAP = 3  # CSS pixels that divide two parts; letters and ticks stand closer
WIDE = 0.5  # of the widest part: a panel


class Window(NamedTuple):
    """A part of a picture, in CSS pixels."""

    x: float
    y: float
    width: float
    height: float


def parts(inked: np.ndarray, gap: float) -> list[tuple[int, int]]:
    """Where lines with ink stand together, (n,) of booleans, as (first, behind the last)."""
    places = np.flatnonzero(inked)
    if not len(places):
        return []
    breaks = np.flatnonzero(np.diff(places) > gap)
    firsts, lasts = [0, *(breaks + 1)], [*breaks, len(places) - 1]
    return [(int(places[a]), int(places[b]) + 1) for a, b in zip(firsts, lasts, strict=True)]


def tall(ink: np.ndarray, columns: tuple[int, int]) -> bool:
    """Whether the ink of some columns reaches over half of the height, as labels of rows do."""
    rows = np.flatnonzero(ink[:, slice(*columns)].any(axis=1))
    return len(rows) > 0 and rows[-1] - rows[0] > ink.shape[0] / 2


def panels(ink: np.ndarray, found: list[tuple[int, int]]) -> list[int]:
    """Which parts are panels: tall, wide, and an axis or a map fills a row, as text never does."""
    most = max((b - a for a, b in found), default=0)
    return [
        n
        for n, (a, b) in enumerate(found)
        if b - a >= WIDE * most and tall(ink, (a, b)) and ink[:, a:b].mean(axis=1).max() > 0.8
    ]


def rows_of(ink: np.ndarray, gap: float) -> list[list[tuple[int, int]]]:
    """For each panel of a row (height, width) the columns that show it: labels, and itself."""
    found = parts(ink.any(axis=0), gap)
    here = panels(ink, found)
    if len(here) < 2:
        return []
    labels = (0, (found[here[0] - 1][1] + found[here[0]][0]) // 2) if here[0] else (0, 0)
    shared = tall(ink, labels)
    rows, start = [], 0
    for n, this in enumerate(here):
        following = found[this : here[n + 1] + 1] if n + 1 < len(here) else []
        pairs = list(pairwise(following))
        at = 0  # the first gap: what stands behind it are the labels of the next panel
        if len(pairs) > 1 and np.median(ink[:, slice(*following[1])].mean(axis=0)) > 0.5:
            at = max(range(1, len(pairs)), key=lambda i: pairs[i][1][0] - pairs[i][0][1])  # a bar
        end = (pairs[at][0][1] + pairs[at][1][0]) // 2 if pairs else ink.shape[1]
        own = n == 0 or tall(ink, (start, found[this][0]))
        rows.append([labels, (start, end)] if shared and not own else [(start, end)])
        start = end
    return rows


def legend(ink: np.ndarray, gap: float) -> int:
    """Where a legend below all panels begins, or the height: a label stands under each panel."""
    bands = parts(ink.any(axis=1), gap)
    if len(bands) < 2:
        return ink.shape[0]
    top = (bands[-2][1] + bands[-1][0]) // 2
    found = parts(ink[:top].any(axis=0), gap)
    for n in panels(ink[:top], found):
        first, end = found[n]
        below = np.flatnonzero(ink[top:, first:end].any(axis=0))
        middle = (below[0] + below[-1]) / 2 if len(below) else 0
        if abs(middle - (end - first) / 2) > (end - first) / 10:
            return top
    return ink.shape[0]


def stacked(png: bytes, width: int) -> tuple[float, list[list[Window]]]:
    """The scale, and each row of windows that shows a panel, or a legend, of a figure.

    `width` is that of the figure in CSS pixels. No rows if it is not to be stacked.
    """
    if width < ROOM:
        return 1.0, []
    image = np.asarray(Image.open(io.BytesIO(png)).convert("L"))
    ink, scale = image < 255, image.shape[1] / width
    end = legend(ink, GAP * scale)
    rows = rows_of(ink[:end], GAP * scale)
    shown = [[(a, 0, b - a, end) for a, b in row] for row in rows]
    if rows and end < len(ink):
        shown += [[piece] for piece in pieces(ink, end, PHONE * scale)]
    found = [[Window(*(n / scale for n in window)) for window in row] for row in shown]
    by = min(LARGEST, PHONE / max((sum(w.width for w in row) for row in found), default=1))
    return (by, found) if by >= LEAST else (1.0, [])


def pieces(ink: np.ndarray, top: int, most: float) -> list[tuple[int, int, int, int]]:
    """A legend below all panels, cut at its widest gaps until each piece fits into `most`."""
    found = parts(ink[top:].any(axis=0), 0)
    height = ink.shape[0] - top

    def cut(signs):
        first, end = signs[0][0], signs[-1][1]
        if end - first <= most or len(signs) < 2:
            return [(first, top, end - first, height)]
        gaps = [b[0] - a[1] for a, b in pairwise(signs)]
        wide = [n for n, gap in enumerate(gaps) if gap > 0.8 * max(gaps)]
        at = min(wide, key=lambda n: abs(n - len(signs) / 2)) + 1
        return cut(signs[:at]) + cut(signs[at:])

    return cut(found)
