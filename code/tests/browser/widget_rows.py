"""What each widget shows and says, by Python's own numbers, and what its keys and buttons do.

`test_every_widget.py` asks of every widget what its settings declare; a row here adds what they
cannot know. A new widget passes without one.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pytest
import torch
from attnbook_testing.alignments import AFTER, BEFORE, examples, score, verdict
from attnbook_testing.widgets import (
    MAKE,
    SIZES,
    TOKENS,
    bench,
    browsed,
    browser_of,
    compared_heads,
    designed,
    explorer,
    haystack,
    linear_bench,
    regression,
    sampler,
    tensor,
    viewer,
)
from page_parts import cells, readout

import attnbook as ab
from attnbook import alibi_slopes, truncate
from attnbook.widgets import (
    AlignmentViewer,
    AttentionHeatmap,
    CounterfactualBench,
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
from attnbook.widgets.positions import KINDS

NUMBER = re.compile(r"(?:< )?[−+-]?\d[\d,]*(?:\.\d+)?")


def agrees(text: str, want) -> bool:
    """Whether a text is these words, or a number as near as its digits say; an int exactly."""
    if want is ...:
        return True
    if isinstance(want, tuple):  # and a mark behind it
        return text.endswith(want[1]) and agrees(text.removesuffix(want[1]), want[0])
    if isinstance(want, str):
        return text.replace("−", "-") == want.replace("−", "-")
    text = text.replace("−", "-").replace(",", "")
    if text.startswith("< "):
        return 0 < want < float(text[2:])
    if isinstance(want, int | np.integer) or (text.isdigit() and not want):
        return float(text) == want
    digits = len(text.partition(".")[2])
    return abs(float(text) - want) <= max(0.51 * 10**-digits, 0.006 * abs(want) * (digits < 2))


def tells(text: str, parts) -> None:
    """`text` holds these words and numbers in this order, and no other number between them."""
    at = 0
    for part in parts:
        if isinstance(part, str):
            assert part in text[at:], (part, text[at:])
            at = text.index(part, at) + len(part)
        else:
            found = NUMBER.search(text, at)
            assert found and agrees(found[0], part), (part, text[at:])
            at = found.end()


def told(page, widget) -> None:
    """The line under the picture has Python's numbers."""
    tells(readout(page), row_of(widget).reads(widget))


def shows(page, widget, at=0) -> None:
    """Line and hidden table of the widget that stands at this place are Python's."""
    row, root = row_of(widget), page.locator(".attn-widget").nth(at)
    if row.reads:
        tells(root.locator(".ah-readout").inner_text(), row.reads(widget))
    if row.table:
        rows, wanted = cells(root), row.table(widget)
        assert [len(texts) for texts in rows] == [len(wants) for wants in wanted]
        for texts, wants in zip(rows, wanted, strict=True):
            for text, want in zip(texts, wants, strict=True):
                assert agrees(text, want), (texts, wants)
    if row.more:
        row.more(root, widget)


@dataclass
class Row:
    """What the page must show of a widget, and the ways of its own to move it."""

    make: Callable  # make(**options) -> the widget
    reads: Callable | None = None  # reads(widget): words and numbers of the line under the picture
    table: Callable | None = None  # table(widget): the rows of the hidden table
    more: Callable | None = None  # more(root, widget) asserts what else is seen
    states: list = field(default_factory=list)  # options that show what no single setting does
    moves: list = field(default_factory=list)  # (role, name, value, the traits Python would set)
    keys: list = field(default_factory=list)  # (key or None, the traits it sets, or what is heard)
    reset: str | None = "Reset"
    focus: str = "canvas[tabindex]"


def row_of(widget) -> Row:
    name = type(widget).__name__
    if name == "CounterfactualBench" and "counterfeit" in widget._operations:
        return ROWS["linear"]
    return ROWS["compared"] if name == "AttentionHeatmap" and widget._compare else ROWS[name]


# The heat map


def heatmap_table(widget):
    """Weights, masked places, gold marks; the first cell of a row is its label."""
    q, k = widget._shape[-2:]
    gold = np.frombuffer(widget._gold, bool).reshape(-1, q, k)[0] if widget._gold else None
    labels = (widget.query_labels * 2)[widget.batch if len(widget.query_labels) > 1 else 0]
    rows = []
    for i, (weights, allowed) in enumerate(zip(widget.weights(), widget.allowed(), strict=True)):
        row = [float(w) if ok else "masked" for w, ok in zip(weights, allowed, strict=True)]
        if gold is not None:
            row = [(want, " (gold)") if gold[i, j] else want for j, want in enumerate(row)]
        rows.append([labels[i], *row])
    return rows


def heatmap_hits(root, widget):
    if widget._gold:
        old, new = widget.compare_labels
        hits = {view: hits_in(widget, view) for view in ("first", "second")}
        said = {"difference": f"{old} {hits['first']}, {new} {hits['second']}"} | {
            view: f"{count} of" for view, count in hits.items()
        }
        text = root.locator(".ah-hits").inner_text()
        assert text.startswith(f"argmax in gold: {said[widget.view]}")


def hits_in(widget, view) -> int:
    was, widget.view = widget.view, view
    hits, _ = widget.hits()
    widget.view = was
    return hits


ARROWS = [
    (None, (0, 0)),
    ("ArrowDown", (1, 0)),
    ("ArrowDown", (2, 0)),
    ("ArrowRight", (2, 1)),
    ("Home", (2, 0)),
]
ARROWS += [("ArrowLeft", (2, 0)), ("PageDown", (7, 0)), ("End", (7, 7)), ("ArrowUp", (6, 7))]


# Kernel regression


def kernel_reads(widget):
    row, weights = widget.row(), widget.weights()[widget.row()]
    known = widget._y if widget.leave_one_out else widget._truth
    compared = ["its own y" if widget.leave_one_out else "truth", known[row]] if known else []
    parts = ["query", widget.queries()[row], *["its own point left out"] * widget.leave_one_out]
    if not weights.any():
        return [*parts, "no point in range, all weights 0, output 0", *compared]
    count = int((np.cumsum(np.sort(weights)[::-1]) < 0.95 - 1e-12).sum()) + 1
    return [*parts, "fit", widget.fit()[row], *compared, count, len(weights), "95% of the weight"]


def kernel_error(root, widget):
    if np.isnan(widget.error()):
        return
    error = root.locator(".ak-error").inner_text()
    number = root.locator(".ak-error output").inner_text()
    assert float(number) == pytest.approx(widget.error(), rel=0.006)
    assert ("left-out points" in error) == widget.leave_one_out
    assert ("no point in range" in error) != widget.weights().any(axis=1).all()


def kernel_table(widget):
    known = widget._y if widget.leave_one_out else widget._truth
    given = zip(widget.queries(), widget.fit(), widget.weights(), strict=True)
    return [
        [place, fit if row.any() else "no point in range", *known[i : i + 1], ...]
        for i, (place, fit, row) in enumerate(given)
    ]


KERNEL_KEYS = [
    (None, 25),
    ("ArrowRight", 26),
    ("ArrowDown", 27),
    ("ArrowLeft", 26),
    ("ArrowUp", 25),
]
KERNEL_KEYS += [("PageDown", 35), ("PageUp", 25), ("End", 49), ("ArrowRight", 49), ("Home", 0)]


# The positions explorer


def positions_reads(widget):
    place, column, other = widget.marked()
    offset, value, likeness = other - place, widget.curve()[place], widget.similarity()[other]
    if widget.kind == "alibi":
        slope = alibi_slopes(widget.num_heads)[column].item()
        return [place, column + 1, slope, other, offset, widget.curve()[other], likeness]
    sine = (column % 2 == 0) == (widget.kind == "sinusoidal")
    period = 2 * np.pi * widget.base ** (2 * (column // 2) / widget.columns())
    scored = widget.kind == "rotary" or widget.matrices == "random"
    name = "score" if scored else "similarity"
    return [place, column, "sine" if sine else "cosine", period, value, offset, name, likeness]


def positions_table(widget):
    places = np.arange(widget.places)
    given = places, places - widget.place, widget.curve(), widget.similarity()
    return [*zip(*given, strict=True)]


# The layer × head browser


def two(w) -> str:
    """A weight in words, with two digits."""
    if w == 0:
        return "0"
    return "< 0.01" if w < 0.005 else f"{w:.2f}"


def three(w) -> str:
    """The same with three."""
    if w == 0:
        return "0"
    return "< 0.001" if w < 0.0005 else f"{w:.3f}"


def head_said(widget) -> str:
    """What the browser calls the head shown: positions from 0 are counted from 1."""
    return f"layer {widget.layer + 1}, head {widget.head + 1}"


def cell_said(widget, place) -> str:
    """What the browser has to say of a cell."""
    i, j = place
    queries, keys = widget.tokens()
    mark = " (possible)" if widget.gold("possible")[i, j] else ""
    if widget.gold("sure")[i, j]:
        mark = " (sure)" if widget.gold("possible").any() else " (gold)"
    text = f"{head_said(widget)}: query “{queries[i]}” → key “{keys[j]}”{mark}"
    if not widget.allowed()[i, j]:
        return f"{text}: masked (later than the query) → weight 0"
    return f"{text} → weight {two(widget.weights()[i, j])}"


BROWSER_KEYS = [
    (None, (0, 0)),
    ("ArrowDown", (1, 0)),
    ("ArrowDown", (2, 0)),
    ("ArrowRight", (2, 1)),
]
BROWSER_KEYS += [("ArrowRight", (2, 2)), ("End", (2, 3)), ("ArrowUp", (1, 3))]


def browser_table(widget):
    """As the heat map's, with two digits; what Python holds in 255 steps is said so."""
    rows = []
    maps = zip(widget.weights(), widget.allowed(), widget.gold("sure"), strict=True)
    for query, (weights, allowed, gold) in zip(widget.tokens()[0], maps, strict=True):
        texts = [two(w) if ok else "masked" for w, ok in zip(weights, allowed, strict=True)]
        rows.append([query, *(t + " (gold)" * bool(g) for t, g in zip(texts, gold, strict=True))])
    return rows


def browser_chosen(root, widget):
    """The marked small map and the heading."""
    head = head_said(widget)
    assert f"{widget.kind.title()}, {head}" in root.locator("caption").text_content()
    assert root.locator(".lb-heading b").inner_text() == head
    chosen = root.locator("button[role=radio][aria-checked=true]")
    number = widget._scores.get(widget.kind)
    number = f", hit rate {number[widget.layer][widget.head]:.2f}" if number else ""
    assert chosen.get_attribute("aria-label") == head + number
    assert root.locator("button[role=radio]").count() == np.prod(SIZES[widget.kind])


# The alignment viewer

MODELS = (BEFORE, AFTER)
VERDICTS = {
    "sure": "on a sure link",
    "possible": "on a possible link",
    "miss": "not on a gold link",
    "none": "no gold link to hit",
    "nothing": "all weights are zero",
}


def cards(root) -> list[dict]:
    """The texts of the cards that are shown."""
    return root.locator(".al-panel").evaluate_all(
        """(all) => all.filter((p) => !p.hidden).map((p) => ({
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
    tells(
        card["where"],
        [row.max(), f" on “{example['source'][row.argmax()]}”, {gold_said(example, step)}"],
    )
    kind = verdict(example, model, step)
    assert (card["kind"], card["verdict"]) == (kind, VERDICTS[kind])
    kinds = ("sure", "possible") if example["possible"] else ("sure",)
    assert card["scores"] == [score_said(example, model, step, links) for links in kinds]
    tokens = [token for token, _ in example["candidates"][model][step]]
    assert card["candidates"] == tokens[:3]
    assert card["chosen"] == [token for token in tokens[:3] if token == example["target"][step]]


def steps_table(widget, example, model):
    """Every target token, its strongest weights, its gold, the verdict."""
    rows = []
    for i, token in enumerate(example["target"]):
        weights = widget.weights(model)[i]
        marks = [
            next((k for k in ("sure", "possible") if (i, j) in example[k]), "")
            for j in range(len(weights))
        ]
        strongest = ", ".join(
            f"{example['source'][j]} {three(weights[j])}" + f" ({marks[j]})" * bool(marks[j])
            for j in np.argsort(-weights, kind="stable")[:3]
        )
        gold = gold_said(example, i).removeprefix("gold: ")
        rows.append([token, strongest, gold, VERDICTS[verdict(example, model, i)]])
    return rows


def alignment_cards(root, widget):
    """The cards and tables of the models that are shown, and what is drawn: maps or lines."""
    example = examples()[widget.example]
    shown = MODELS if widget.side_by_side else [widget.model]
    tables = root.locator(".ah-hidden table").evaluate_all("(all) => all.map((t) => !t.hidden)")
    for card, n, model in zip(cards(root), np.flatnonzero(tables), shown, strict=True):
        assert_card(card, example, model, widget.step)
        wanted = steps_table(widget, example, model)
        assert cells(root, f".ah-hidden table >> nth={n}") == wanted
    drawn = [root.locator(f"{part}:visible").count() for part in (".ah-map", ".al-lines")]
    assert drawn == ([len(shown), 0] if widget.view == "map" else [0, len(shown)])
    assert root.get_by_role("slider").input_value() == str(widget.step + 1)


def step_heard(step):
    return f"Step {step + 1} of 15. {BEFORE}: “{examples()[0]['target'][step]}”: "


def cell_heard(j):
    example = examples()[0]
    mark = " (sure)" if (1, j) in example["sure"] else ""
    words = "masked, padding" if j >= example["source_len"] else "weight "
    return f"“{example['target'][1]}” → “{example['source'][j]}”{mark}: {words}"


STEP_KEYS = [
    "ArrowDown",
    "ArrowDown",
    "ArrowUp",
    "PageDown",
    "ArrowDown",
    "PageUp",
    "ArrowUp",
    "ArrowDown",
]
CELL_KEYS = ["ArrowRight", "ArrowRight", "ArrowRight", "ArrowLeft", "Home", "ArrowLeft", "End"]
ALIGNMENT_KEYS = [
    (None, step_heard(4)),
    *((key, step_heard(i)) for key, i in zip(STEP_KEYS, (5, 6, 5, 14, 14, 0, 0, 1), strict=True)),
    *((key, cell_heard(j)) for key, j in zip(CELL_KEYS, (0, 1, 2, 1, 0, 0, 14), strict=True)),
]


# Head ablation


def ablation_reads(widget):
    if widget.query is None:
        return []
    b, q, out = widget.batch, widget.query, widget.ablated
    answers = np.frombuffer(widget._answers, np.uint8).reshape(widget.right().shape)
    base = np.frombuffer(widget._base, "f4").reshape(2, -1)
    parts = [widget.query_labels[b][q]]
    for r, name in enumerate(widget.relations):
        said, right = widget.logits()[b, q, r].argmax(), answers[b, q, r]
        parts += [
            name,
            said,
            *(["right"] if said == right else ["wrong", right]),
            right,
            base[r, right],
        ]
        for h in range(2):
            parts += [f"head {h}", "out" if h in out else widget.added()[b, h, q, r, right]]
    return parts


def ablation_shows(root, widget):
    """Switches, answers and scores are Python's."""
    switches = root.get_by_role("switch").all()
    states = [switch.get_attribute("aria-checked") for switch in switches]
    assert states == [str(h not in widget.ablated).lower() for h in range(2)]
    words = root.locator(".ab-state").all_inner_texts()
    assert words == ["out" if h in widget.ablated else "in" for h in range(2)]
    right, logits = widget.right(), widget.logits()[widget.batch]
    counts = [*right.sum(axis=(0, 1)), right.all(axis=-1).sum()]
    scores = root.locator(".ab-score output").all_inner_texts()
    assert scores == [f"{count} of {right[..., 0].size}" for count in counts]
    said = root.locator(".ab-said > span").all_inner_texts()
    assert said == [str(n) for n in logits.argmax(-1).T.ravel()]
    assert root.locator(".ab-wrong").count() == (~right[widget.batch]).sum()
    assert root.locator(".ab-input").all_inner_texts() == widget.inputs[0][1][widget.batch]
    assert root.locator(".ab-here").count() == (0 if widget.query is None else 3)


# The counterfactual bench


def bench_claim(widget) -> list:
    """What may be said, and the number in it."""
    if widget.operation == "trained":
        return ["Seen: "]
    if widget.operation == "compare":
        return ["Correlated: ", widget.agreement()]
    if widget.operation == "counterfeit":
        away = np.abs(widget.weights() - widget.trained()).sum() / 2
        return ["other weights", away] if away > 0.001 else ["no weights farther than 0.001"]
    before, now = widget.probabilities(widget.trained()), widget.probabilities()
    turned = bool(before.argmax() != now.argmax())
    changed = "can change the answer" if turned else "the answer stays"
    return [f"Intervened: {'these weights ' * turned}{changed}" if widget.changed else "No head"]


def bench_reads(widget):
    before, now = widget.probabilities(widget.trained()), widget.probabilities()
    first, then = (f"“{widget.classes[p.argmax()]}”" for p in (before, now))
    if widget.operation in ("trained", "compare"):
        parts = ["The output is ", first, before.max()]
    else:
        words = [f"was {first} and now is "] * (first != then) or ["is still "]
        parts = [*words, then, now.max(), "moved by", widget.moved()]
    parts += bench_claim(widget)
    trained, labels = widget.trained().mean(0), widget.key_labels[0]
    if widget._gold:
        gold, most = widget._gold[widget.batch], int(trained.argmax())
        parts += ["Judged by truth: key", gold, f"“{labels[gold]}” decides", trained[gold]]
        parts += ["the most"] if most == gold else [most, f"“{labels[most]}”", trained[most]]
    heads = len(widget.trained())
    parts += ["Marked: key", widget.key, f"“{labels[widget.key]}”", trained[widget.key]]
    parts += [heads] if heads > 1 else []
    is_, was = (three(rows.mean(0)[widget.key]) for rows in (widget.weights(), widget.trained()))
    return parts if is_ == was else [*parts, "now", float(is_)]


def bench_table(widget):
    compared = widget.operation == "compare"
    shown = [widget.effects()] * len(widget.trained()) if compared else widget.weights()
    rows, gold = [], [*widget._gold, None, None][widget.batch]
    for k, label in enumerate(widget.key_labels[0]):
        name = f"{k}: {label}{' (decides)' if k == gold else ''}"
        rows.append([name, *(three(row[k]) for row in [*widget.trained(), *shown])])
    return rows


def bench_shows(root, widget):
    """The likeliest classes with their shares, the rungs, and the boxes of the heads."""
    before, now = widget.probabilities(widget.trained()), widget.probabilities()
    order = np.argsort(-np.maximum(before, now), kind="stable") if len(now) > 2 else [0, 1]
    wanted = [[widget.classes[n], "", two(before[n]), two(now[n])] for n in order]
    assert cells(root, ".cb-output") == wanted
    rung = {"trained": 0, "compare": 1}.get(widget.operation, 2)
    steps = root.locator(".cb-rungs li")
    reached = [step.get_attribute("aria-current") == "step" for step in steps.all()]
    assert reached == [n == rung or (n == 3 and bool(widget._gold)) for n in range(4)]
    boxes = [box.is_checked() for box in root.get_by_role("checkbox").all()]
    assert boxes == [n in widget.changed for n in range(len(boxes))]


BENCH_KEYS = [("ArrowRight", 3), ("ArrowDown", 4), ("End", 4), ("ArrowRight", 4), ("Home", 0)]
BENCH_KEYS = [(key, {"key": at}) for key, at in [*BENCH_KEYS, ("ArrowLeft", 0)]]
BENCH_KEYS += [("End", {"key": 4}), ("Enter", {"operation": "force"})]
BENCH_KEYS += [("ArrowUp", {"key": 3}), ("Delete", {"operation": "erase"})]
BENCH_KEYS += [("Escape", {"operation": "trained"})]


# The next-token sampler


def seen(token: str) -> str:
    return token.replace(" ", "␣").replace("\n", "⏎").replace("\t", "⇥") or "∅"


def sampler_shares(widget) -> tuple:
    """By id: the model's shares, those at this temperature, those of the draw, what cut each."""
    own = torch.tensor(widget.log_probs())
    left, settings = [], {}
    for name in ("top_k", "top_p", "min_p"):
        settings[name] = getattr(widget, name)
        left.append(truncate(own, temperature=widget.temperature, **settings))
    names = ("top-k", "top-p", "min-p")
    cuts = [
        next((n for x, n in zip(left, names, strict=True) if x[i].isinf()), "")
        for i in range(len(own))
    ]
    sharp = truncate(own, temperature=widget.temperature)
    return own.exp().numpy(), sharp.exp().numpy(), widget.probabilities(), cuts


def sampler_order(widget) -> list[int]:
    return np.argsort(-widget.log_probs(), kind="stable").tolist()


def sampler_token(widget, i) -> str:
    """How what it says of one token begins."""
    return f"“{seen(widget.tokens[i])}”: model {three(sampler_shares(widget)[0][i])}"


def sampler_reads(widget):
    _, sharp, drawn, _ = sampler_shares(widget)
    left, v, part = int((drawn > 0).sum()), len(drawn), sharp[drawn > 0].sum()
    return ["All", v] if left == v else [left, v, *([part] if part < 0.999 else [])]


def sampler_table(widget):
    own, sharp, drawn, cuts = sampler_shares(widget)
    return [
        [
            seen(widget.tokens[i]),
            three(own[i]),
            three(sharp[i]),
            f"cut: {cuts[i]}" if cuts[i] and own[i] else three(drawn[i]),
        ]
        for i in sampler_order(widget)
    ]


def sampler_text(root, widget):
    assert root.locator(".ns-text").text_content() == widget.text()


def sampler_path(count, back=0, **settings) -> list[int]:
    """What a new one with these settings writes."""
    widget = sampler(**settings)
    for _ in range(count):
        widget.draw()
    return widget.path[: count - back]


SAMPLER_KEYS = [(None, 0), ("ArrowDown", 1), ("ArrowDown", 2), ("End", 11), ("ArrowUp", 10)]
SAMPLER_KEYS += [("Home", 0), ("ArrowUp", 0)]
SAMPLER_KEYS = [(key, sampler_order(sampler())[rank]) for key, rank in SAMPLER_KEYS]


# The window


def window_reads(widget):
    inside, whole = widget.allowed(), widget.weights(local=False)
    lost = sum(not inside[j] for j in widget.gold)
    gold = [lost, len(widget.gold)] if widget.gold else []
    counts = [widget.centre, widget.radius, inside.sum(), len(inside)]
    return [*counts, *gold, whole[~inside].sum(), widget.weights().sum()]


def window_table(widget):
    given = widget.labels, widget.weights(local=False), widget.weights(), widget.allowed()
    return [
        [label + " (gold)" * (j in widget.gold), three(far), three(near) if inside else "outside"]
        for j, (label, far, near, inside) in enumerate(zip(*given, strict=True))
    ]


# The explorer of normalisers


def normalizer_reads(widget):
    names = {"softmax": "softmax", "entmax": "entmax 1.5", "sparsemax": "sparsemax"}
    weights, moved = widget.weights(), (np.abs(widget.moves()) >= 1e-9).sum()
    name = names.get(widget.normalizer, f"top-{widget.k}")
    return [name, (weights > 0).sum(), len(weights), weights.max(), moved or "none of the scores"]


def normalizer_table(widget):
    moves = np.where(np.abs(widget.moves()) < 1e-9, 0, widget.moves())
    return [*zip(widget.labels, widget.scores, map(three, widget.weights()), moves, strict=True)]


def key_heard(j, score):
    return f"{MAKE['NormalizerExplorer']().labels[j]}: score {score:.2f} → weight ".replace(
        "-", "−"
    )


NORMALIZER_KEYS = [(None, key_heard(0, 1.0)), ("ArrowRight", key_heard(0, 1.1))]
NORMALIZER_KEYS += [("ArrowDown", key_heard(1, 0.6)), ("Home", key_heard(1, -3.0))]
NORMALIZER_KEYS += [("ArrowLeft", key_heard(1, -3.0)), ("ArrowDown", key_heard(2, -0.8))]
NORMALIZER_KEYS += [("ArrowDown", key_heard(2, -0.8)), ("End", key_heard(2, 3.0))]


# The pattern designer


def pattern_reads(widget):
    n, mask, pairs = widget.n, widget.mask(), widget.pairs()
    counts, query = mask.sum(1), min(widget.query, widget.n - 1)
    half = [100 * pairs / (n * (n + 1) / 2)] if pairs and not mask.triu(1).any() else []
    least, empty = int(counts.argmin()), int((counts == 0).sum())
    poorest = [empty, "nothing", least] if empty else ["fewest", counts[least].item(), least]
    reached, ever = int(widget.reach().sum()), int(widget.reach(n).sum())
    return [
        *(pairs, n * n, 100 * pairs / (n * n), *half, pairs / n, *poorest),
        *("Query", query, reached, n, widget.layers, "ever reach", ever, widget.layers_needed()),
    ]


def pattern_table(widget):
    first = [widget.reach(layers) for layers in range(widget.n + 1)]
    rows = []
    for i, count in enumerate(widget.mask().sum(1).tolist()):
        when = next((layers for layers, reached in enumerate(first) if reached[i]), "never")
        words = {"never": "never", 0: "its own place", 1: "1 layer"}
        rows.append([i, count, words.get(when, f"{when} layers")])
    return rows


def pattern_python(root, widget):
    """The Python that is printed makes the same mask."""
    text = root.locator(".pd-code").inner_text()
    assert torch.equal(eval(text, {"ab": ab, "torch": torch}), widget.mask())


PATTERN_TERMS = designed().terms
BACKWARDS = ("window", {"width": 2, "causal": True})
NINE_AND_TWO = ("global", {"places": [9, 2]})


# The haystack explorer


def haystack_reads(widget):
    (n, d), q, i = widget.rounded()[0].shape, widget._shape[1], widget.query
    kept, share = widget.kept().sum(-1), widget.weight_kept()
    blocks = -(-n // widget.block)
    within = [min(blocks, max(1, widget.budget // widget.block)), blocks]
    if widget.budget % widget.block:
        within += [
            "the least" if min(widget.block, n) > widget.budget else "all that fit",
            widget.budget,
        ]
    why = {
        "mean": within,
        "indexer": ["the best by the indexer"],
        "hash": [widget.rounds] if widget.rounds > 1 else ["all in its bucket;"],
        "cluster": [min(widget.clusters, widget.nearest), widget.clusters],
    }[widget.scorer]
    spent, own, found = widget.spent(), kept[i].item(), int(widget.found().sum())
    return [
        *(i, widget.needles[i], "found" if widget.found()[i] else "missed"),
        *("Kept", own, n, *why, share[i].item(), spent, own * d, n * d),
        *(q, found, kept.double().mean().item(), share.mean().item()),
    ]


def haystack_key(widget, j) -> tuple[str, str, float, str]:
    """A key of the shown query: its name, weight, cheap score and fate."""
    i = widget.query
    needle = " (needle)" * (widget.needles[i] == j)
    fate = "kept" if widget.kept()[i, j] else "left out"
    return f"key {j}{needle}", three(widget.weights()[i, j]), widget.scores()[i, j].item(), fate


def haystack_table(widget):
    return [haystack_key(widget, j) for j in range(widget._shape[0])]


HAYSTACK_KEYS = [(None, f"key {haystack().needles[1]} (needle): weight "), ("Home", "key 0: ")]
HAYSTACK_KEYS += [("ArrowRight", "key 1: "), ("ArrowDown", "key 33"), ("ArrowDown", "key 33")]
HAYSTACK_KEYS += [("PageDown", {"query": 2}), ("ArrowLeft", "key 32"), ("ArrowUp", "key 0")]
HAYSTACK_KEYS += [
    ("ArrowLeft", "key 0"),
    ("End", "key 43"),
    ("ArrowRight", "key 43"),
    ("PageUp", {"query": 1}),
]


SAMPLER_SET = {"temperature": 3.0, "top_k": 16, "top_p": 0.99}
ROWS = {
    "AttentionHeatmap": Row(
        make=explorer,
        table=heatmap_table,
        states=[{"causal": True, "query": 2}],
        moves=[
            ("slider", "Valid length", "ArrowLeft", {"lengths": [6, 4]}),
            ("checkbox", "Divide by √4", None, {"scaled": False}),
        ],
        keys=[(key, f"query “{TOKENS[i]}” → key “{TOKENS[j]}”: ") for key, (i, j) in ARROWS],
    ),
    "compared": Row(
        make=compared_heads,
        table=heatmap_table,
        more=heatmap_hits,
        states=[{"view": "difference", "query": 2}],
        moves=[
            ("radio", "same", None, {"head": 5}),
            ("radio", "new", None, {"view": "second"}),
            ("button", "Next query", None, {"query": 0}),
            ("radio", "Difference", None, {"view": "difference"}),
            ("button", "Next query", None, {"query": 1}),
            ("button", "Previous query", None, {"query": 0}),
        ],
        keys=[(None, "query “le” → key “the” (gold): score ")],
        focus=".ah-map canvas",
    ),
    "KernelRegression": Row(
        make=regression,
        reads=kernel_reads,
        table=kernel_table,
        more=kernel_error,
        moves=[("slider", "Query", "ArrowRight", {"query": 2.6})],
        keys=[(key, {"query": regression()._queries[row]}) for key, row in KERNEL_KEYS],
    ),
    "PositionExplorer": Row(
        make=PositionExplorer,
        reads=positions_reads,
        table=positions_table,
        moves=[
            ("radio", "Random matrices", None, {"matrices": "random"}),
            ("slider", "Features", "End", {"d_model": 64}),
            ("slider", "Feature", "End", {"column": 63}),
            ("slider", "Offset", "Home", {"offset": -20}),
            ("radio", "ALiBi", None, {"kind": "alibi"}),
            ("slider", "Heads", "ArrowLeft", {"num_heads": 7}),
            ("slider", "Head", "Home", {"column": 0}),
        ],
        keys=[
            *(("ArrowDown", {"place": 21}), ("ArrowRight", {"column": 9})),
            *(("PageDown", {"offset": 6}), ("ArrowLeft", {"column": 8})),
            *(("PageUp", {"offset": 5}), ("ArrowUp", {"place": 20})),
            *(("End", {"place": 63}), ("Home", {"place": 0})),  # the offset stops at the last place
        ],
    ),
    "LayerHeadBrowser": Row(
        make=browser_of,
        table=browser_table,
        more=browser_chosen,
        states=[{"kind": "cross", "cell": (1, 0)}],
        moves=[
            ("radio", "Decoder", None, {"kind": "decoder"}),
            ("radio", "layer 3, head 2", None, {"layer": 2, "head": 1}),
            ("radio", "Cross", None, {"kind": "cross"}),
            ("radio", "layer 2, head 3, hit rate 0.55", None, {"layer": 1, "head": 2}),
        ],
        keys=[(key, cell_said(browser_of(), place)) for key, place in BROWSER_KEYS],
    ),
    "AlignmentViewer": Row(
        make=MAKE["AlignmentViewer"],
        more=alignment_cards,
        states=[{"view": "lines", "step": 6, "side_by_side": True}],
        moves=[
            ("button", "Next step", None, {"step": 5}),
            ("button", "Previous step", None, {"step": 4}),
            ("radio", AFTER, None, {"model": AFTER}),
            ("radio", "Side by side", None, {"side_by_side": True}),
            ("slider", "Step", "Home", {"step": 0}),
        ],
        keys=ALIGNMENT_KEYS,
        reset=None,
    ),
    "LocalWindow": Row(
        make=MAKE["LocalWindow"],
        reads=window_reads,
        table=window_table,
        keys=[
            *(("ArrowDown", {"centre": 3.5}), ("ArrowUp", {"centre": 2.5}), ("End", {"centre": 8})),
            *(("ArrowDown", {"centre": 8}), ("Home", {"centre": 0}), ("ArrowUp", {"centre": 0})),
        ],
    ),
    "PatternDesigner": Row(
        make=designed,
        reads=pattern_reads,
        table=pattern_table,
        more=pattern_python,
        moves=[
            ("slider", "Places", "ArrowRight", {"n": 32}),
            ("slider", "Query", "End", {"query": 31}),
            ("spinbutton", "width", "2", {"terms": [("window", {"width": 2}), *PATTERN_TERMS[1:]]}),
            ("checkbox", "causal", None, {"terms": [BACKWARDS, *PATTERN_TERMS[1:]]}),
            ("button", "Remove term 1", None, {"terms": PATTERN_TERMS[1:]}),
            ("textbox", "places", "9, 2", {"terms": [NINE_AND_TWO, ("&", "causal")]}),
            ("slider", "Places", "Home", {"n": 8}),  # without place 9; the query at the last
            ("combobox", "Operator", "|", {"terms": [NINE_AND_TWO, ("|", "causal")]}),
            ("combobox", "Pattern", "block", {"terms": ["block", ("|", "causal")]}),
        ],
        keys=[
            *(("ArrowDown", {"query": 21}), ("ArrowUp", {"query": 20})),
            *(("ArrowRight", {"layers": 3}), ("ArrowLeft", {"layers": 2})),
            *(("End", {"query": 23}), ("ArrowDown", {"query": 23}), ("Home", {"query": 0})),
        ],
    ),
    "HaystackExplorer": Row(
        make=haystack,
        reads=haystack_reads,
        table=haystack_table,
        states=[{"scorer": scorer} for scorer in ("indexer", "hash", "cluster")]
        + [{"scorer": "hash", "rounds": 1}, {"scorer": "cluster", "nearest": 4}, {"budget": 20}],
        moves=[("slider", "Budget", "ArrowRight", {"budget": 6})],  # it began between two
        keys=HAYSTACK_KEYS,
    ),
    "NormalizerExplorer": Row(
        make=MAKE["NormalizerExplorer"],
        reads=normalizer_reads,
        table=normalizer_table,
        states=[{"normalizer": "top_k", "k": k} for k in (1, 3)],
        keys=NORMALIZER_KEYS,
    ),
    "NextTokenSampler": Row(
        make=sampler,
        reads=sampler_reads,
        table=sampler_table,
        more=sampler_text,
        states=[
            {"temperature": 1.5, "top_k": 12, "top_p": 0.9, "min_p": 0.1, "path": [0, 6, 7]},
            {"top_k": 1},
        ],
        moves=[
            ("slider", "Temperature", "End", {"temperature": 3.0}),
            ("slider", "Top-k", "ArrowLeft", {"top_k": 16}),
            ("slider", "Top-p", "ArrowLeft", {"top_p": 0.99}),
            ("button", "Draw a token", None, {"path": sampler_path(1, **SAMPLER_SET)}),
            ("button", "Draw ten", None, {"path": sampler_path(11, **SAMPLER_SET)}),
            ("button", "Take one back", None, {"path": sampler_path(11, 1, **SAMPLER_SET)}),
        ],
        keys=[(key, sampler_token(sampler(), order)) for key, order in SAMPLER_KEYS],
    ),
    "CounterfactualBench": Row(
        make=bench,
        reads=bench_reads,
        table=bench_table,
        more=bench_shows,
        states=[
            {"operation": "erase", "key": 0, "batch": 1},
            {"operation": "erase", "key": 0, "changed": [1]},
            {"operation": "force", "key": 4, "changed": []},
        ],
        moves=[
            ("combobox", "The weights", "shuffled", {"operation": "shuffled"}),
            ("checkbox", "head 1", None, {"changed": [1]}),
            ("combobox", "The weights", "compare", {"operation": "compare"}),
            ("checkbox", "head 2", None, {"changed": []}),
            ("checkbox", "head 1", None, {"changed": [0]}),
            ("combobox", "The weights", "force", {"operation": "force"}),
            ("slider", "Key", "ArrowRight", {"key": 3}),
        ],
        keys=BENCH_KEYS,
    ),
    "linear": Row(
        make=linear_bench,
        reads=bench_reads,
        table=bench_table,
        more=bench_shows,
        states=[{"operation": "counterfeit", "batch": 1}],
    ),
    "HeadAblation": Row(
        make=MAKE["HeadAblation"],
        reads=ablation_reads,
        more=ablation_shows,
        states=[{"ablated": [0], "query": 1}],
        moves=[
            ("switch", "head 0", None, {"ablated": [0]}),
            ("switch", "head 1", None, {"ablated": [0, 1]}),
            ("switch", "head 0", None, {"ablated": [1]}),
        ],
        keys=[("ArrowRight", {"query": 0}), ("End", {"query": 2}), ("ArrowLeft", {"query": 1})],
        reset="All heads in",
        focus=".ab-output",
    ),
}  # fmt: skip


def large() -> list:
    """Widgets that hardly fit a phone."""
    words = [f"a rather long word {n}" for n in range(141)]
    maps = [explorer(), compared_heads(), compared_heads(view="difference")]
    named = {"query_labels": words[:64], "key_labels": words[:64]}
    many = browsed(sizes={"encoder": (3, 12), "cross": (1, 2)})
    twelve = (
        np.full((1, 12, 30, 30), 1 / 30),
        np.zeros((1, 12, 30, 1, 2)),
        np.zeros((1, 30, 1), int),
    )
    table = {"follow": np.arange(141), "joiner": " ", "path": range(100)}
    terms = ["window", ("|", "dilated"), ("|", "random", {"seed": 256}), ("&", "causal")]
    ways = ("mean", "indexer", "hash", "cluster")
    return [
        *(AttentionHeatmap(torch.randn(64, 64), **named), *maps, regression(leave_one_out=True)),
        KernelRegression(1e6 * np.arange(300.0), np.arange(300.0) ** 3, title="Three hundred"),
        *(PositionExplorer(kind=k, places=512, d_model=64, num_heads=16) for k in KINDS),
        LayerHeadBrowser(many, scores={"encoder": np.ones((3, 12))}),
        *(viewer(example=3, step=3, view=view) for view in ("map", "lines")),
        *(viewer(example=3, side_by_side=True, view=view) for view in ("map", "lines")),
        CounterfactualBench(
            np.full((1, 12, 31), 1 / 31), np.ones((1, 12, 31, 2)), np.ones((9, 2)), title="Twelve"
        ),
        CounterfactualBench(
            np.full((1, 2, 9), 1 / 9),
            np.ones((1, 2, 9, 1)),
            np.ones((2, 1)),
            key_labels=[" ".join(words[:8])] * 9,
            classes=words[:2],
            gold=[1],
        ),
        *(HeadAblation(*twelve), NextTokenSampler(tensor(141, 141), words, **table)),
        sampler(title="Letters", path=list(range(17)) * 9, prompt="a" * 500),
        LocalWindow(tensor(40), words[:40], title="Forty keys", centre=20.0, radius=5),
        NormalizerExplorer(tensor(8).clamp(-3, 3), words[:8], title="Eight keys"),
        PatternDesigner(256, terms, layers=12, query=255, title="Four"),
        *(HaystackExplorer(tensor(256, 32), tensor(32, 32), scorer=way) for way in ways),
    ]


def odd() -> list:
    """Widgets that have nothing to show, or one of everything."""
    least = {"places": 2, "d_model": 1, "num_heads": 1, "place": 0, "column": 0}
    padding = {"source": ["<pad>"], "target": ["x"], "weights": {"m": [[0.0]]}, "source_len": 0}
    nothing = [("global", {"places": []}), ("&", "random", {"count": 0})]
    zeros = np.zeros((2, 3))
    return [
        *(AttentionHeatmap(torch.zeros(size), controls=["causal"]) for size in ((0, 3), (3, 0))),
        KernelRegression([2.0], [5.0], queries=[2.0], truth=[4.0]),
        KernelRegression([2.0], [5.0], queries=[2.0], leave_one_out=True),
        *(PositionExplorer(kind=kind, **least) for kind in KINDS),
        LayerHeadBrowser([{"source": ["a"], "encoder": np.ones((1, 1, 1, 1))}]),
        *(AlignmentViewer([padding]), LocalWindow([0.0, 1.0], ["a", ""], radius=1)),
        *(LocalWindow([0.0], radius=1), NormalizerExplorer([0.0, 0.0], ["a", ""])),
        *(NextTokenSampler([0.0], ["a"]), NextTokenSampler([0.0, 1.0], ["a", ""], path=[1], end=1)),
        *(PatternDesigner(1, ["full"]), PatternDesigner(9, nothing)),
        HaystackExplorer(np.ones((5, 1)), np.ones((1, 1)), block=2),
        CounterfactualBench([[[1.0]]], [[[[0.0]]]], [[0.0], [0.0]], operation="erase"),
        HaystackExplorer(zeros, zeros, scorer="cluster", needles=[1, 0]),
    ]
