"""Translations against their references: BLEU as sacreBLEU counts it, and exact matches."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from .intervals import Interval, bootstrap_sums

Tokens = Sequence[str]


def bleu(
    hypotheses: Sequence[Tokens], references: Sequence[Tokens], *, effective_order: bool = False
) -> float:
    """Corpus BLEU from 0 to 100 over tokens as they are given, by sacreBLEU.

    sacreBLEU's own tokeniser is off (`tokenize="none"`) and case counts: the tokens are ours, so
    the numbers compare with each other and with no BLEU over other tokens. `bleu_signature` says
    the rest. Up to four-grams, exponential smoothing, one reference each.

    Where no translation has four tokens there is no four-gram to match, and the score is 0, even
    of translations that are their references. `effective_order` is for such a corpus, or a single
    short sentence.

    Args:
        hypotheses: translations, each a sequence of tokens, perhaps empty.
        references: as many, in the same order: one sequence of tokens each.
        effective_order: count n-grams only up to the longest that the translations have.

    Raises:
        TypeError: a sentence is a plain string, or a token is none: references in lists.
        ValueError: there are none, the numbers differ, or a token is empty or holds a space.

    Source: Papineni et al. 2002; Post 2018 for how it is reported.
    """
    hypotheses, references = _lines(hypotheses, references)
    score = _metric(effective_order).corpus_score(hypotheses, [references]).score
    return min(score, 100.0)  # a product of exponentials may round above


def bleu_signature(*, effective_order: bool = False) -> str:
    """What sacreBLEU did, in its own words, to be printed beside a BLEU."""
    metric = _metric(effective_order)
    metric.corpus_score(["a"], [["a"]])  # the signature knows the references once it has seen some
    return str(metric.get_signature())


def bleu_interval(
    hypotheses: Sequence[Tokens],
    references: Sequence[Tokens],
    *,
    effective_order: bool = False,
    **options,
) -> Interval:
    """`bleu` with its bootstrap interval over sentences; options as in `bootstrap`.

    Each sentence is counted once: corpus BLEU is a function of counts summed over sentences, and a
    resample sums those of the sentences drawn. A resample of short sentences alone scores 0, as in
    `bleu`: among a few sentences the lower end may be 0 for that, and not for bad translations.

    Raises:
        TypeError, ValueError: as `bleu` and `bootstrap`.
    """
    metric = _metric(effective_order)
    rows = []
    for hypothesis, reference in zip(*_lines(hypotheses, references), strict=True):
        score = metric.corpus_score([hypothesis], [[reference]])  # a corpus of one: no advice
        rows.append([*score.counts, *score.totals, score.sys_len, score.ref_len])
    counts = torch.tensor(rows)  # (n, 10): matches and n-grams by order, and the two lengths

    def statistic(sums: Tensor) -> Tensor:
        scores = [_bleu_of(metric, row) for row in sums.reshape(-1, 10).round().long().tolist()]
        return torch.tensor(scores, dtype=torch.float64).reshape(sums.shape[:-1])

    return bootstrap_sums(counts, statistic, **options)


def exact_match(hypotheses: Sequence[Tokens], references: Sequence[Tokens]) -> float:
    """Share of the translations that are their reference, token for token: 0 to 1.

    Raises:
        TypeError, ValueError: as `bleu`.
    """
    hypotheses, references = _lines(hypotheses, references)
    same = (h == r for h, r in zip(hypotheses, references, strict=True))
    return sum(same) / len(references)


def _metric(effective_order: bool):
    from sacrebleu.metrics import BLEU  # heavy, and few who import the package need it

    # force: no warning that the text looks tokenised; it is
    return BLEU(tokenize="none", lowercase=False, force=True, effective_order=effective_order)


def _bleu_of(metric, row: list[int]) -> float:
    options = {"smooth_method": "exp", "effective_order": metric.effective_order}
    counted = metric.compute_bleu(row[:4], row[4:8], row[8], row[9], **options)
    return min(counted.score, 100.0)


def _lines(
    hypotheses: Sequence[Tokens], references: Sequence[Tokens]
) -> tuple[list[str], list[str]]:
    """Sentences as lines with spaces between the tokens, which is how sacreBLEU takes them."""
    lines = _joined("hypotheses", hypotheses), _joined("references", references)
    if len(hypotheses) != len(references) or not len(references):
        raise ValueError(
            "hypotheses and references must be equally many, and at least one, got "
            f"{len(hypotheses)} and {len(references)}"
        )
    return lines


def _joined(name: str, sentences: Sequence[Tokens]) -> list[str]:
    for tokens in sentences:
        if isinstance(tokens, str):
            raise TypeError(f"{name} must hold sequences of tokens, got the string {tokens!r}")
        for token in tokens:
            if not isinstance(token, str):
                raise TypeError(
                    f"{name} must hold one sequence of tokens for each sentence, tokens of type "
                    f"str; got a token of type {type(token).__name__}: {token!r}"
                )
            if [token] != token.split():
                raise ValueError(f"{name} must hold tokens without spaces, got {token!r}")
    return [" ".join(tokens) for tokens in sentences]
