"""Translation of everyday sentences (Tatoeba), with and without attention; Alibi as its gold.

The grammar corpus has gold links and no surprises. Here are real sentences, which have no links,
and the hand-aligned sentences of Alibi, which are of another kind than those learnt from.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from attnbook.data.alibi import alibi
from attnbook.data.fra_eng import CLASSIC_FOUR, fra_eng
from attnbook.metrics import bleu, bleu_interval, bootstrap
from attnbook.peers import import_d2l

from . import translators
from .loop import parameters
from .translators import Corpus, Plan, Study, against_links, by_head, read

SEEDS = range(3)
LONGEST = 10  # tokens on either side
PAIRS = 40_000  # to learn from
JUDGED = 1_000  # held-out pairs
ALIGNED = 15  # longest sentences of Alibi
# What every model here gets, chapter 7's Transformer included.
RECIPE = {"epochs": 10, "dropout": 0.2, "label_smoothing": 0.1, "betas": (0.9, 0.98)}
RATES = 2e-3, 4e-3, 8e-3, 16e-3  # tried, each for `TRIED` pass; the best stands in the plan
TRIED = 1
PLANS = {
    "none": Plan(None, learning_rate=0.008, keep="everyday_none", **RECIPE),
    "before, additive": Plan("before", learning_rate=0.008, keep="everyday_before", **RECIPE),
}
LOOK_UP = "nearest sentence"  # a row of the table that no model made


@functools.cache
def load() -> Corpus:
    """Short everyday pairs, with words that the training set has at least five times."""
    splits = fra_eng(max_len=LONGEST, limit=PAIRS)
    splits = splits._replace(validation=splits.validation[:500], test=splits.test[:JUDGED])
    return translators.corpus_of(splits, min_count=5)


def corpus() -> str:
    """Hash of every pair that is learnt from or judged on, Alibi's links among them."""
    parts = (*load().splits, alibi(max_len=ALIGNED))
    return translators.digest(pair for part in parts for pair in part)


def four(written: Sequence[Sequence[str]]) -> float:
    """Mean BLEU of the classic chapter's four sentences, 0 to 1, as that chapter counts it.

    A number to be warned of. d2l's BLEU goes up to pairs of tokens; up to four, as sacreBLEU does,
    a translation of two words would score 0, right or wrong.
    """
    score = import_d2l().bleu
    each = [
        score(" ".join(words), " ".join(pair.target), 2)
        for words, pair in zip(written, CLASSIC_FOUR, strict=True)
    ]
    return sum(each) / len(each)


def judge(model: nn.Module, of: Corpus) -> dict:
    """What the table holds of one trained model.

    Its weights, if any, are judged by links made by hand, target forced, each layer's and head's
    by itself.
    """
    pairs = of.splits.test
    written = read(model, pairs, of).written
    value, low, high = bleu_interval(written, [pair.target for pair in pairs])
    classic = read(model, CLASSIC_FOUR, of).written
    row = {
        "parameters": parameters(model),
        "bleu": value,
        "low": low,
        "high": high,
        "four": four(classic),
        "four written": [" ".join(words) for words in classic],
    }
    gold = alibi(max_len=ALIGNED)
    weights = read(model, gold, of).weights
    if weights[0] is not None:
        row["alibi"] = by_head(against_links, weights, gold)
    return row


def look_up(pairs: Sequence, known: Sequence) -> list[tuple[str, ...]]:
    """The French of the known pair whose English is most like that of each pair: no model at all.

    Alike is the cosine of the counts of words; of those that tie, the first.
    """
    words = {word: n for n, word in enumerate(sorted({w for pair in known for w in pair.source}))}

    def counts(rows: Sequence) -> Tensor:  # (rows, words), sparse; equal places are added up
        at = [(i, words[w]) for i, pair in enumerate(rows) for w in pair.source if w in words]
        size = len(rows), len(words)
        given = torch.tensor(at).T, torch.ones(len(at)), size
        return torch.sparse_coo_tensor(*given, check_invariants=True).coalesce()

    there = counts(known)
    alike = torch.sparse.mm(there, counts(pairs).to_dense().T)  # (known, pairs)
    alike /= there.pow(2).sum(dim=1).to_dense().sqrt().unsqueeze(1)
    return [known[i].target for i in alike.argmax(dim=0).tolist()]


def beside_look_up(model: nn.Module, of: Corpus) -> dict:
    """The row of the look-up; by how much a model is ahead of it, paired over the sentences."""
    pairs = of.splits.test
    targets = [pair.target for pair in pairs]
    found, written = look_up(pairs, of.splits.train), read(model, pairs, of).written

    def ahead(items: list) -> float:
        ours, theirs, references = zip(*items, strict=True)
        return bleu(ours, references) - bleu(theirs, references)

    value, low, high = bleu_interval(found, targets)
    items = list(zip(written, found, targets, strict=True))
    ahead_by = list(bootstrap(ahead, items, samples=200))
    return {"plan": LOOK_UP, "bleu": value, "low": low, "high": high, "none ahead by": ahead_by}


study = functools.partial(Study, load=lambda split: load(), judge=judge)
STUDY = study(PLANS)
stored, trace, reread = STUDY.stored, STUDY.trace, STUDY.reread
tried = functools.partial(STUDY.tried, RATES, TRIED, "learning rate")


def run(seed: int, keep: Callable[[str, nn.Module], None]) -> list[dict]:
    """One seed of every plan, and once the look-up beside the model without attention."""
    models = {}

    def keep_too(file: str, model: nn.Module) -> None:
        keep(file, model)
        models[file] = model

    rows = STUDY.run(seed, keep_too)
    if models:
        rows.append({"seed": seed, **beside_look_up(models["everyday_none"], load())})
    return rows
