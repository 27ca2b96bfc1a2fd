"""A document as trained models read it: its sentences' weights beside what people say of them."""

from __future__ import annotations

import numpy as np
import traitlets as t

from ..._checks import as_array, as_labels
from ..base import Widget
from ..settings import Count, Place


class DocumentReader(Widget):
    """One document, the weights of its words and sentences, and bars of what the truth is.

    Each sentence has two bars: its weight in the chosen model, and what is given as `truth`, such
    as how strongly people rated it. Below each word lies a line, the darker the larger its weight
    in its sentence. The reader changes the model and erases a sentence; the softmax over the
    sentences that are left, and the logit, are computed anew.

    Args:
        sentences: n lists of words, at least two.
        readings: one for each model: "words", n lists of weights; "scores", n numbers before the
            softmax over sentences; "votes", n numbers, whose sum by weight is the logit.
        truth: n numbers of at least 0.
        names: of the models.
        truth_name: what the truth is.
        sides: what a logit below 0 and one above 0 say.

    Source: Yang et al. 2016, figure 5, shows weights of words and sentences in this way.
    """

    sentences = t.List(t.List(t.Unicode())).tag(sync=True)
    names = t.List(t.Unicode()).tag(sync=True)
    truth = t.List(t.Float()).tag(sync=True)
    truth_name = t.Unicode().tag(sync=True)
    sides = t.List(t.Unicode()).tag(sync=True)
    _readings = t.List(t.Dict()).tag(sync=True)
    reader = Place("names", "models", 0, "which model reads.", names="names", label="Model")
    erased = Count(0, "sentences", 0, "the sentence that is erased, counted from 1; 0: none.",
                   label="Erase sentence", room=2)  # fmt: skip

    def __init__(
        self,
        sentences,
        readings,
        truth,
        *,
        names=None,
        truth_name="people",
        sides=("against", "for"),
        **settings,
    ):
        sentences = [[str(word) for word in sentence] for sentence in sentences]
        n = len(sentences)
        if n < 2 or not all(sentences):
            raise ValueError(f"sentences must be two or more, each with a word, got {sentences}")
        readings = [_checked(reading, sentences) for reading in readings]
        if not readings:
            raise ValueError("readings must hold one of a model at least, got none")
        truth = as_array("truth", truth, 1, real=True)
        if truth.shape != (n,) or not (np.isfinite(truth) & (truth >= 0)).all():
            raise ValueError(f"truth must be {n} finite numbers of at least 0, got {truth}")
        [names] = as_labels("names", names, len(readings))
        if len(sides) != 2:
            raise ValueError(f"sides must be two words, got {list(sides)}")
        super().__init__(
            settings,
            f"A document of {n} sentences, with weights of words and sentences beside "
            f"{truth_name}'s bars.",
            sentences=sentences,
            names=names,
            truth=truth.tolist(),
            truth_name=truth_name,
            sides=list(sides),
            _readings=readings,
        )

    def weights(self) -> np.ndarray:
        """The weights of the sentences shown now: (n,)."""
        import torch

        from ...normalize import masked_softmax

        scores = torch.tensor(self._readings[self.reader]["scores"], dtype=torch.float64)
        left = torch.arange(len(scores)) != self.erased - 1
        return masked_softmax(scores[None], left[None])[0].numpy()

    def logit(self) -> float:
        """What the model says of the sentences that are left."""
        return float(self.weights() @ np.array(self._readings[self.reader]["votes"]))

    def __repr__(self) -> str:
        return self._text(f"{len(self.sentences)} sentences", f"{len(self.names)} models")


def _checked(reading: dict, sentences: list[list[str]]) -> dict:
    """One reading, as lists of finite numbers of the right lengths."""
    if not isinstance(reading, dict) or not {"words", "scores", "votes"} <= reading.keys():
        raise ValueError(f"readings must have words, scores and votes, got {reading}")
    rows = {name: as_array(name, reading[name], 1, real=True) for name in ("scores", "votes")}
    words = [as_array("words", row, 1, real=True) for row in reading["words"]]
    fits = [len(row) for row in words] == [len(sentence) for sentence in sentences]
    fits &= all(row.shape == (len(sentences),) for row in rows.values())
    if not fits or not all(np.isfinite(row).all() for row in [*words, *rows.values()]):
        raise ValueError("readings must hold a finite number for each sentence and for each word")
    shown = {name: np.round(row.astype(float), 5).tolist() for name, row in rows.items()}
    return {"words": [np.round(row.astype(float), 4).tolist() for row in words], **shown}
