"""The haystack explorer: what a cheap choice keeps of many keys, what it misses, what it costs."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import torch
import traitlets as t
from torch import Tensor

from ..._checks import as_some, check_count
from ...cheap import Indexer
from ...normalize import masked_softmax
from ...scores import scaled_dot
from ..base import Widget
from ..settings import Choice, Controls, Count, Place, Size
from .arguments import as_needles, as_pair, as_small, from_steps, in_whole_steps
from .choices import CHOICES, Haystack, Kept

WAYS = {
    "mean": "blocks by mean keys",
    "indexer": "keys by an indexer",
    "hash": "keys by a hash",
    "cluster": "keys by clusters",
}
BLOCKS, BUCKETS = (1, 2, 4, 8, 16, 32, 64), (2, 4, 8, 16, 32)
BUDGETS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)
ROUNDS, CLUSTERS = 8, 32  # at most
USED = ("scorer", "block", "budget", "buckets", "rounds", "clusters", "nearest")


class HaystackExplorer(Widget):
    """Keys as dots, one query, and a cheap choice among them, alive in a notebook and on a page.

    The more weight dense attention gives to a key, the larger and stronger is its dot. Keys that
    the choice leaves out are hatched, the key that the query looks for, its needle, has a ring,
    and the bar above a key or a block is the cheap score by which it was kept or not. The browser
    computes all of it from the keys and the queries.

    "mean" keeps whole blocks, by the mean of their keys (`mean_key_blocks`); with blocks of one
    key these are the scores of dense attention. "indexer" keeps single keys by the scores of an
    `Indexer`. "hash" keeps the keys that share a bucket with the query (`same_bucket`), "cluster"
    those in the clusters nearest to it (`same_cluster`); these two take no budget.

    Args:
        keys, queries: (n, d) and (q, d), n at most 256, q and d at most 32; rounded to 16 bits.
        needles: for each query the key that it looks for; by default its best by dot product.
        indexer: an `Indexer` with ReLUs, of at most 8 heads of at most 16 features; by default
            two heads of four features, that nobody trained.
        seed: draws the indexer, the hashes, and the keys at which centres start.

    Raises:
        TypeError, ValueError: an argument does not fit; the message names it, what came and what
            is needed.

    Source: Lu et al. 2025 (MoBA), section 2.2; Kitaev, Kaiser and Levskaya 2020 (Reformer),
    section 2; Roy et al. 2021 (Routing Transformer); DeepSeek-AI 2025 (DeepSeek-V3.2), section 2.1.
    """

    _shape = t.List(t.Int()).tag(sync=True)  # n, q, d, heads, and features of a head
    _steps = t.List(t.Float()).tag(sync=True)  # of the six arrays, int16, little-endian
    _keys = t.Bytes().tag(sync=True)  # (n, d)
    _queries = t.Bytes().tag(sync=True)  # (q, d)
    _asked = t.Bytes().tag(sync=True)  # (q, heads, size), the indexer's queries
    _small = t.Bytes().tag(sync=True)  # (n, size), its keys
    _shares = t.Bytes().tag(sync=True)  # (q, heads), its weights
    _rotations = t.Bytes().tag(sync=True)  # (rounds, d, half), as many as can be asked for
    _starts = t.List(t.Int()).tag(sync=True)  # the keys at which the centres of clusters start
    needles = t.Any().tag(sync=True)  # a key for each query
    query = Place("_shape.1", "queries", 0, "the one that is shown.", room=2)
    scorer = Choice(WAYS, "mean", "how it is chosen", label="Keep")
    block = Size(BLOCKS, 8, "keys in a block", when=("scorer", "mean"))
    budget = Count(
        1,
        "_shape.0",
        lambda fixed: max(1, fixed._shape[0] // 8),
        'how many keys "mean" and "indexer" keep for a query, by default an eighth; whole blocks, '
        "as many as fit, and at least one, also where the budget is less than a block: the widget "
        "then says so.",
        sizes=BUDGETS,
        when=("scorer", "mean", "indexer"),
    )
    buckets = Size(BUCKETS, 8, "of a hash", when=("scorer", "hash"))
    rounds = Count(1, ROUNDS, 2, "of hashing", when=("scorer", "hash"))
    clusters = Count(
        1,
        (CLUSTERS, "_shape.0"),
        lambda fixed: min(8, fixed._shape[0]),
        f"1 to {CLUSTERS} and at most n, by default 8.",
        when=("scorer", "cluster"),
    )
    nearest = Count(
        1, 4, 1, "in how many clusters a query looks", label="Look in", when=("scorer", "cluster")
    )
    controls = Controls("query", *USED)

    def __init__(self, keys, queries, *, needles=None, indexer=None, seed=0, **settings):
        keys, queries = as_pair(keys, queries)
        (n, d), q = keys.shape, len(queries)
        indexer, rotations, starts = _drawn(check_count("seed", seed), n, d, indexer)
        arrays = {"keys": keys, "queries": queries, **as_small(indexer, keys, queries)}
        arrays["rotations"] = rotations
        stepped = {f"_{name}": in_whole_steps(array) for name, array in arrays.items()}
        super().__init__(
            settings,
            f"{n} keys as dots, and which of them a cheap choice keeps for a query.",
            _shape=[n, q, d, *arrays["asked"].shape[1:]],
            _steps=[step for _, step in stepped.values()],
            **{name: data for name, (data, _) in stepped.items()},
            _starts=starts,
        )
        self._seed = seed
        rows, asked = self.rounded()
        self.needles = (asked @ rows.mT).argmax(-1).tolist() if needles is None else needles

    @t.validate("needles")
    def _check_needles(self, proposal):
        n, q, *_ = self._shape
        return as_needles(proposal["value"], q, n)

    def rounded(self) -> tuple[Tensor, Tensor]:
        """Keys (n, d) and queries (q, d) as they are computed with, in double precision."""
        return self._haystack()[:2]

    def weights(self) -> Tensor:
        """The weights of dense attention, (q, n)."""
        keys, queries = self.rounded()
        return masked_softmax(scaled_dot(queries, keys))

    def kept(self, **settings) -> Tensor:
        """Which keys are kept for each query, boolean (q, n).

        Here and below `settings`, such as scorer="hash" or block=16, count instead of those that
        are shown, which stay as they are.
        """
        return self._choice(settings).kept

    def scores(self, **settings) -> Tensor:
        """The cheap score of each key, (q, n): the larger, the sooner it is kept.

        Of a block for all its keys; of a hash the number of rounds that agree; of a cluster the
        negative distance from the query to its centre.
        """
        return self._choice(settings).scores

    def found(self, **settings) -> Tensor:
        """For which queries the needle is kept, boolean (q,)."""
        return self.kept(**settings)[torch.arange(self._shape[1]), self.needles]

    def weight_kept(self, **settings) -> Tensor:
        """The share of dense attention's weight that lies on kept keys, (q,)."""
        return (self.weights() * self.kept(**settings)).sum(-1)

    def spent(self, **settings) -> int:
        """Multiplications to choose for one query, where the scores of dense attention need n * d.

        What is made before (means, codes, centres, the indexer's small vectors) is left out.
        """
        return self._choice(settings).spent

    def _haystack(self) -> Haystack:
        n, q, d, heads, size = self._shape
        shapes = (n, d), (q, d), (q, heads, size), (n, size), (q, heads)
        shapes += ((ROUNDS, d, BUCKETS[-1] // 2),)
        data = self._keys, self._queries, self._asked, self._small, self._shares, self._rotations
        parts = zip(data, self._steps, shapes, strict=True)
        return Haystack(*(from_steps(*part) for part in parts), self._seed)

    def _choice(self, settings: dict) -> Kept:
        as_some("settings", settings, USED)
        use = {name: getattr(self, name) for name in USED}
        use |= {name: self._settings[name].check(self, to) for name, to in settings.items()}
        return CHOICES[use["scorer"]](self._haystack(), SimpleNamespace(**use))

    def __repr__(self) -> str:
        n, q, *_ = self._shape
        return self._text(f"{n} keys", f"{q} queries")


def _drawn(seed: int, n: int, d: int, indexer) -> tuple[Indexer, np.ndarray, list[int]]:
    """An indexer unless it is given, rotations of all rounds, where centres start."""
    drawn = torch.Generator().manual_seed(seed)
    starts = torch.randperm(n, generator=drawn)  # first, as `k_means` draws it
    rotations = torch.randn(ROUNDS, d, BUCKETS[-1] // 2, generator=drawn)
    if indexer is None:
        with torch.random.fork_rng([]):
            torch.manual_seed(seed)
            indexer = Indexer(d, d, heads=2, size=4)
    return indexer, rotations.numpy(), starts[:CLUSTERS].tolist()
