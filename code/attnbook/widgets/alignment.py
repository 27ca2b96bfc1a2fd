"""The alignment viewer: attention of a translator beside gold links, step by step."""

from __future__ import annotations

import anywidget
import numpy as np
import traitlets as t

from . import arguments, bundle
from .alignment_examples import UNITS, as_examples

CONTROLS = ("example", "model", "view", "step", "play")
VIEWS = ("map", "lines")
LINKS = ("sure", "possible")


class AlignmentViewer(anywidget.AnyWidget):
    """Where a translator looks, word by word, beside where gold says the word comes from.

    For each sentence pair the target tokens are the rows of a heat map and the source tokens its
    columns, padding hatched. Sure links are outlined with a solid line, possible ones with a
    dashed line. The reader steps through decoding: rows to come are faded, and beside the map
    stands what was decoded, where its weight went, and whether its largest weight is on a gold
    link. A second view draws the weights as lines between the two sentences.

    Args:
        examples: a sequence of `AlignmentExample`, or of mappings or NamedTuples with its fields.
        model_labels: the keys of the examples' `weights` in the order to show them, or a mapping
            from these keys to what the models are called; by default the keys as they are.
        example: the position of the example to show.
        model: the label of the model to show; by default the first.
        side_by_side: whether all models are shown beside each other.
        view: "map" or "lines".
        step: the target token that decoding has reached, from 0; by default the last.
        controls: what the reader may change: any of "example", "model", "view", "step", "play".
            A list with nothing to choose from is left out.
        title: one line above.
        alt: one sentence for readers who do not see it.
        vmax: the weight of the darkest colour, for all models and examples.

    Weights are kept to four digits; a weight that is not zero stays so, and each row keeps its
    argmax. Of equal largest weights the first counts.

    Raises:
        TypeError: an argument, or a field of an example, is of another kind.
        ValueError: one does not fit; the message names it, what came and what is needed.

    Source: the map as in Bahdanau et al. 2015, figure 3; sure and possible links as in Och and
    Ney 2003, section 5.
    """

    # One stable name in saved state, wherever in the package the class lives.
    __module__ = "attnbook.widgets"

    _esm = bundle.sources("attnbook.widgets.AlignmentViewer")["esm"]
    _css = bundle.sources("attnbook.widgets.AlignmentViewer")["css"]

    _examples = t.List(t.Dict()).tag(sync=True)  # as `as_examples` gives them
    _weights = t.Bytes().tag(sync=True)  # uint16 units, little-endian: example, model, q, k
    model_labels = t.List(t.Unicode()).tag(sync=True)
    example = t.Int().tag(sync=True)
    model = t.Unicode().tag(sync=True)
    side_by_side = t.Bool().tag(sync=True)
    view = t.Unicode("map").tag(sync=True)
    step = t.Int().tag(sync=True)
    controls = t.List(t.Unicode()).tag(sync=True)
    title = t.Unicode().tag(sync=True)
    alt = t.Unicode().tag(sync=True)
    vmax = t.Float(1.0).tag(sync=True)

    def __init__(
        self,
        examples,
        *,
        model_labels=None,
        example=0,
        model=None,
        side_by_side=False,
        view="map",
        step=None,
        controls=CONTROLS,
        title="",
        alt="",
        vmax=1.0,
    ):
        plain, units, labels = as_examples(examples, model_labels)
        example = arguments.as_position("example", example, len(plain), "examples")
        q = len(plain[example]["target"])
        pairs = "1 sentence pair" if len(plain) == 1 else f"{len(plain)} sentence pairs"
        super().__init__(
            _examples=plain,
            _weights=b"".join(plane.tobytes() for planes in units for plane in planes),
            model_labels=labels,
            example=example,
            model=_one_of("model", labels[0] if model is None else model, labels),
            side_by_side=bool(side_by_side),
            view=_one_of("view", view, VIEWS),
            step=q - 1 if step is None else arguments.as_position("step", step, q, "target tokens"),
            controls=arguments.as_controls(controls, CONTROLS),
            title=title,
            alt=alt
            or f"Attention weights of {pairs}, target by source tokens, with gold links outlined: "
            f"{', '.join(labels)}.",
            vmax=arguments.as_positive("vmax", vmax),
        )

    @t.validate("vmax")
    def _check_positive(self, proposal):
        return arguments.as_positive("vmax", proposal["value"])

    @t.validate("example")
    def _check_example(self, proposal):
        return arguments.as_position("example", proposal["value"], len(self._examples), "examples")

    @t.validate("step")
    def _check_step(self, proposal):
        q = len(self._examples[self.example]["target"])
        return arguments.as_position("step", proposal["value"], q, "target tokens")

    @t.validate("model")
    def _check_model(self, proposal):
        return _one_of("model", proposal["value"], self.model_labels)

    @t.validate("view")
    def _check_view(self, proposal):
        return _one_of("view", proposal["value"], VIEWS)

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
        model = _one_of("model", self.model if model is None else model, self.model_labels)
        example = self.example if example is None else example
        count = len(self._examples)
        example = arguments.as_position("example", example, count, "examples")
        sizes = [len(e["target"]) * len(e["source"]) for e in self._examples]
        m = len(self.model_labels)
        start = m * sum(sizes[:example]) + self.model_labels.index(model) * sizes[example]
        units = np.frombuffer(self._weights, "<u2", sizes[example], 2 * start)
        return units.reshape(-1, len(self._examples[example]["source"])) / UNITS

    def allowed(self) -> np.ndarray:
        """Where attention is allowed in the example shown: boolean (q, k)."""
        shown = self._examples[self.example]
        q, k = len(shown["target"]), len(shown["source"])
        return np.broadcast_to(np.arange(k) < shown["length"], (q, k))

    def gold(self, links: str = "sure") -> np.ndarray:
        """The sure or the possible links of the example shown: boolean (q, k).

        Sure links are possible, too.
        """
        kinds = LINKS[: 1 + LINKS.index(_one_of("links", links, LINKS))]
        shown = self._examples[self.example]
        marks = np.zeros((len(shown["target"]), len(shown["source"])), dtype=bool)
        for i, j in [link for kind in kinds for link in shown[kind]]:
            marks[i, j] = True
        return marks

    def hits(self, links: str = "sure", model: str | None = None) -> tuple[int, int]:
        """Tokens so far with their largest weight on a link, and tokens so far that have a link.

        Args:
            links: "sure" or "possible".
            model: its label; by default the one that is shown.
        """
        marks = self.gold(links)[: self.step + 1]
        weights = self.weights(model)[: self.step + 1]
        rows = marks.any(axis=1)
        hit = marks[np.arange(len(marks)), weights.argmax(axis=1)] & weights.any(axis=1)
        return int(hit[rows].sum()), int(rows.sum())

    def __repr__(self) -> str:
        count = len(self._examples)
        examples = "1 example" if count == 1 else f"{count} examples"
        return f"AlignmentViewer({examples}, models: {', '.join(self.model_labels)})"


def _one_of(name: str, value, known) -> str:
    if value not in known:
        raise ValueError(f"{name} must be one of {', '.join(known)}; got {value!r}")
    return value
