"""Heads and what they are for: take one out, and see what the output loses."""

from __future__ import annotations

import numpy as np
import traitlets as t

from ..._checks import as_array, as_finite, as_labels, as_marks, as_place, as_weights, check_masked
from ..base import Widget, in_steps, packed
from ..settings import Number, Place, Setting


def _as_heads(widget, value) -> list[int]:
    return sorted({as_place("ablated", n, widget._shape[1], "heads") for n in value})


class HeadAblation(Widget):
    """All heads of a layer on one scale; the reader takes heads out and reads the output.

    The output must be a sum over heads, as it is where only linear maps follow attention. The
    browser adds up what the heads in use contribute: that is the ablation itself, up to rounding.
    To keep pages light, contributions are held in 16 bits, weights in 255 steps.

    Args:
        weights: each head's weights, (b, h, q, k), from 0 to 1.
        added: what each head adds to the logits, (b, h, q, r, m): r answers, of m classes each.
        answers: the right classes, integers (b, q, r).
        base: logits that stand without any head, (r, m); by default 0.
        mask: boolean, True = may attend, (q, k), (b, q, k) or (b, h, q, k): the rest is hatched.
        relations: r strings, what the answers are called.
        classes: m short strings; by default the positions.
        query_labels, key_labels: q and k strings, or such a list for each sequence.
        inputs: lines to show above the output, {name: q strings, or a list for each sequence}.
        head_labels: h strings.

    Source: Vaswani et al. 2017, section 3.2.2; taking heads out: Michel et al. 2019, section 2.
    """

    _shape = t.List(t.Int()).tag(sync=True)  # b, h, q, k, r, m
    _weights = t.Bytes().tag(sync=True)  # one byte each, in 255 steps, (b, h, q, k)
    _mask = t.Bytes().tag(sync=True)  # 0 or 1, of the weights' shape; empty: everything allowed
    _added = t.Bytes().tag(sync=True)  # int16, little-endian, in `_step`, (b, h, q, r, m)
    _step = t.Float().tag(sync=True)
    _base = t.Bytes().tag(sync=True)  # float32, little-endian, (r, m)
    _answers = t.Bytes().tag(sync=True)  # one byte each, (b, q, r)
    relations = t.List(t.Unicode()).tag(sync=True)
    classes = t.List(t.Unicode()).tag(sync=True)
    query_labels = t.List().tag(sync=True)
    key_labels = t.List().tag(sync=True)
    inputs = t.List().tag(sync=True)  # [name, lists of labels] of each line
    head_labels = t.List(t.Unicode()).tag(sync=True)
    ablated = Setting((), "the heads that are out at the start.", test=_as_heads)
    batch = Place(
        "_shape.0",
        "sequences",
        0,
        "the sequence to show.",
        label="Sequence",
        list=True,
        optional=True,
    )
    query = Place("_shape.2", "queries", None, "the query to mark at the start.", label="")
    vmax = Number(1.0, "the weight of the darkest colour.", positive=True, fixed=True)

    def __init__(
        self,
        weights,
        added,
        answers,
        *,
        base=None,
        mask=None,
        relations=None,
        classes=None,
        query_labels=None,
        key_labels=None,
        inputs=None,
        head_labels=None,
        **settings,
    ):
        weights = as_weights("weights", weights, 4)
        added = as_finite("added", added, 5).astype("f4").astype("f8")  # as models compute
        b, h, q, k = weights.shape
        mask = as_marks("mask", mask, weights.shape)
        if mask is not None:
            check_masked("weights", weights, mask, "where they are masked", "(b, h, q, k)")
            weights = weights * mask
        if added.shape[:3] != (b, h, q):
            raise ValueError(
                f"added must be {(b, h, q)} and (r, m) to fit the weights, got {added.shape}"
            )
        r, m = added.shape[3:]
        step = float(np.abs(added).max()) / 32767 or 1.0
        if head_labels is None:
            head_labels = [f"head {n}" for n in range(h)]
        super().__init__(
            settings,
            f"Attention weights of {h} heads, {q} queries by {k} keys each.",
            _shape=[b, h, q, k, r, m],
            _weights=in_steps(weights).tobytes(),
            _mask=packed(mask),
            _added=np.rint(added / step).astype("<i2").tobytes(),
            _step=step,
            _base=packed(_as_base(base, (r, m))),
            _answers=_as_answers(answers, (b, q, r), m).tobytes(),
            relations=as_labels("relations", relations, r)[0],
            classes=as_labels("classes", classes, m)[0],
            query_labels=as_labels("query_labels", query_labels, q, b),
            key_labels=as_labels("key_labels", key_labels, k, b),
            inputs=[
                [str(name), as_labels(f"inputs[{name!r}]", labels, q, b)]
                for name, labels in (inputs or {}).items()
            ],
            head_labels=as_labels("head_labels", head_labels, h)[0],
        )

    def added(self) -> np.ndarray:
        """What each head adds to the logits, as held: (b, h, q, r, m)."""
        b, h, q, _, r, m = self._shape
        return np.frombuffer(self._added, "<i2").reshape(b, h, q, r, m) * self._step

    def logits(self) -> np.ndarray:
        """The logits of all sequences without the heads that are out: (b, q, r, m)."""
        b, h, q, _, r, m = self._shape
        base = np.frombuffer(self._base, "<f4").reshape(r, m).astype("f8")
        logits, added = np.broadcast_to(base, (b, q, r, m)), self.added()
        for head in range(h):  # in the browser's order, so that both round alike
            logits = logits if head in self.ablated else logits + added[:, head]
        return logits

    def right(self) -> np.ndarray:
        """Which answers are right now, in all sequences: boolean (b, q, r)."""
        b, _, q, _, r, _ = self._shape
        answers = np.frombuffer(self._answers, "u1").reshape(b, q, r)
        return self.logits().argmax(axis=-1) == answers

    def weights(self) -> np.ndarray:
        """The weights of the sequence shown, as held, of heads in and out: (h, q, k)."""
        return np.frombuffer(self._weights, "u1").reshape(self._shape[:4])[self.batch] / 255

    def __repr__(self) -> str:
        b, h, q, k, r, _ = self._shape
        return self._text(f"{h} heads", f"{b} sequences of {q} x {k}", f"{r} answers a query")


def _as_base(base, shape: tuple[int, int]) -> np.ndarray:
    if base is None:
        return np.zeros(shape)
    base = as_finite("base", base, 2)
    if base.shape != shape:
        raise ValueError(f"base must be {shape} to fit what the heads add, got {base.shape}")
    return base


def _as_answers(answers, shape: tuple[int, ...], m: int) -> np.ndarray:
    array = as_array("answers", answers, 3)
    if array.shape != shape:
        raise ValueError(f"answers must be {shape} to fit what the heads add, got {array.shape}")
    if array.dtype.kind not in "iu" or (array < 0).any() or (array >= m).any() or m > 256:
        raise ValueError(f"answers must be integers from 0 to {m - 1}, of at most 256 classes")
    return array.astype("u1")
