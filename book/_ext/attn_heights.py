"""The height of a widget's box, reckoned from its saved state before any script runs."""

from __future__ import annotations

import math


def reserved_height(traits: dict, width: int) -> int:
    """Pixels to keep free for a widget in a column of `width` pixels.

    An estimate from the saved traits; the widget then fits its map into what it was given.
    """
    if traits.get("_anywidget_id") == "attnbook.widgets.KernelRegression":
        return kernel_height(traits, width)
    if traits.get("_anywidget_id") == "attnbook.widgets.AlignmentViewer":
        return alignment_height(traits, width)
    if traits.get("_anywidget_id") == "attnbook.widgets.HeadAblation":
        return ablation_height(traits, width)
    if traits.get("_anywidget_id") == "attnbook.widgets.PositionExplorer":
        return positions_height(traits, width)
    if traits.get("_anywidget_id") == "attnbook.widgets.LayerHeadBrowser":
        return browse_height(traits, width)
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


def alignment_height(traits: dict, width: int) -> int:
    """The same for the alignment viewer: of the example shown first, as a heat map."""
    narrow = width < 480
    examples, models = traits["_examples"], traits["model_labels"]
    named = traits.get("side_by_side") or "model" not in traits["controls"]
    heading = 24 if named and len(models) > 1 else 0
    count = len(models) if traits.get("side_by_side") else 1
    shown = examples[traits["example"]]
    panels = alignment_panels(shown, count, width, heading) + 5 * count
    title = 29 if traits.get("title") else 0
    rows = control_rows(
        [name for name in traits["controls"] if alignment_choice(traits, name)],
        width,
        alignment_sizes(traits, width),
        reset=False,
    )
    tall = 10 if narrow and "model" in traits["controls"] else 0  # labels in two lines
    legend, readout = (76, 67) if narrow else (30, 48)
    return round(
        4 + title + (34 * rows + 4 if rows else 0) + tall + panels + legend + readout
    )


def alignment_choice(traits: dict, name: str) -> bool:
    """Whether the control is there: a list with nothing to choose from is not."""
    lists = {"example": "_examples", "model": "model_labels"}
    return name not in lists or len(traits[lists[name]]) > 1


def alignment_sizes(traits: dict, width: int) -> dict[str, int]:
    """Widths of the viewer's controls, in their order."""
    longest = max(len(example["name"]) for example in traits["_examples"])
    models = sum(
        22 + 7 * len(name) for name in [*traits["model_labels"], "Side by side"]
    )
    return {
        "example": min(68 + min(380, 40 + 7 * longest), width),
        "model": width if width < 480 else min(models, width),
        "view": 137,
        "play": 94,
        "step": width if width < 480 else 300,
    }


def alignment_panels(example: dict, count: int, width: int, heading: int) -> float:
    """Pixels of the maps and cards of `count` models: as `planPanels` of alignment_layout.js."""
    queries, keys = example["target"], example["source"]

    def place(room: int) -> tuple[float, float]:
        """Width and height of a map in `room`."""
        left = max(52, min(7.2 * max(map(len, queries)) + 10, 0.3 * room, 150))
        label = min(7.2 * max(map(len, keys)), 96)
        cell = min(52, (room - left - 2) / len(keys))
        flat = label + 6 <= cell
        lean = 0 if flat else max(0, label / 2 - cell / 2 + 8)
        cell = max(15, min(52, (room - left - 2 - lean) / len(keys)))
        top = 39 if flat else 32 + 0.87 * label
        down = max(15, min(cell, (520 - top - 2) / len(queries)))
        across = max(15, min(cell, 1.5 * down))
        return left + across * len(keys) + lean + 2, top + down * len(queries) + 2

    width -= 4
    if count > 1 and width >= 560:
        room = (width - 20 * (count - 1)) // count
        across, down = place(room)
        if across <= room:
            return heading + down + 10 + alignment_card(example, room)
    if width >= 560 and (found := place(width - 252))[0] <= width - 252:
        return count * (heading + max(found[1], alignment_card(example, 232))) + 18 * (
            count - 1
        )
    below = place(width)[1] + 10 + alignment_card(example, width)
    return count * (heading + below) + 18 * (count - 1)


def alignment_card(example: dict, width: int) -> float:
    """Pixels of the card of a step: its parts stand side by side where they fit."""
    some, possible = any(example["candidates"]), bool(example["possible"])
    inner = width - 26
    columns = min(2 + some, (inner + 24) // 214)
    inner = (inner - 24 * (columns - 1)) / columns
    longest = max(map(len, example["source"]))
    gold: dict[int, int] = {}
    for kind, more in (("sure", 4), ("possible", 15)):
        for i, j in example[kind]:
            gold[i] = gold.get(i, 0) + len(example["source"][j]) + more
    lines = math.ceil((18 + longest + max(gold.values(), default=7)) * 6.6 / inner)
    token = 63 + 20 * lines
    score = 42 + (11 + 18 * math.ceil(255 / inner) if possible else 0)
    parts = [token, 77, score] if some else [token, score]
    rows = [max(parts[n : n + columns]) for n in range(0, len(parts), columns)]
    return 22 + sum(rows) + 10 * (len(rows) - 1)


def ablation_height(traits: dict, width: int) -> int:
    """The same for head ablation: maps in lines, the output below, bars, the read-out."""
    _, count, queries, keys, relations, _ = traits["_shape"]
    lines = math.ceil(count / (2 if width < 480 else 4))
    columns = math.ceil(count / lines)
    share = (width - 16 * (columns - 1)) // columns
    labels = share >= 240  # as `planHeads` of the widget's ablation_heads.js
    cell = min(26, (share - 12 - (62 if labels else 1)) // max(keys, 1))
    maps = lines * (cell * queries + 36 + (45 if labels else 0)) + 10 * lines
    title = 29 if traits.get("title") else 0
    output = 24 * len(traits.get("inputs", [])) + 39 * relations
    bars = 12 + 25 * (relations + (relations > 1))
    readout = 130 if width < 480 else 70
    return 4 + title + 40 + maps + 34 + output + bars + readout


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


def browse_height(traits: dict, width: int) -> int:
    """The same for the layer × head browser, of whatever kind and example are chosen."""
    kinds, examples, sizes = traits["kinds"], traits["_examples"], traits["_sizes"]
    room = width - 4
    heads = max(count for _, count in sizes.values())
    beside = room >= 560  # as `planFigure` of the widget's browse_layout.js
    share = (int(0.46 * room) if beside else room) - 48
    side = min(66, max(12, share // heads - 8))
    across = min(48 + heads * (side + 8), share + 48)
    grids, maps = [], []
    for kind, (layers, _) in sizes.items():
        numbers = 15 if kind in traits["_scores"] else 0
        bar = 15 if across < 48 + sizes[kind][1] * (side + 8) else 0
        grids.append(18 + layers * (side + 9 + numbers) + bar)
        for example in examples:
            queries = example["source" if kind == "encoder" else "target"]
            keys = example["target" if kind == "decoder" else "source"]
            large = room - across - 20 if beside else room
            maps.append(26 + large_height(queries, keys, large))
    figure = max(*grids, *maps) if beside else max(grids) + 20 + max(maps)
    longest = max(len(example["name"]) for example in examples)
    choices = {
        "kind": sum(22 + 7 * len(kind) for kind in kinds) if len(kinds) > 1 else 0,
        "example": 66 + min(240, 40 + 7 * longest) if len(examples) > 1 else 0,
    }
    narrow = width < 480
    if narrow:  # Reset stands beside the examples
        rows = 1 + (len(kinds) > 1 and len(examples) > 1)
    else:
        names = [name for name in choices if choices[name]]
        rows = max(1, control_rows(names, width, choices))
    title = 29 if traits.get("title") else 0
    entries = sum(any(e[links] for e in examples) for links in ("sure", "possible"))
    entries += bool(traits["_scores"] and traits.get("score_label"))
    lines = 1 + math.ceil(entries / 2) if narrow else 1
    legend, readout = 10 + 22 * lines, 88 if narrow else 48
    return round(4 + title + 34 * rows + 4 + figure + legend + readout)


def large_height(queries: list[str], keys: list[str], width: int) -> float:
    """Pixels of a map with labels: as `planLayout` of the widget's layout.js."""
    left = max(52, min(7.2 * max(map(len, queries)) + 10, 0.3 * width, 150))
    label = min(7.2 * max(map(len, keys)), 96)
    cell = min(52, (width - left - 2) / len(keys))
    flat = label + 6 <= cell
    lean = 0 if flat else max(0, label / 2 - cell / 2 + 8)
    cell = max(1, min(52, (width - left - 2 - lean) / len(keys)))
    top = 39 if flat else 32 + 0.87 * label
    return min(414, top + cell * len(queries) + 2)


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


def control_rows(
    controls: list[str], width: int, sizes: dict[str, int], *, reset: bool = True
) -> int:
    """Lines that a widget's controls, of these widths in order, and the reset button take."""
    if not controls:
        return 0
    rows, used = 1, 0
    names = [name for name in sizes if name in controls]
    for name in [*names, "reset"] if reset else names:
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
