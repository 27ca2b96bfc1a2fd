"""Luong's attention on the grammar corpus: global, local-m, local-p, and global with feeding.

Every plan has the same pairs (sources of at most `LONGEST` tokens), passes and batches. The rate of
each is the best of `RATES` after `TRIAL` passes, on validation pairs (`tried`). A row holds both
losses after every pass: the curves that show whether the plateau was reached. The radius was not
chosen; it is narrow beside these sentences, so that there is something to lose. The test pairs are
judged in two groups of nearly equal lengths: statements that French takes in the order of English,
and statements whose last English clause, a time or a condition, comes first in French. Two plans
come close to each other (`CLOSE`): they are trained with six seeds, and their rows hold what is
right in each sentence, so that they can be compared sentence by sentence. The others have three
seeds. `make train` trains them; chapter 9 reads them.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from attnbook.data import Splits, collate
from attnbook.local import local_window, luong_translator
from attnbook.metrics import exact_match, hit_rate, selection

from . import translation, translators
from .loop import parameters
from .plans import plan_of
from .translators import Corpus, Study

SEEDS = range(6)
LONGEST = 20  # source tokens of a pair: a budget of minutes
GROUPS = {
    "in order": "plain when_first place_first time_first address cleft".split(),
    "moved clause": "fronted time_fronted".split(),
}
RATES = (1e-3, 2e-3, 4e-3, 8e-3)
TRIAL = 2  # passes


Plan = plan_of(
    luong_translator,
    window=None,
    bell=None,
    feed=False,
    radius=3,
    score="dot",
    dropout=0.1,
    batch_size=16,
)
PLANS = {
    "global": Plan(keep="luong_global"),
    "local-m": Plan("monotone", keep="luong_local_m"),
    "local-p": Plan("predicted", "weights", keep="luong_local_p"),
    "global, fed": Plan(feed=True),
}
CLOSE = ("global", "local-m")


@functools.cache
def load() -> Corpus:
    """The shorter pairs of the grammar corpus, parted at random."""
    parts = translation.load("random").splits
    short = ([pair for pair in part if len(pair.source) <= LONGEST] for part in parts)
    return translators.corpus_of(Splits(*short))


STUDY = Study(PLANS, lambda split: load())
stored, trace, reread = STUDY.stored, STUDY.trace, STUDY.reread
tried = functools.partial(STUDY.tried, RATES, TRIAL)


def corpus() -> str:
    """Hash of every pair, link and class."""
    return translators.digest((pair for part in load().splits for pair in part), classes=True)


def group(pairs: Sequence, name: str) -> list[int]:
    """The places of the pairs whose sentence was made by a template of this group."""
    return [i for i, p in enumerate(pairs) if p.template.split(" + ")[0] in GROUPS[name]]


@torch.no_grad()
def windows(model: nn.Module, pairs: Sequence, of: Corpus) -> list[Tensor]:
    """What each target token may attend to, target forced: masks (q, k) of tokens, no <eos>."""
    masks, decoder = [], model.decoder
    for start in range(0, len(pairs), 128):
        some = pairs[start : start + 128]
        batch = collate(some, of.source_vocab, of.target_vocab)
        output = model(batch.source, batch.source_lens, batch.inputs)
        for row, pair in enumerate(some):
            q, k = len(pair.target), len(pair.source)
            if output.centres is None:
                masks.append(torch.ones(q, k, dtype=torch.bool))
            else:
                centres = output.centres[row, :q]
                masks.append(local_window(centres, k, radius=decoder.radius))
    return masks


def hits(weights: Tensor, pair) -> float:
    """How many words of one pair the weights (q, k) put on a sure link."""
    return hit_rate([weights], [pair]) * len({t for t, _ in pair.sure})


def judge(model: nn.Module, of: Corpus, each: bool = False) -> dict:
    """What a trained model does on each group of test pairs, and what its windows keep.

    `each` asks for what is right in each pair, too: next tokens, and hits of its words.
    """
    pairs = of.splits.test
    reading = translators.read(model, pairs, of)
    kept = windows(model, pairs, of)
    found = {}
    for name in GROUPS:
        rows = group(pairs, name)
        some = [pairs[i] for i in rows]
        weights, masks = ([part[i] for i in rows] for part in (reading.weights, kept))
        chosen = selection(masks, [pair.sure for pair in some])
        found[name] = {
            "pairs": len(rows),
            "accuracy": torch.cat([reading.correct[i] for i in rows]).float().mean().item(),
            "exact": exact_match([reading.written[i] for i in rows], [p.target for p in some]),
            **translators.against_links(weights, some),
            "recall": list(chosen.recall),  # of the windows: value, and ends of its interval
            "precision": list(chosen.precision),
            "scored": chosen.scored,
            "share": chosen.share,
        }
        if each:
            found[name]["right"] = [int(reading.correct[i].sum()) for i in rows]
            found[name]["hits"] = [hits(*both) for both in zip(weights, some, strict=True)]
    return found


def one(name: str, seed: int, keep: Callable[[str, nn.Module], None]) -> dict:
    """One seed of one plan."""
    start = time.process_time()
    plan, of = PLANS[name], load()
    model, history, _ = translators.train_and_keep(plan, of, seed, keep)
    row = {
        "seed": seed,
        "plan": name,
        "seconds": time.process_time() - start,
        "parameters": parameters(model),
        **translators.curves(history),
    }
    return row | judge(model, of, name in CLOSE)


def run(seed: int, keep: Callable[[str, nn.Module], None]) -> list[dict]:
    """One seed of every plan that is trained with it."""
    return [one(name, seed, keep) for name in PLANS if seed < 3 or name in CLOSE]
