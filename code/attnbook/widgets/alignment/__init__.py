"""The alignment viewer: attention of a translator beside gold links, step by step."""

from __future__ import annotations

import numpy as np
import traitlets as t

from ..._checks import as_place, check_choice
from .. import base
from ..settings import Choice, Controls, Number, Place, Switch
from .examples import MASKED, UNITS, AlignmentExample, as_examples

__all__ = ["AlignmentExample", "AlignmentViewer"]

LINKS = ("sure", "possible")


class AlignmentViewer(base.Widget):
    """Where a translator looks, word by word, beside where gold says the word comes from.

    For each sentence pair the target tokens are the rows of a heat map and the source tokens its
    columns; padding and what a mask forbids are hatched. Sure links are outlined with a solid
    line, possible ones with a dashed line. The reader steps through decoding: rows to come are
    faded, and beside the map stands what was decoded, where its weight went, and whether its
    largest weight is on a gold link. A second view draws the weights as lines between the two
    sentences.

    Args:
        examples: a sequence of `AlignmentExample`, or of mappings or NamedTuples with its fields.
        model_labels: the keys of the examples' `weights` in the order to show them, or a mapping
            from these keys to what the models are called; by default the keys as they are.

    Weights are shown as given, to four digits: zero stays zero, what is not zero stays so, a row
    that sums to less than 1 is not scaled, and each row keeps its argmax. Of equal largest weights
    the first counts.

    Raises:
        TypeError: an argument, or a field of an example, is of another kind.
        ValueError: one does not fit; the message names it, what came and what is needed.

    Source: the map as in Bahdanau et al. 2015, figure 3; sure and possible links as in Och and
    Ney 2003, section 5.
    """

    _examples = t.List(t.Dict()).tag(sync=True)  # as `as_examples` gives them
    _weights = t.Bytes().tag(sync=True)  # uint16 units, little-endian: example, model, q, k
    model_labels = t.List(t.Unicode()).tag(sync=True)
    example = Place(
        "_examples",
        "examples",
        0,
        "the position of the example to show.",
        label="Sentence",
        names="_examples",
        optional=True,
    )
    model = Choice(
        {},
        lambda fixed: fixed.model_labels[0],
        "the label of the model to show; by default the first.",
        of="model_labels",
        label="",
    )
    side_by_side = Switch(says="whether all models are shown beside each other.", label="")
    view = Choice({"map": "Heat map", "lines": "Lines"}, "map", "how they are drawn", beside=True)
    step = Place(
        lambda widget: len(widget._examples[widget.example]["target"]),
        "target tokens",
        lambda fixed: len(fixed._examples[fixed.example]["target"]) - 1,
        "the target token that decoding has reached, from 0; by default the last.",
        label="",
    )
    vmax = Number(
        1.0,
        "the weight of the darkest colour, for all models and examples.",
        positive=True,
        fixed=True,
    )
    controls = Controls(
        "example",
        "model",
        "view",
        "step",
        "play",
        order=("example", "model", "view", "play", "step"),
    )

    def __init__(self, examples, *, model_labels=None, **settings):
        plain, units, labels = as_examples(examples, model_labels)
        pairs = "1 sentence pair" if len(plain) == 1 else f"{len(plain)} sentence pairs"
        super().__init__(
            settings,
            f"Attention weights of {pairs}, target by source tokens, with gold links outlined: "
            f"{', '.join(labels)}.",
            _examples=plain,
            _weights=b"".join(plane.tobytes() for planes in units for plane in planes),
            model_labels=labels,
        )

    @property
    def _shown(self) -> dict:
        return self._examples[self.example]

    @t.observe("example")
    def _keep_step(self, change):
        """A step at the end stays at the end; another stays where it is, if it can."""
        if not isinstance(change["old"], int):  # at the start there is no old example
            return
        last, before = (
            len(self._examples[n]["target"]) - 1 for n in (change["new"], change["old"])
        )
        self.step = last if self.step == before else min(self.step, last)

    def weights(self, model: str | None = None, example: int | None = None) -> np.ndarray:
        """The weights as the browser has them: (q, k) in float64.

        Args:
            model: its label; by default the one that is shown.
            example: its position; by default the one that is shown.
        """
        units = self._units(model, self.example if example is None else example)
        return np.where(units == MASKED, 0, units) / UNITS

    def _units(self, model: str | None, example: int) -> np.ndarray:
        """The weights as they are saved: (q, k)."""
        model = check_choice("model", self.model if model is None else model, self.model_labels)
        example = as_place("example", example, len(self._examples), "examples")
        sizes = [len(e["target"]) * len(e["source"]) for e in self._examples]
        m = len(self.model_labels)
        start = m * sum(sizes[:example]) + self.model_labels.index(model) * sizes[example]
        units = np.frombuffer(self._weights, "<u2", sizes[example], 2 * start)
        return units.reshape(-1, len(self._examples[example]["source"]))

    def allowed(self, model: str | None = None) -> np.ndarray:
        """Where attention is allowed in the example shown: boolean (q, k).

        Args:
            model: its label; by default the one that is shown.
        """
        units = self._units(model, self.example)
        return (units != MASKED) & (np.arange(units.shape[1]) < self._shown["length"])

    def gold(self, links: str = "sure") -> np.ndarray:
        """The sure or the possible links of the example shown: boolean (q, k).

        Sure links are possible, too.
        """
        kinds = LINKS[: 1 + LINKS.index(check_choice("links", links, LINKS))]
        found = [link for kind in kinds for link in self._shown[kind]]
        return base.marks_of(found, self.allowed().shape)

    def hits(self, links: str = "sure", model: str | None = None) -> tuple[int, int]:
        """Tokens so far with their largest weight on a link, and tokens so far that have a link.

        Args:
            links: "sure" or "possible".
            model: its label; by default the one that is shown.
        """
        reached = self.step + 1
        return base.hits(self.weights(model)[:reached], self.gold(links)[:reached])

    def __repr__(self) -> str:
        count = len(self._examples)
        examples = "1 example" if count == 1 else f"{count} examples"
        return f"AlignmentViewer({examples}, models: {', '.join(self.model_labels)})"
