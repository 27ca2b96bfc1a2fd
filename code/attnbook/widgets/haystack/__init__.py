"""The haystack explorer: what a cheap choice keeps of many keys, what it misses, what it costs."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import torch
import traitlets as t
from torch import Tensor

from ..._checks import as_some, check_choice, check_count
from ...cheap import Indexer
from ...normalize import masked_softmax
from ...scores import scaled_dot
from ..base import Widget, one_of, place_of
from .arguments import as_needles, as_pair, as_small, from_steps, in_whole_steps
from .choices import CHOICES, Choice, Haystack

SIZES = {"block": (1, 2, 4, 8, 16, 32, 64), "buckets": (2, 4, 8, 16, 32)}
LIMITS = {"rounds": 8, "clusters": 32, "nearest": 4}
SETTINGS = ("scorer", "block", "budget", "buckets", "rounds", "clusters", "nearest")
CONTROLS = ("query", *SETTINGS)


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
        query: the one that is shown.
        scorer: "mean", "indexer", "hash" or "cluster".
        budget: how many keys "mean" and "indexer" keep for a query, by default an eighth; whole
            blocks, as many as fit, and at least one, also where the budget is less than a block:
            the widget then says so.
        block: keys in a block: 1, 2, 4, 8, 16, 32 or 64.
        buckets: of a hash: 2, 4, 8, 16 or 32.
        rounds: of hashing, 1 to 8.
        clusters: 1 to 32 and at most n, by default 8.
        nearest: in how many clusters a query looks, 1 to 4.
        indexer: an `Indexer` with ReLUs, of at most 8 heads of at most 16 features; by default
            two heads of four features, that nobody trained.
        seed: draws the indexer, the hashes, and the keys at which centres start.
        controls: what the reader may change: any of "query", "scorer", "block", "budget",
            "buckets", "rounds", "clusters", "nearest".
        title: one line above the figure.
        alt: one sentence for readers who do not see it.

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
    query = t.Any().tag(sync=True)
    scorer = t.Unicode().tag(sync=True)
    block = t.Any().tag(sync=True)
    budget = t.Any().tag(sync=True)
    buckets = t.Any().tag(sync=True)
    rounds = t.Any().tag(sync=True)
    clusters = t.Any().tag(sync=True)
    nearest = t.Any().tag(sync=True)
    controls = t.List(t.Unicode()).tag(sync=True)

    _check_query = place_of("query", "queries", lambda self: self._shape[1])
    _check_scorer = one_of("scorer", lambda self: CHOICES)

    def __init__(
        self,
        keys,
        queries,
        *,
        needles=None,
        query=0,
        scorer="mean",
        budget=None,
        block=8,
        buckets=8,
        rounds=2,
        clusters=None,
        nearest=1,
        indexer=None,
        seed=0,
        controls=CONTROLS,
        title="",
        alt="",
    ):
        keys, queries = as_pair(keys, queries)
        (n, d), q = keys.shape, len(queries)
        indexer, rotations, starts = _drawn(check_count("seed", seed), n, d, indexer)
        arrays = {"keys": keys, "queries": queries, **as_small(indexer, keys, queries)}
        arrays["rotations"] = rotations
        stepped = {f"_{name}": in_whole_steps(array) for name, array in arrays.items()}
        super().__init__(
            _shape=[n, q, d, *arrays["asked"].shape[1:]],
            _steps=[step for _, step in stepped.values()],
            **{name: data for name, (data, _) in stepped.items()},
            _starts=starts,
            query=query,
            scorer=scorer,
            block=block,
            budget=max(1, n // 8) if budget is None else budget,
            buckets=buckets,
            rounds=rounds,
            clusters=min(8, n) if clusters is None else clusters,
            nearest=nearest,
            controls=as_some("controls", controls, CONTROLS),
            title=title,
            alt=alt or f"{n} keys as dots, and which of them a cheap choice keeps for a query.",
        )
        self._seed = seed
        rows, asked = self.rounded()
        self.needles = (asked @ rows.mT).argmax(-1).tolist() if needles is None else needles

    @t.validate("needles")
    def _check_needles(self, proposal):
        n, q, *_ = self._shape
        return as_needles(proposal["value"], q, n)

    @t.validate("budget", "rounds", "clusters", "nearest", "block", "buckets")
    def _check_setting(self, proposal):
        return self._setting(proposal["trait"].name, proposal["value"])

    def _setting(self, name: str, value):
        """A setting's value, or raise."""
        if name == "scorer":
            return check_choice(name, value, CHOICES)
        if name in SIZES:
            return check_choice(name, check_count(name, value), SIZES[name])
        n = self._shape[0]
        most = {"budget": n, "clusters": min(LIMITS["clusters"], n)}
        return check_count(name, value, 1, most.get(name) or LIMITS[name])

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
        shapes += ((LIMITS["rounds"], d, SIZES["buckets"][-1] // 2),)
        data = self._keys, self._queries, self._asked, self._small, self._shares, self._rotations
        parts = zip(data, self._steps, shapes, strict=True)
        return Haystack(*(from_steps(*part) for part in parts), self._seed)

    def _choice(self, settings: dict) -> Choice:
        as_some("settings", settings, SETTINGS)
        use = {name: getattr(self, name) for name in SETTINGS}
        use |= {name: self._setting(name, value) for name, value in settings.items()}
        return CHOICES[use["scorer"]](self._haystack(), SimpleNamespace(**use))

    def __repr__(self) -> str:
        n, q, *_ = self._shape
        return self._text(f"{n} keys", f"{q} queries")


def _drawn(seed: int, n: int, d: int, indexer) -> tuple[Indexer, np.ndarray, list[int]]:
    """An indexer unless it is given, rotations of all rounds, where centres start."""
    drawn = torch.Generator().manual_seed(seed)
    starts = torch.randperm(n, generator=drawn)  # first, as `k_means` draws it
    rotations = torch.randn(LIMITS["rounds"], d, SIZES["buckets"][-1] // 2, generator=drawn)
    if indexer is None:
        with torch.random.fork_rng([]):
            torch.manual_seed(seed)
            indexer = Indexer(d, d, heads=2, size=4)
    return indexer, rotations.numpy(), starts[: LIMITS["clusters"]].tolist()
