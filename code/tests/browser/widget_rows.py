"""The widgets in a table: what each has to show and say, from Python's own numbers.

`test_every_widget.py` asks the same of each row; a new widget adds one. Only what a single widget
does has a file of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Context, Decimal

import numpy as np
import pytest
import torch
from attnbook_testing.alignments import AFTER, BEFORE, examples, score, verdict
from page_parts import cells, readout

import attnbook as ab
from attnbook import alibi_slopes, truncate
from attnbook.widgets import (
    AlignmentViewer,
    AttentionHeatmap,
    HaystackExplorer,
    HeadAblation,
    KernelRegression,
    LayerHeadBrowser,
    LocalWindow,
    NextTokenSampler,
    NormalizerExplorer,
    PatternDesigner,
    PositionExplorer,
)

WORD = '<img src="nowhere.png">'  # a label that must not become markup


@dataclass
class Row:
    """One widget: how it is made, and how the page must follow it."""

    make: Callable  # make(**options) -> the widget
    shows: Callable  # shows(page, widget) asserts that the page has Python's numbers
    heard: Callable  # heard(widget, place) -> how the live line begins at a place that a key led to
    controls: list  # (role, name, value, the traits that Python would set)
    keys: list  # (key or None, place)
    odd: Callable  # odd() -> widgets that are hard: labels of markup, nothing to show
    large: Callable  # large() -> widgets that hardly fit a phone
    rich: dict = field(default_factory=dict)  # options that show every part
    reset: str | None = "Reset"
    focus: str = "canvas[tabindex]"
    bare: Callable | None = None  # a widget without controls, where one can have none


def tensor(*shape, seed=0):
    return 2 * torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def assert_cells(rows, wanted):
    """Text as it is; a number as near as its digits say."""
    assert [len(row) for row in rows] == [len(row) for row in wanted]
    for row, wanted_row in zip(rows, wanted, strict=True):
        for text, want in zip(row, wanted_row, strict=True):
            if isinstance(want, str):
                assert text == want
            else:
                assert float(text.replace("< ", "")) == pytest.approx(want, abs=0.0011)


# The heat map

ENGLISH = "the black cat sat on the mat".split()
FRENCH = "le chat noir est assis".split()
HEADS = ["previous", "next", "itself", "first", "near", "same", "all", "noise"]
TOKENS = [*ENGLISH, "<pad>"]


def explorer(**options):
    """Two sequences, one of them half padding, and all that changes weights."""
    given = {"query_labels": TOKENS, "key_labels": TOKENS, "lengths": [7, 4], "scale": 4}
    given["controls"] = ("lengths", "causal", "temperature", "scale", "batch")
    return AttentionHeatmap(tensor(2, 8, 8), **(given | options))


def marks() -> torch.Tensor:
    """Gold for five queries over seven keys."""
    gold = torch.zeros(5, 7, dtype=torch.bool)
    gold[range(5), [0, 2, 1, 3, 3]] = True
    return gold


def compared_heads(**options):
    """Eight heads before and after, gold marks, steps: every part of the heat map."""
    given = {"query_labels": FRENCH, "key_labels": ENGLISH, "heads": True, "head_labels": HEADS}
    given |= {"compare": tensor(8, 5, 7, seed=1), "compare_labels": ["old", "new"]}
    given |= {"gold": marks(), "dim_later": True, "title": "everything at once", "scale": 4}
    given["controls"] = "head grid view lengths temperature causal scale step copy".split()
    return AttentionHeatmap(tensor(8, 5, 7), **(given | options))


def heatmap_shows(page, widget):
    """The hidden table has Python's weights, and the line below the map its hits."""
    gold = (
        np.frombuffer(widget._gold, bool).reshape(-1, *widget._shape[-2:]) if widget._gold else None
    )
    wanted = [
        [float(w) if ok else "masked" for w, ok in zip(*row, strict=True)]
        for row in zip(widget.weights(), widget.allowed(), strict=True)
    ]
    rows = [row[1:] for row in cells(page)]
    if gold is not None:
        assert [[" (gold)" in text for text in row] for row in rows] == gold[0].tolist()
        hits = {view: shown_hits(widget, view) for view in ("first", "second")}
        old, new = widget.compare_labels
        views = {"difference": f"{old} {hits['first']}, {new} {hits['second']}"}
        said = f"argmax in gold: {views.get(widget.view, hits.get(widget.view))} of "
        assert page.locator(".ah-hits").inner_text().startswith(said)
    assert_cells([[text.replace(" (gold)", "") for text in row] for row in rows], wanted)


def shown_hits(widget, view) -> int:
    was, widget.view = widget.view, view
    hits, _ = widget.hits()
    widget.view = was
    return hits


def heatmap_heard(widget, place):
    """A cell in words: its score, its divisor, its weight."""
    i, j = place
    head = f"query “{TOKENS[i]}” → key “{TOKENS[j]}”: "
    if not widget.allowed()[i, j]:
        return f"{head}masked (beyond the valid length {widget.lengths[0]}) → weight 0"
    score = np.frombuffer(widget._scores, "f4").reshape(widget._shape)[0, i, j]
    text = (
        f"{head}score {score:.3f} / 2.000 = {score / 2:.3f} → weight {widget.weights()[i, j]:.3f}"
    )
    return text.replace("-", "−")


ARROWS = [("ArrowDown", (1, 0)), ("ArrowDown", (2, 0)), ("ArrowRight", (2, 1)), ("Home", (2, 0))]
ARROWS += [("ArrowLeft", (2, 0)), ("PageDown", (7, 0)), ("End", (7, 7)), ("ArrowUp", (6, 7))]


def odd_heatmaps():
    named = {"query_labels": [WORD], "key_labels": [WORD], "title": WORD, "alt": WORD}
    empty = [AttentionHeatmap(torch.zeros(size), controls=["causal"]) for size in ((0, 3), (3, 0))]
    return [AttentionHeatmap([[0.0]], **named), *empty]


def odd_heads():
    named = {"heads": True, "head_labels": [WORD] * 2, "controls": ["grid", "head"]}
    return [AttentionHeatmap(tensor(2, 1, 1), **named)]


def large_heatmaps():
    words = [f"a rather long token {n}" for n in range(64)]
    large = AttentionHeatmap(torch.randn(64, 64), query_labels=words, key_labels=words)
    return [large, explorer(), compared_heads()]


# Kernel regression


def curve(x):
    return 2 * x.sin() + x**0.8


def regression(**options):
    """Fifty points, fifty queries, the truth."""
    generator = torch.Generator().manual_seed(0)
    x = 5 * torch.rand(50, generator=generator)
    y = curve(x) + torch.randn(50, generator=generator) / 2
    queries = torch.arange(0, 5, 0.1)
    given = {"queries": queries, "truth": curve(queries), "width": 0.5, "query": 2.5}
    return KernelRegression(x, y, **(given | options))


def kernel_said(widget) -> str:
    """What it has to say about its marked query."""
    row, fit = widget.row(), widget.fit()
    known = widget._y if widget.leave_one_out else widget._truth
    name = "its own y" if widget.leave_one_out else "truth"
    compared = f", {name} {known[row]:.2f}" if known else ""
    left = ", its own point left out" if widget.leave_one_out else ""
    text = f"query {widget.queries()[row]:.2f}{left}: "
    weights = widget.weights()[row]
    if weights.any():  # how many hold 95 % of the weight, the greatest first
        count = int((np.cumsum(np.sort(weights)[::-1]) < 0.95 - 1e-12).sum()) + 1
        text += f"fit {fit[row]:.2f}{compared}; {count} of {len(weights)} points "
        text += f"carr{'ies' if count == 1 else 'y'} 95% of the weight"
    else:
        text += f"no point in range, all weights 0, output 0{compared}"
    return text.replace("-", "−")


def kernel_shows(page, widget):
    """Line, error and hidden table are Python's."""
    assert readout(page) == kernel_said(widget)
    error = page.locator(".ak-error").inner_text()
    if np.isnan(widget.error()):
        assert error.strip() == ""
    else:
        number = page.locator(".ak-error output").inner_text()
        assert float(number) == pytest.approx(widget.error(), rel=0.006)
        assert ("left-out points" in error) == widget.leave_one_out
        empty = not widget.weights().any(axis=1).all()
        assert ("queries: no point in range" in error) == (empty and not widget.leave_one_out)
    rows = cells(page)
    wanted = [widget.queries(), widget.fit(), widget.weights()]
    assert len(rows) == len(wanted[0])
    for row, place, fit, weights in zip(rows, *wanted, strict=True):
        assert float(row[0]) == pytest.approx(place, abs=0.0051)
        if weights.any():
            assert float(row[1]) == pytest.approx(fit, abs=0.00051)
            assert row[-1].startswith(f"{widget._x[weights.argmax()]:.2f} ")
        else:
            assert row[1] == "no point in range" and row[-1] == "nothing"


def kernel_heard(widget, row):
    widget.query = widget._queries[row]
    return f"{kernel_said(widget)}"


# The positions explorer


def brief(x) -> str:
    """Three significant digits, ties away from zero as in the browser, no zeros at the end."""
    rounded = Context(prec=3, rounding=ROUND_HALF_UP).create_decimal(x)
    return f"{float(rounded):.12g}"


def positions_said(widget) -> str:
    """What it has to say about the marked place."""
    place, column, other = widget.marked()
    offset, value, likeness = other - place, widget.curve()[place], widget.similarity()[other]
    sign = f"{offset:+d}" if offset else "0"
    if widget.kind == "alibi":
        slope = brief(alibi_slopes(widget.num_heads)[column].item())
        text = f"query {place}, head {column + 1} (slope {slope}); key {other}, offset {sign}: "
        text += f"bias {widget.curve()[other]:.2f}, factor {likeness:.2f}"
    else:
        sine = (column % 2 == 0) == (widget.kind == "sinusoidal")
        period = 2 * np.pi * widget.base ** (2 * (column // 2) / widget.columns())
        name = "score" if widget.kind == "rotary" else "similarity"
        text = f"place {place}, feature {column} ({'sine' if sine else 'cosine'}, period "
        text += f"{brief(period)} places): {value:.2f}; "
        text += f"offset {sign}: {name} {likeness:.2f}"
    return text.replace("-0.00", "0.00").replace("-", "−")


def positions_shows(page, widget):
    """Line and hidden table are Python's."""
    assert readout(page) == positions_said(widget)
    everywhere = np.arange(widget.places)
    wanted = [everywhere, everywhere - widget.place, widget.curve(), widget.similarity()]
    np.testing.assert_allclose(np.array(cells(page), float).T, wanted, atol=0.00051)


def positions_heard(widget, traits):
    for name, value in traits.items():
        setattr(widget, name, value)
    return positions_said(widget)


POSITION_KEYS = [(None, {}), ("ArrowDown", {"place": 21}), ("ArrowRight", {"column": 9})]
POSITION_KEYS += [("PageDown", {"offset": 6}), ("ArrowLeft", {"column": 8})]
POSITION_KEYS += [("PageUp", {"offset": 5}), ("ArrowUp", {"place": 20})]
POSITION_KEYS += [("End", {"place": 63}), ("Home", {"place": 0})]
POSITION_CONTROLS = [
    ("radio", "Rotary", None, {"kind": "rotary"}),
    ("radio", "ALiBi", None, {"kind": "alibi"}),
    ("slider", "Heads", "ArrowLeft", {"num_heads": 7}),
    ("slider", "Head", "Home", {"column": 0}),
    ("radio", "Sinusoidal", None, {"kind": "sinusoidal"}),
    ("slider", "Features", "End", {"d_model": 64}),
    ("slider", "Feature", "End", {"column": 63}),
    ("slider", "Base", "Home", {"base": 10.0}),
    ("slider", "Place", "End", {"place": 63}),  # the offset stops at the last place
    ("slider", "Offset", "Home", {"offset": -63}),
]
KINDS = ("sinusoidal", "rotary", "alibi")


def large_positions():
    size = {"places": 512, "d_model": 64, "num_heads": 16, "title": "Many"}
    return [PositionExplorer(kind=kind, **size) for kind in KINDS]


def odd_positions():
    least = {"places": 2, "d_model": 1, "num_heads": 1, "place": 0, "column": 0}
    return [
        PositionExplorer(title=WORD, alt=WORD),
        *(PositionExplorer(kind=k, **least) for k in KINDS),
    ]


# The layer × head browser

SIZES = {"encoder": (2, 3), "decoder": (3, 2), "cross": (2, 3)}
SENTENCES = [
    ("the red house .", "<s> la maison rouge ."),
    ("a cat sleeps today", "un chat dort"),
]


def random_rows(random, shape, causal):
    """Weights of rows that sum to 1, some of them zero; no later key where `causal`."""
    raw = random.random(shape) ** 3 + 0.01
    raw[random.random(shape) < 0.1] = 0
    raw = np.tril(raw) if causal else raw
    return raw / np.maximum(raw.sum(-1, keepdims=True), 1e-9)


def browsed(seed=0, sentences=SENTENCES, sizes=SIZES):
    """Examples for the browser, with weights drawn by `seed`."""
    random = np.random.default_rng(seed)
    made = []
    for source, target in sentences:
        k, q = len(source.split()), len(target.split())
        shapes = {"encoder": (k, k), "decoder": (q, q), "cross": (q, k)}
        weights = {n: random_rows(random, (*sizes[n], *shapes[n]), n == "decoder") for n in sizes}
        made.append({"source": source.split(), "target": target.split(), **weights})
    return made


def browser_of(**options):
    """Two sentences, the first with links, a number under each cross map."""
    made = browsed()
    made[0] |= {"sure": {(1, 0), (2, 2)}, "possible": {(3, 1)}}
    scores = {"cross": np.arange(6).reshape(2, 3) / 10 + 0.05}
    return LayerHeadBrowser(made, **({"scores": scores, "score_label": "hit rate"} | options))


def two_digits(w) -> str:
    if w == 0:
        return "0"
    return "< 0.01" if w < 0.005 else f"{w:.2f}"


def cell_said(widget, place) -> str:
    """What the browser has to say of a cell."""
    i, j = place
    queries, keys = widget.tokens()
    mark = " (possible)" if widget.gold("possible")[i, j] else ""
    if widget.gold("sure")[i, j]:
        mark = " (sure)" if widget.gold("possible").any() else " (gold)"
    text = f"layer {widget.layer}, head {widget.head}: query “{queries[i]}” → key “{keys[j]}”{mark}"
    if not widget.allowed()[i, j]:
        return f"{text}: masked (later than the query) → weight 0"
    return f"{text} → weight {two_digits(widget.weights()[i, j])}"


def browser_shows(page, widget):
    """The marked small map, the heading and the hidden table are Python's."""
    head = f"layer {widget.layer}, head {widget.head}"
    caption = page.locator(".ah-hidden caption").text_content()
    assert f"{widget.kind.title()}, {head}" in caption and widget.alt in caption
    assert page.locator(".lb-heading b").inner_text() == head
    chosen = page.locator("button[role=radio][aria-checked=true]")
    number = widget._scores.get(widget.kind)
    number = f", hit rate {number[widget.layer][widget.head]:.2f}" if number else ""
    assert chosen.get_attribute("aria-label") == head + number
    assert page.locator("button[role=radio]").count() == np.prod(SIZES[widget.kind])
    queries, keys = widget.tokens()
    assert page.locator(".ah-hidden tr").first.locator("th").all_inner_texts() == ["query", *keys]
    weights, allowed, sure = widget.weights(), widget.allowed(), widget.gold("sure")
    wanted = [
        [queries[i]]
        + [
            (two_digits(weights[i, j]) if allowed[i, j] else "masked")
            + " (gold)" * bool(sure[i, j])
            for j in range(len(keys))
        ]
        for i in range(len(queries))
    ]
    assert cells(page) == [[text.replace("−", "-") for text in row] for row in wanted]


BROWSER_CONTROLS = [
    ("radio", "Decoder", None, {"kind": "decoder"}),
    ("radio", "layer 2, head 1", None, {"layer": 2, "head": 1}),
    ("radio", "Cross", None, {"kind": "cross"}),
    ("radio", "layer 1, head 2, hit rate 0.55", None, {"layer": 1, "head": 2}),
    ("combobox", "Example", "1", {"example": 1}),
]


def large_browsers():
    many = browsed(sizes={"encoder": (3, 12), "cross": (1, 2)})
    return [LayerHeadBrowser(many, scores={"encoder": np.ones((3, 12))}), browser_of(kind="cross")]


def odd_browsers():
    named = [{"name": WORD, "source": [WORD, "b"], "encoder": np.full((1, 1, 2, 2), 0.5)}] * 2
    return [
        LayerHeadBrowser(named, title=WORD, alt=WORD, score_label=WORD),
        LayerHeadBrowser([{"source": ["a"], "encoder": np.ones((1, 1, 1, 1))}]),
    ]


# The alignment viewer

MODELS = (BEFORE, AFTER)
VERDICTS = {
    "sure": "on a sure link",
    "possible": "on a possible link",
    "miss": "not on a gold link",
    "none": "no gold link to hit",
    "nothing": "all weights are zero",
}


def viewer(**options):
    return AlignmentViewer(examples(), **options)


def cards(page) -> list[dict]:
    """The texts of the cards that are shown."""
    return page.evaluate(
        """() => [...document.querySelectorAll(".al-panel")].filter((p) => !p.hidden).map((p) => ({
          token: p.querySelector(".al-token b").textContent,
          where: p.querySelector(".al-where").textContent,
          verdict: p.querySelector(".al-verdict").textContent.slice(1),
          kind: p.querySelector(".al-verdict").dataset.verdict,
          candidates: [...p.querySelectorAll(".al-candidates .al-word")].map((w) => w.textContent),
          chosen: [...p.querySelectorAll(".al-chosen .al-word")].map((w) => w.textContent),
          scores: [...p.querySelectorAll(".al-score p:not(.al-note)")].map((s) => s.textContent),
        }))"""
    )


def gold_said(example, i) -> str:
    """The gold links of a token in words, from the example itself."""
    sure, possible = ({j for q, j in example[kind] if q == i} for kind in ("sure", "possible"))
    names = [
        f"“{word}”" + ("" if j in sure else " (possible)")
        for j, word in enumerate(example["source"])
        if j in sure | possible
    ]
    return f"gold: {', '.join(names) or 'no link'}"


def score_said(example, model, step, links) -> str:
    hits, of = score(example, model, step, links)
    percent = f" ({int(100 * hits / of + 0.5)}%)" if of else ""
    return f"{hits} of {of}{percent} on a {'sure' if links == 'sure' else 'sure or possible'} link"


def assert_card(card, example, model, step):
    """Where the weight went, the verdict and the score, beside plain loops over the example."""
    row = np.asarray(example["weights"][model])[step]
    assert card["token"] == example["target"][step]
    weight, where = re.match(r"([\d.]+) on (.*)", card["where"]).groups()
    assert float(weight) == pytest.approx(row.max(), abs=0.0051)
    assert where == f"“{example['source'][row.argmax()]}”, {gold_said(example, step)}"
    kind = verdict(example, model, step)
    assert (card["kind"], card["verdict"]) == (kind, VERDICTS[kind])
    kinds = ("sure", "possible") if example["possible"] else ("sure",)
    assert card["scores"] == [score_said(example, model, step, links) for links in kinds]
    tokens = [token for token, _ in example["candidates"][model][step]]
    assert card["candidates"] == tokens[:3]
    assert card["chosen"] == [token for token in tokens[:3] if token == example["target"][step]]


def assert_step_table(rows, example, model):
    """The hidden table: every target token, its strongest weights, its gold, the verdict."""
    assert [row[0] for row in rows] == example["target"]
    for i, (_, strongest, gold, where) in enumerate(rows):
        weights = np.asarray(example["weights"][model])[i]
        found = re.findall(r"(\S+) (?:< )?([\d.]+)(?: \((\w+)\))?(?:, |$)", strongest)
        best = np.argsort(-weights, kind="stable")[:3]
        for (name, weight, mark), j in zip(found, best, strict=True):
            assert name == example["source"][j]
            assert float(weight) == pytest.approx(weights[j], abs=0.0011)
            assert mark == next((k for k in ("sure", "possible") if (i, j) in example[k]), "")
        assert f"gold: {gold}" == gold_said(example, i)
        assert where == VERDICTS[verdict(example, model, i)]


def alignment_shows(page, widget):
    """The cards and tables of the models that are shown, and what is drawn: maps or lines."""
    example = examples()[widget.example]
    shown = MODELS if widget.side_by_side else [widget.model]
    for n, (card, model) in enumerate(zip(cards(page), shown, strict=True)):
        assert_card(card, example, model, widget.step)
        place = n if widget.side_by_side else MODELS.index(model)
        tables = page.locator(".ah-hidden table").all()
        visible = [table for table in tables if not table.evaluate("(node) => node.hidden")]
        assert len(visible) == len(shown), place
        rows = visible[n].evaluate(
            """(table) => [...table.querySelectorAll("tr")].slice(1).map(
              (row) => [...row.children].map((cell) => cell.textContent))"""
        )
        assert_step_table(rows, example, model)
    lines = page.locator(".al-lines:visible").count()
    maps = page.locator(".ah-map:visible").count()
    assert (maps, lines) == ((len(shown), 0) if widget.view == "map" else (0, len(shown)))
    assert page.get_by_role("slider").input_value() == str(widget.step + 1)
    if widget.side_by_side:
        assert page.locator(".al-model:visible").all_inner_texts() == list(MODELS)


def alignment_heard(widget, place):
    """A step, said with its score; or a cell of its row."""
    example, (step, j) = examples()[0], place
    if j is None:
        hits, of = score(example, BEFORE, step, "sure")
        row = widget.weights()[step]
        return (
            f"Step {step + 1} of 15. {BEFORE}: “{example['target'][step]}”: "
            f"{two_digits(row.max())} on “{example['source'][row.argmax()]}”, "
            f"{gold_said(example, step)}; {VERDICTS[verdict(example, BEFORE, step)]}. "
            f"argmax so far: {hits} of {of} on a sure link"
        )
    mark = " (sure)" if (step, j) in example["sure"] else ""
    head = f"“{example['target'][step]}” → “{example['source'][j]}”{mark}: "
    padding = j >= example["source_len"]
    return head + ("masked, padding" if padding else f"weight {widget.weights()[step, j]:.3f}")


STEP_KEYS = ["ArrowDown", "ArrowDown", "ArrowUp", "PageDown", "ArrowDown", "PageUp", "ArrowUp"]
ALIGNMENT_KEYS = [
    (key, (step, None)) for key, step in zip(STEP_KEYS, (5, 6, 5, 14, 14, 0, 0), strict=True)
]
CELL_KEYS = ["ArrowRight", "ArrowRight", "ArrowRight", "ArrowLeft", "Home", "ArrowLeft", "End"]
ALIGNMENT_KEYS += [("ArrowDown", (1, None))]
ALIGNMENT_KEYS += [(key, (1, j)) for key, j in zip(CELL_KEYS, (0, 1, 2, 1, 0, 0, 14), strict=True)]


def odd_alignments():
    example = {"source": [WORD], "target": [WORD], "weights": {WORD: [[1.0]]}, "name": WORD}
    example |= {"classes": [WORD], "candidates": {WORD: [[(WORD, 1.0)]]}, "sure": {(0, 0)}}
    one = {"source": ["<pad>"], "target": ["x"], "weights": {"m": [[0.0]]}, "source_len": 0}
    named = [AlignmentViewer([example] * 2, title=WORD, alt=WORD, view=v) for v in ("map", "lines")]
    return [*named, AlignmentViewer([one])]


# Head ablation


def two_heads(**options):
    """Two heads, each of which alone knows one of two answers, over three queries."""
    weights = np.stack((np.eye(3), np.eye(3)[::-1]))[None].repeat(2, axis=0)  # (b, h, q, k)
    answers = np.array([[[0, 3], [1, 2], [2, 1]], [[3, 3], [3, 3], [3, 3]]])
    added = np.zeros((2, 2, 3, 2, 4))
    for r in range(2):
        np.put_along_axis(added[:, r, :, r], answers[..., r, None], 5.0, axis=-1)
    given = {"base": np.array([[0.5, 0, 0, 0], [0.5, 0, 0, 0]]), "relations": ["left", "match"]}
    given |= {"query_labels": [["q0", "q1", "q2"], ["r0", "r1", "r2"]]}
    given |= {"key_labels": ["k0", "k1", "k2"], "title": "take a head out", "alt": "Two heads."}
    given |= {"inputs": {"token": [["a", "b", "c"], ["d", "e", "f"]]}}
    return HeadAblation(weights, added, answers, **(given | options))


def ablation_said(widget, q) -> str:
    """How the answers of a query come about."""
    b, out = widget.batch, widget.ablated
    answers = np.frombuffer(widget._answers, np.uint8).reshape(widget.right().shape)
    base = np.frombuffer(widget._base, "f4").reshape(2, -1)
    parts = []
    for r, name in enumerate(widget.relations):
        said, right = widget.logits()[b, q, r].argmax(), answers[b, q, r]
        good = "right" if said == right else f"wrong, {right} is right"
        heads = (
            f"head {h} " + ("out" if h in out else f"{widget.added()[b, h, q, r, right]:+.1f}")
            for h in range(2)
        )
        parts.append(
            f"{name} {said}, {good} (logit of {right}: {base[r, right]:.1f} without heads, "
            f"{', '.join(heads)})"
        )
    return f"{widget.query_labels[b][q]}: {'; '.join(parts)}."


def ablation_shows(page, widget):
    """Switches, answers, scores and the line are Python's."""
    heads = range(2)
    switches = page.get_by_role("switch").all()
    states = [switch.get_attribute("aria-checked") for switch in switches]
    assert states == [str(h not in widget.ablated).lower() for h in heads]
    words = page.locator(".ab-state").all_inner_texts()
    assert words == ["out" if h in widget.ablated else "in" for h in heads]
    right, logits = widget.right(), widget.logits()[widget.batch]
    counts = [*right.sum(axis=(0, 1)), right.all(axis=-1).sum()]
    total = right[..., 0].size
    scores = page.locator(".ab-score output").all_inner_texts()
    assert scores == [f"{count} of {total}" for count in counts]
    said = page.locator(".ab-said > span").all_inner_texts()
    assert said == [str(n) for n in logits.argmax(-1).T.ravel()]
    assert page.locator(".ab-wrong").count() == (~right[widget.batch]).sum()
    assert page.locator(".ab-input").all_inner_texts() == widget.inputs[0][1][widget.batch]
    if widget.query is not None:
        assert readout(page) == ablation_said(widget, widget.query)
        assert page.locator(".ab-here").count() == 3  # one line of tokens, two of answers


def ablation_heard(widget, query):
    return "" if query is None else ablation_said(widget, query)


ABLATION_CONTROLS = [
    ("switch", "head 0", None, {"ablated": [0]}),
    ("switch", "head 1", None, {"ablated": [0, 1]}),
    ("switch", "head 0", None, {"ablated": [1]}),
    ("combobox", "Sequence", "1", {"batch": 1}),
    ("combobox", "Sequence", "0", {"batch": 0}),
]


def large_ablations():
    weights = np.full((1, 12, 30, 30), 1 / 30)
    answers = np.zeros((1, 30, 1), int)
    return [two_heads(), HeadAblation(weights, np.zeros((1, 12, 30, 1, 2)), answers)]


def odd_ablations():
    one = np.ones((1, 1, 1, 1))
    named = HeadAblation(
        one, np.ones((1, 1, 1, 1, 2)), [[[0]]], relations=[WORD], query_labels=[WORD],
        key_labels=[WORD], inputs={WORD: [WORD]}, title=WORD, alt=WORD,
    )  # fmt: skip
    return [named]


# The next-token sampler

LETTERS = ["a", " ", "b", "\n", *"cdefghijklmno"]  # more than have a line of their own


def sampler(**options):
    """A table of all pairs of seventeen letters, some of which never meet."""
    logits = tensor(17, 17).double()
    logits[torch.arange(17), (torch.arange(17) + 5) % 17] = -torch.inf
    given = {"follow": np.arange(17), "prompt": "go b", "start": 2, "seed": 3}
    return NextTokenSampler(logits, LETTERS, **(given | options))


def three_digits(w) -> str:
    if w == 0:
        return "0"
    return "< 0.001" if w < 0.0005 else f"{w:.3f}"


def seen(token: str) -> str:
    return token.replace(" ", "␣").replace("\n", "⏎").replace("\t", "⇥") or "∅"


def sampler_shares(widget) -> tuple:
    """By id: the model's shares, those at this temperature, those of the draw, what cut each."""
    own = torch.tensor(widget.log_probs())
    sharp = truncate(own, temperature=widget.temperature)
    left = [sharp, *(sharp,) * 3]
    settings = {}
    for n, name in enumerate(("top_k", "top_p", "min_p"), start=1):
        settings[name] = getattr(widget, name)
        left[n] = truncate(own, temperature=widget.temperature, **settings)
    cuts = [
        next((name for x, name in zip(left[1:], SAMPLER_CUTS, strict=True) if x[i].isinf()), "")
        for i in range(len(own))
    ]
    return own.exp().numpy(), sharp.exp().numpy(), widget.probabilities(), cuts


SAMPLER_CUTS = ("top-k", "top-p", "min-p")


def sampler_order(widget) -> list[int]:
    return np.argsort(-widget.log_probs(), kind="stable").tolist()


def sampler_token(widget, i) -> str:
    """What it says of one token."""
    own, sharp, drawn, cuts = sampler_shares(widget)
    text = f"“{seen(widget.tokens[i])}”: model {three_digits(own[i])}"
    if widget.temperature != 1:
        text += f", at temperature {widget.temperature:.2f} {three_digits(sharp[i])}"
    return text + (f", cut by {cuts[i]}" if cuts[i] else f", drawn with {three_digits(drawn[i])}")


def sampler_shows(page, widget):
    """Text, line and hidden table are Python's."""
    assert page.locator(".ns-text").text_content() == widget.text()
    if widget.state() is None:
        assert readout(page).startswith("Nothing is held after this token.")
        assert cells(page) == []
        return
    own, sharp, drawn, cuts = sampler_shares(widget)
    left, v = int((drawn > 0).sum()), len(drawn)
    part = sharp[drawn > 0].sum()
    wanted = f"{left} of {v} tokens can be drawn; they have "
    assert readout(page).startswith(wanted if left < v else f"All {v} tokens can be drawn")
    if left < v and part < 0.999:
        assert readout(page) == f"{wanted}{part:.3f} of the probability"
    rows = []
    for i in sampler_order(widget):
        fate = f"cut: {cuts[i]}" if cuts[i] and own[i] else three_digits(drawn[i])
        rows.append([seen(widget.tokens[i]), three_digits(own[i]), three_digits(sharp[i]), fate])
    assert cells(page) == rows


def sampler_heard(widget, rank):
    return sampler_token(widget, sampler_order(widget)[rank])


def sampler_path(count, back=0, **settings) -> list[int]:
    """What a new one with these settings writes."""
    widget = sampler(**settings)
    for _ in range(count):
        widget.draw()
    return widget.path[: count - back]


SAMPLER_SET = {"temperature": 3.0, "top_k": 16, "top_p": 0.99}
SAMPLER_CONTROLS = [
    ("slider", "Temperature", "End", {"temperature": 3.0}),
    ("slider", "Top-k", "ArrowLeft", {"top_k": 16}),
    ("slider", "Top-p", "ArrowLeft", {"top_p": 0.99}),
    ("button", "Draw a token", None, {"path": sampler_path(1, **SAMPLER_SET)}),
    ("button", "Draw ten", None, {"path": sampler_path(11, **SAMPLER_SET)}),
    ("button", "Take one back", None, {"path": sampler_path(11, 1, **SAMPLER_SET)}),
    ("slider", "Min-p", "End", {"min_p": 1.0}),
    ("slider", "Min-p", "ArrowLeft", {"min_p": 0.99}),
    ("slider", "Top-k", "Home", {"top_k": 1}),
    ("slider", "Temperature", "Home", {"temperature": 0.1}),
]
SAMPLER_KEYS = [(None, 0), ("ArrowDown", 1), ("ArrowDown", 2), ("End", 11), ("ArrowUp", 10)]
SAMPLER_KEYS += [("Home", 0), ("ArrowUp", 0)]


def odd_samplers():
    return [
        NextTokenSampler([[0.0, 1.0]], [WORD, ""], prompt=WORD, title=WORD, alt=WORD),
        NextTokenSampler([0.0], ["a"]),
        NextTokenSampler([0.0, 1.0], ["a", "b"], path=[1], end=1),
    ]


def large_samplers():
    v = 141
    words = [f"a rather long word {n}" for n in range(v)]
    path = list(range(100))
    many = NextTokenSampler(tensor(v, v), words, follow=np.arange(v), joiner=" ", path=path)
    return [many, sampler(title="Letters", path=list(range(17)) * 9, prompt="a" * 500)]


# The window


def window(**options):
    """Nine keys, the best of them outside."""
    scores = [0.3, -1.0, 0.5, 1.2, -0.4, 0.0, 2.0, 0.1, 3.0]
    given = {"gold": [3, 8], "centre": 2.5, "radius": 2}
    return LocalWindow(scores, [*TOKENS, "<eos>"], **(given | options))


def window_said(widget) -> str:
    """What it has to say about its window."""
    inside, whole = widget.allowed(), widget.weights(local=False)
    text = f"centre {widget.centre:.1f}, radius {widget.radius}: {inside.sum()} of {len(inside)} "
    text += "keys in the window"
    if widget.gold:
        lost = sum(not inside[j] for j in widget.gold)
        text += f"; gold outside: {lost} of {len(widget.gold)}"
    outside = three_digits(whole[~inside].sum())
    text += f"; outside lies {outside} of the global weight; "
    return text + f"the row sums to {widget.weights().sum():.2f}"


def window_shows(page, widget):
    """Line and hidden table are Python's."""
    assert readout(page) == window_said(widget)
    rows = []
    given = widget.labels, widget.weights(local=False), widget.weights(), widget.allowed()
    for j, (label, far, near, inside) in enumerate(zip(*given, strict=True)):
        name = f"{label} (gold)" if j in widget.gold else label
        rows.append([name, three_digits(far), three_digits(near) if inside else "outside"])
    assert cells(page) == rows


def window_heard(widget, centre):
    widget.centre = centre
    return window_said(widget)


WINDOW_CONTROLS = [
    ("slider", "Centre", "End", {"centre": 8.0}),
    ("slider", "Centre", "ArrowLeft", {"centre": 7.9}),
    ("slider", "Radius", "ArrowRight", {"radius": 3}),
    ("combobox", "Bell", "scores", {"bell": "scores"}),
    ("combobox", "Bell", "none", {"bell": "none"}),
    ("slider", "Radius", "End", {"radius": 9}),
    ("slider", "Radius", "Home", {"radius": 1}),
]
WINDOW_KEYS = [(None, 2.5), ("ArrowDown", 3.5), ("ArrowUp", 2.5), ("End", 8), ("ArrowDown", 8)]
WINDOW_KEYS += [("Home", 0), ("ArrowUp", 0)]


# The explorer of normalisers


def normalizer(**options):
    """Three keys, so that the simplex is there; the last is left out by three of the four."""
    given = {"scores": [1.0, 0.6, -0.8], "slopes": [0.5, -1.0, -0.25], "normalizer": "entmax"}
    return NormalizerExplorer(**(given | options))


def move_text(x) -> str:
    if abs(x) < 1e-9:
        return "0"
    return ("+" if x > 0 else "−") + three_digits(abs(x))


def normalizer_said(widget) -> str:
    names = {"softmax": "softmax", "entmax": "entmax 1.5", "sparsemax": "sparsemax"}
    weights, moves = widget.weights(), np.abs(widget.moves())
    text = f"{names.get(widget.normalizer, f'top-{widget.k}')}: {(weights > 0).sum()} of "
    text += f"{len(weights)} keys kept, the largest weight is {three_digits(weights.max())}; "
    return text + f"a step moves {(moves >= 1e-9).sum() or 'none'} of the scores"


def signed(x) -> str:
    return f"{x:.2f}".replace("-", "−")


def normalizer_shows(page, widget):
    """Line and hidden table are Python's."""
    assert readout(page) == normalizer_said(widget)
    given = widget.labels, widget.scores, widget.weights(), widget.moves()
    wanted = [
        [label, signed(score), three_digits(weight), move_text(move)]
        for label, score, weight, move in zip(*given, strict=True)
    ]
    assert cells(page) == [[text.replace("−", "-") for text in row] for row in wanted]


def normalizer_heard(widget, place):
    key, score = place
    widget.scores = [score if j == key else s for j, s in enumerate(widget.scores)]
    weight, move = three_digits(widget.weights()[key]), move_text(widget.moves()[key])
    text = f"{widget.labels[key]}: score {signed(score)} → weight {weight}, "
    return text + f"a step moves the score by {move}"


NORMALIZER_CONTROLS = [
    ("combobox", "Normaliser", "sparsemax", {"normalizer": "sparsemax"}),
    ("combobox", "Normaliser", "top-k", {"normalizer": "top_k"}),
    ("slider", "k", "End", {"k": 3}),
    ("slider", "k", "Home", {"k": 1}),
    ("combobox", "Normaliser", "softmax", {"normalizer": "softmax"}),
]
NORMALIZER_KEYS = [(None, (0, 1.0)), ("ArrowRight", (0, 1.1)), ("ArrowDown", (1, 0.6))]
NORMALIZER_KEYS += [("Home", (1, -3.0)), ("ArrowLeft", (1, -3.0)), ("ArrowDown", (2, -0.8))]
NORMALIZER_KEYS += [("ArrowDown", (2, -0.8)), ("End", (2, 3.0))]


def odd_normalizers():
    named = {"title": WORD, "alt": WORD}
    return [NormalizerExplorer([0.0, 0.0], [WORD, ""], **named), normalizer(labels=[WORD] * 3)]


def large_normalizers():
    words = [f"a rather long word {n}" for n in range(8)]
    scores = tensor(8).clamp(-3, 3)
    return [NormalizerExplorer(scores, words, title="Eight keys"), normalizer()]


def odd_windows():
    named = {"title": WORD, "alt": WORD, "radius": 1}
    return [LocalWindow([0.0, 1.0], [WORD, ""], **named), LocalWindow([0.0], radius=1)]


def large_windows():
    words = [f"a rather long word {n}" for n in range(40)]
    return [LocalWindow(tensor(40), words, title="Forty keys", centre=20.0, radius=5), window()]


# The pattern designer


def designed(**options):
    """A window and one place for all, and not what comes later."""
    terms = [("window", {"width": 3}), ("|", "global", {"places": [4]}), ("&", "causal")]
    return PatternDesigner(**({"n": 24, "terms": terms, "layers": 2, "query": 20} | options))


def half_up(x) -> str:
    """One digit after the point, as the browser rounds."""
    return str(Decimal(float(x)).quantize(Decimal("0.1"), ROUND_HALF_UP))


def in_layers(count) -> str:
    return f"{count} layer" if count == 1 else f"{count} layers"


def pattern_said(widget) -> list[str]:
    """What it has to say of its mask, and of what its query reaches."""
    n, mask, pairs = widget.n, widget.mask(), widget.pairs()
    counts, query = mask.sum(1), min(widget.query, widget.n - 1)
    kept = f"Pairs kept: {pairs:,} of {n * n:,}, {half_up(100 * pairs / (n * n))}%"
    if pairs and not mask.triu(1).any():
        kept += f"; of the causal half {half_up(100 * pairs / (n * (n + 1) / 2))}%"
    least, empty = int(counts.argmin()), int((counts == 0).sum())
    poorest = f"fewest {counts[least]}, for query {least}"
    if empty:
        some = "1 query" if empty == 1 else f"{empty} queries"
        poorest = f"{some} may attend to nothing, first {least}"
    reached, ever = int(widget.reach().sum()), int(widget.reach(n).sum())
    return [
        f"{kept}.",
        f"Keys of a query: {half_up(pairs / n)} on average; {poorest}.",
        f"Query {query} reaches {reached} of {n} places in {in_layers(widget.layers)}; "
        f"all that it can ever reach, {ever}, in {in_layers(widget.layers_needed())}.",
    ]


def pattern_shows(page, widget):
    """Lines and hidden table are Python's, and so is the mask of the Python that is printed."""
    assert readout(page).split("\n") == pattern_said(widget)
    text = page.locator(".pd-code").inner_text()
    assert torch.equal(eval(text, {"ab": ab, "torch": torch}), widget.mask())
    first = [widget.reach(layers) for layers in range(widget.n + 1)]
    rows = []
    for i, count in enumerate(widget.mask().sum(1)):
        when = next((layers for layers, reached in enumerate(first) if reached[i]), None)
        said = "never" if when is None else in_layers(when) if when else "its own place"
        rows.append([str(i), str(int(count)), said])
    assert cells(page) == rows


def pattern_heard(widget, traits):
    for name, value in traits.items():
        setattr(widget, name, value)
    return " ".join(pattern_said(widget))


PATTERN_TERMS = designed().terms
BACKWARDS = ("window", {"width": 2, "causal": True})
PATTERN_CONTROLS = [
    ("slider", "Places", "ArrowRight", {"n": 32}),
    ("slider", "Layers", "End", {"layers": 12}),
    ("slider", "Query", "End", {"query": 31}),
    ("spinbutton", "width", "2", {"terms": [("window", {"width": 2}), *PATTERN_TERMS[1:]]}),
    ("checkbox", "causal", None, {"terms": [BACKWARDS, *PATTERN_TERMS[1:]]}),
    ("button", "Remove term 1", None, {"terms": PATTERN_TERMS[1:]}),
    ("textbox", "places", "9, 2", {"terms": [("global", {"places": [9, 2]}), ("&", "causal")]}),
    ("slider", "Places", "Home", {"n": 8}),  # without place 9; the query stops at the last
    ("combobox", "Operator", "|", {"terms": [("global", {"places": [9, 2]}), ("|", "causal")]}),
    ("combobox", "Pattern", "block", {"terms": ["block", ("|", "causal")]}),
]
PATTERN_KEYS = [(None, {}), ("ArrowDown", {"query": 21}), ("ArrowUp", {"query": 20})]
PATTERN_KEYS += [("ArrowRight", {"layers": 3}), ("ArrowLeft", {"layers": 2})]
PATTERN_KEYS += [("End", {"query": 23}), ("ArrowDown", {"query": 23}), ("Home", {"query": 0})]


def odd_patterns():
    return [
        PatternDesigner(1, ["full"], title=WORD, alt=WORD),
        PatternDesigner(9, [("global", {"places": []}), ("&", "random", {"count": 0})]),
    ]


def large_patterns():
    terms = ["window", ("|", "dilated"), ("|", "random", {"seed": 256}), ("&", "causal")]
    return [PatternDesigner(256, terms, layers=12, query=255, title="Four"), designed()]


# The haystack explorer


def haystack(**options):
    """A short last block, and a budget between two of the slider's."""
    given = {"query": 1, "block": 8, "seed": 3}
    return HaystackExplorer(tensor(44, 6), tensor(5, 6, seed=1), **(given | options))


def digits(x, count) -> str:
    """Digits after the point, as the browser rounds, and its minus sign."""
    rounded = Decimal(float(x)).quantize(Decimal(1).scaleb(-count), ROUND_HALF_UP)
    return f"{rounded + 0:.{count}f}".replace("-", "−")


def haystack_said(widget) -> list[str]:
    """What it has to say of its query, of the cost, of all queries."""
    keys, queries = widget.rounded()
    (n, d), q, i = keys.shape, len(queries), widget.query
    kept, share = widget.kept().sum(-1), widget.weight_kept()
    blocks, rounds, clusters = -(-n // widget.block), widget.rounds, widget.clusters
    inside = min(blocks, max(1, widget.budget // widget.block))
    looked = min(clusters, widget.nearest)
    least = "the least, more than" if min(widget.block, n) > widget.budget else "all that fit into"
    whole = f" ({least} the budget of {widget.budget})" * bool(widget.budget % widget.block)
    why = {
        "mean": f"in {inside} of {blocks} block{'s' * (blocks > 1)}{whole}",
        "indexer": "the best by the indexer",
        "hash": "all in its bucket" + f" in any of {rounds} rounds" * (rounds > 1),
        "cluster": f"all in {looked} of {clusters} cluster{'s' * (clusters > 1)}",
    }[widget.scorer]
    fate, mean = "found" if widget.found()[i] else "missed", kept.double().mean()
    return [
        f"Query {i} looks for key {widget.needles[i]}: {fate}.",
        f"Kept: {kept[i]} of {n} keys, {why}; they hold {three_digits(share[i])} of the weight.",
        f"Multiplications: {widget.spent():,} to choose, {kept[i] * d:,} to score what is kept; "
        f"dense attention {n * d:,}.",
        f"All {q} queries: needle found for {widget.found().sum()}; on average "
        f"{digits(mean, 1)} keys kept, with {three_digits(share.mean())} of the weight.",
    ]


def haystack_key(widget, j) -> tuple[str, str, float, str]:
    """A key of the shown query: its name, weight, cheap score and fate."""
    i = widget.query
    needle = " (needle)" * (widget.needles[i] == j)
    fate = "kept" if widget.kept()[i, j] else "left out"
    score = widget.scores()[i, j].item()
    return f"key {j}{needle}", three_digits(widget.weights()[i, j]), score, fate


def haystack_shows(page, widget):
    """Lines and hidden table are Python's."""
    assert readout(page).split("\n") == haystack_said(widget)
    keys = [haystack_key(widget, j) for j in range(len(widget.rounded()[0]))]
    wanted = [[name, weight, digits(score, 2), fate] for name, weight, score, fate in keys]
    assert cells(page) == [[text.replace("−", "-") for text in row] for row in wanted]


def haystack_heard(widget, place):
    """A key in words; or, where another query is shown, all of it."""
    query, j = place
    widget.query = query
    if j is None:
        return " ".join(haystack_said(widget))
    name, weight, score, fate = haystack_key(widget, j)
    return f"{name}: weight {weight}; its block's cheap score {digits(score, 2)}; {fate}"


HAYSTACK_CONTROLS = [
    ("slider", "Query", "ArrowRight", {"query": 2}),
    ("slider", "Block", "Home", {"block": 1}),
    ("slider", "Block", "End", {"block": 64}),
    ("slider", "Block", "ArrowLeft", {"block": 32}),
    ("slider", "Budget", "ArrowRight", {"budget": 6}),  # it began between two of the list
    ("combobox", "Keep", "indexer", {"scorer": "indexer"}),
    ("slider", "Budget", "End", {"budget": 44}),
    ("combobox", "Keep", "hash", {"scorer": "hash"}),
    ("slider", "Buckets", "End", {"buckets": 32}),
    ("slider", "Rounds", "End", {"rounds": 8}),
    ("slider", "Rounds", "Home", {"rounds": 1}),
    ("combobox", "Keep", "cluster", {"scorer": "cluster"}),
    ("slider", "Clusters", "ArrowLeft", {"clusters": 7}),
    ("slider", "Look in", "End", {"nearest": 4}),
]
HAYSTACK_NEEDLE = haystack().needles[1]
HAYSTACK_KEYS = [(None, (1, HAYSTACK_NEEDLE)), ("Home", (1, 0)), ("ArrowRight", (1, 1))]
HAYSTACK_KEYS += [("ArrowDown", (1, 33)), ("ArrowDown", (1, 33)), ("PageDown", (2, None))]
HAYSTACK_KEYS += [("ArrowLeft", (2, 32)), ("ArrowUp", (2, 0)), ("ArrowLeft", (2, 0))]
HAYSTACK_KEYS += [("End", (2, 43)), ("ArrowRight", (2, 43)), ("PageUp", (1, None))]


def odd_haystacks():
    alike = {"title": WORD, "alt": WORD, "block": 2}
    return [
        HaystackExplorer(np.ones((5, 1)), np.ones((1, 1)), **alike),
        HaystackExplorer(np.zeros((2, 3)), np.zeros((2, 3)), scorer="cluster", needles=[1, 0]),
    ]


def large_haystacks():
    keys, queries = tensor(256, 32), tensor(32, 32, seed=1)
    every = ("mean", "indexer", "hash", "cluster")
    return [HaystackExplorer(keys, queries, scorer=scorer, title="Many") for scorer in every]


ROWS = {
    "heat map": Row(
        make=explorer,
        shows=heatmap_shows,
        heard=heatmap_heard,
        controls=[
            ("slider", "Valid length", "ArrowLeft", {"lengths": [6, 4]}),
            ("checkbox", "Causal", None, {"causal": True}),
            ("checkbox", "Divide by √4", None, {"scaled": False}),
            ("slider", "Temperature", "End", {"temperature": 10.0}),
            ("combobox", "Sequence", "1", {"batch": 1}),
        ],
        keys=[(None, (0, 0)), *ARROWS],
        odd=odd_heatmaps,
        large=large_heatmaps,
        rich={"causal": True, "query": 2},
        bare=lambda: explorer(controls=()),
    ),
    "heat maps of heads, compared": Row(
        make=compared_heads,
        shows=heatmap_shows,
        heard=lambda widget, place: place,
        controls=[
            ("combobox", "Head", "3", {"head": 3}),
            ("radio", "same", None, {"head": 5}),
            ("radio", "new", None, {"view": "second"}),
            ("button", "Next query", None, {"query": 0}),
            ("radio", "Difference", None, {"view": "difference"}),
            ("button", "Next query", None, {"query": 1}),
            ("button", "Previous query", None, {"query": 0}),
        ],
        keys=[
            (None, "query “le” → key “the” (gold): score "),
            ("ArrowRight", "query “le” → key “black”: "),
        ],
        odd=odd_heads,
        large=lambda: [compared_heads(view="difference")],
        rich={"view": "difference", "query": 2},
        focus=".ah-map canvas",
    ),
    "kernel regression": Row(
        make=regression,
        shows=kernel_shows,
        heard=kernel_heard,
        controls=[
            ("slider", "Query", "ArrowRight", {"query": 2.6}),
            ("combobox", "Kernel", "boxcar", {"kernel": "boxcar"}),
            ("combobox", "Kernel", "epanechnikov", {"kernel": "epanechnikov"}),
            ("combobox", "Kernel", "triangular", {"kernel": "triangular"}),
            ("slider", "Width", "Home", {"width": regression()._widths[0]}),
            ("slider", "Width", "End", {"width": regression()._widths[1]}),
            ("checkbox", "Leave one out", None, {"leave_one_out": True}),
        ],
        keys=[
            *((None, 25), ("ArrowRight", 26), ("ArrowDown", 27), ("ArrowLeft", 26)),
            *(("ArrowUp", 25), ("PageDown", 35), ("PageUp", 25), ("End", 49)),
            *(("ArrowRight", 49), ("Home", 0), ("ArrowLeft", 0)),
        ],
        odd=lambda: [
            regression(title=WORD, alt=WORD),
            KernelRegression([2.0], [5.0], queries=[2.0], truth=[4.0]),
            KernelRegression([2.0], [5.0], queries=[2.0], leave_one_out=True),
        ],
        large=lambda: [
            regression(leave_one_out=True),
            KernelRegression(1e6 * np.arange(300.0), np.arange(300.0) ** 3, title="Three hundred"),
        ],
        bare=lambda: regression(controls=()),
    ),
    "positions explorer": Row(
        make=PositionExplorer,
        shows=positions_shows,
        heard=positions_heard,
        controls=POSITION_CONTROLS,
        keys=POSITION_KEYS,
        odd=odd_positions,
        large=large_positions,
        bare=lambda: PositionExplorer(controls=()),
    ),
    "layer × head browser": Row(
        make=browser_of,
        shows=browser_shows,
        heard=cell_said,
        controls=BROWSER_CONTROLS,
        keys=[(None, (0, 0)), ("ArrowDown", (1, 0)), ("ArrowDown", (2, 0)), ("ArrowRight", (2, 1)),
              ("ArrowRight", (2, 2)), ("End", (2, 3)), ("ArrowUp", (1, 3))],
        odd=odd_browsers,
        large=large_browsers,
        rich={"kind": "cross", "cell": (1, 0)},
    ),
    "alignment viewer": Row(
        make=lambda **options: viewer(**({"step": 4} | options)),
        shows=alignment_shows,
        heard=alignment_heard,
        controls=[
            ("button", "Next step", None, {"step": 5}),
            ("button", "Previous step", None, {"step": 4}),
            ("radio", AFTER, None, {"model": AFTER}),
            ("radio", "Lines", None, {"view": "lines"}),
            ("radio", "Side by side", None, {"side_by_side": True}),
            ("radio", "Heat map", None, {"view": "map"}),
            ("slider", "Step", "Home", {"step": 0}),
            ("combobox", "Sentence", "2", {"example": 2}),
        ],
        keys=[(None, (4, None)), *ALIGNMENT_KEYS],
        odd=odd_alignments,
        large=lambda: [
            viewer(example=3, step=3, view=view, side_by_side=both)
            for view, both in (("map", False), ("map", True), ("lines", True))
        ],
        rich={"view": "lines", "step": 6, "side_by_side": True},
        reset=None,
        bare=lambda: viewer(controls=()),
    ),
    "local window": Row(
        make=window,
        shows=window_shows,
        heard=window_heard,
        controls=WINDOW_CONTROLS,
        keys=WINDOW_KEYS,
        odd=odd_windows,
        large=large_windows,
        rich={"bell": "scores"},
        bare=lambda: window(controls=()),
    ),
    "pattern designer": Row(
        make=designed,
        shows=pattern_shows,
        heard=pattern_heard,
        controls=PATTERN_CONTROLS,
        keys=PATTERN_KEYS,
        odd=odd_patterns,
        large=large_patterns,
        bare=lambda: designed(controls=()),
    ),
    "haystack": Row(
        make=haystack,
        shows=haystack_shows,
        heard=haystack_heard,
        controls=HAYSTACK_CONTROLS,
        keys=HAYSTACK_KEYS,
        odd=odd_haystacks,
        large=large_haystacks,
        rich={"scorer": "hash"},
        bare=lambda: haystack(controls=()),
    ),
    "normalisers": Row(
        make=normalizer,
        shows=normalizer_shows,
        heard=normalizer_heard,
        controls=NORMALIZER_CONTROLS,
        keys=NORMALIZER_KEYS,
        odd=odd_normalizers,
        large=large_normalizers,
        bare=lambda: normalizer(controls=()),
    ),
    "next-token sampler": Row(
        make=sampler,
        shows=sampler_shows,
        heard=sampler_heard,
        controls=SAMPLER_CONTROLS,
        keys=SAMPLER_KEYS,
        odd=odd_samplers,
        large=large_samplers,
        rich={"temperature": 1.5, "top_k": 12, "top_p": 0.9, "min_p": 0.1, "path": [0, 6, 7]},
        bare=lambda: sampler(controls=()),
    ),
    "head ablation": Row(
        make=two_heads,
        shows=ablation_shows,
        heard=ablation_heard,
        controls=ABLATION_CONTROLS,
        keys=[(None, None), ("ArrowRight", 0), ("End", 2), ("ArrowLeft", 1)],
        odd=odd_ablations,
        large=large_ablations,
        rich={"ablated": [0], "query": 1},
        reset="All heads in",
        focus=".ab-output",
    ),
}  # fmt: skip
