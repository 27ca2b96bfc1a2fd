"""The height of a widget's box, reckoned from its saved state before any script runs."""

from __future__ import annotations

import math


def reserved_height(traits: dict, width: int) -> int:
    """Pixels to keep free for a widget in a column of `width` pixels.

    An estimate from the saved traits; the widget then fits its map into what it was given.
    """
    if traits.get("_anywidget_id") == "attnbook.widgets.KernelRegression":
        return kernel_height(traits, width)
    if traits.get("_anywidget_id") == "attnbook.widgets.PositionExplorer":
        return positions_height(traits, width)
    *_, queries, keys = traits.get("_shape", (1, 8, 8))

    def longest(name: str) -> int:
        return max(
            (len(text) for row in traits.get(name, []) for text in row), default=1
        )

    left = max(52, min(7.2 * longest("query_labels") + 10, 0.3 * width, 150))
    label = min(7.2 * longest("key_labels"), 96)
    cell = min(52, (width - left - 2) / max(keys, 1))
    flat = label + 6 <= cell
    if not flat:
        cell = min(
            52, (width - left - 2 - max(0, label / 2 - cell / 2 + 8)) / max(keys, 1)
        )
    gutter = 39 if flat else 32 + 0.87 * label
    rows = control_rows(traits.get("controls", []), width, heatmap_sizes(traits, width))
    title = 29 if traits.get("title") else 0
    controls = 34 * rows + 4 if rows else 0
    heads = heads_height(traits, width)
    cells = min(cell * queries, 400) if heads else cell * queries
    legend, readout = legend_height(traits, width), 48 if width > 480 else 68
    return round(4 + title + controls + heads + gutter + cells + 2 + legend + readout)


def heads_height(traits: dict, width: int) -> int:
    """Pixels of the small maps of all heads: as `planGrid` of the widget's layout.js."""
    if "grid" not in traits.get("controls", []):
        return 0
    count, (*_, queries, keys) = len(traits["head_labels"]), traits["_shape"]
    least, gap = (66, 8) if width < 480 else (76, 12)
    fits = max(1, (width + gap) // (least + gap))
    lines = math.ceil(count / fits)
    columns = math.ceil(count / lines)
    side = min(110, (width - gap * (columns - 1)) // columns) - 6
    return lines * (side * queries // max(queries, keys, 1) + 35) + 4


def legend_height(traits: dict, width: int) -> int:
    """Pixels of the legend: more lines for a second scale and for gold marks."""
    narrow, compared, gold = (
        width < 480,
        traits.get("_compare", 0),
        traits.get("_gold", 0),
    )
    lines = 1
    if narrow and compared:
        lines = 4 if gold else 3
    elif narrow and gold:
        lines = 2
    return 8 + 22 * (lines + bool(gold))


def traits_of(model: dict) -> dict:
    """The traits of a saved model; of binary ones, which stand beside it, only the size."""
    sizes = {
        buffer["path"][-1]: len(buffer["data"]) for buffer in model.get("buffers", [])
    }
    return sizes | model.get("state", {})


def kernel_height(traits: dict, width: int) -> int:
    """The same for kernel regression: plot and weights side by side, on a phone one below."""
    sizes = {"kernel": 195, "width": 235, "query": 235, "leave_one_out": 115}
    rows = control_rows(traits.get("controls", []), width, sizes)
    title = 29 if traits.get("title") else 0
    figure, words = (
        (320, 81) if width >= 520 else (546, 160)
    )  # words: legend, read-out, error
    return 4 + title + (34 * rows + 4 if rows else 0) + figure + words


def positions_height(traits: dict, width: int) -> int:
    """The same for the positions explorer: table and curves side by side, on a phone stacked."""
    sizes = {
        "kind": 215,
        "size": 235,
        "base": 235,
        "place": 225,
        "column": 225,
        "offset": 225,
    }
    rows = control_rows(traits.get("controls", []), width, sizes)
    title = 29 if traits.get("title") else 0
    figure, words = (340, 81) if width >= 520 else (660, 112)  # words: legend, read-out
    return 4 + title + (34 * rows + 4 if rows else 0) + figure + words


def heatmap_sizes(traits: dict, width: int) -> dict[str, int]:
    """Widths of a heat map's controls, in their order."""
    head = max(map(len, traits.get("head_labels", [])), default=1)
    views = sum(22 + 7 * len(name) for name in traits.get("compare_labels", []))
    return {
        "batch": 135,
        "head": min(75 + 8 * head, width),
        "view": min(106 + views, width),
        "lengths": 290,
        "temperature": 275,
        "causal": 75,
        "scale": 125,
        "step": 205,
        "copy": 115,
    }


def control_rows(controls: list[str], width: int, sizes: dict[str, int]) -> int:
    """Lines that a widget's controls, of these widths in order, and the reset button take."""
    if not controls:
        return 0
    rows, used = 1, 0
    for name in [*(name for name in sizes if name in controls), "reset"]:
        size = sizes.get(name, 65)
        size = (
            width
            if width < 480 and size > 200 and name not in ("view", "step")
            else size
        )
        if used and used + 22 + size > width:
            rows, used = rows + 1, 0
        used += size + (22 if used else 0)
    return rows
