"""The haystack explorer: what a cheap choice keeps of many keys, what it misses, what it costs."""

from __future__ import annotations

import numpy as np
import torch
import traitlets as t
from torch import Tensor

from ... import cheap
from ..._checks import as_some, check_choice, check_count
from ...normalize import masked_softmax
from ...scores import scaled_dot
from ..base import Widget, one_of, place_of
from .arguments import as_directions, as_needles, as_pair, from_steps, in_whole_steps

SCORERS = ("mean", "low_rank", "hash", "cluster")
SIZES = {"block": (1, 2, 4, 8, 16, 32, 64), "buckets": (2, 4, 8, 16, 32)}
LIMITS = {"rounds": 8, "clusters": 32, "nearest": 4}
CONTROLS = (
    "query",
    "scorer",
    "block",
    "rank",
    "budget",
    "buckets",
    "rounds",
    "clusters",
    "nearest",
)


class HaystackExplorer(Widget):
    """Keys as dots, one query, and a cheap choice among them, alive in a notebook and on a page.

    The more weight dense attention gives to a key, the larger and stronger is its dot. Keys that
    the choice leaves out are hatched, the key that the query looks for, its needle, has a ring,
    and the bar above a key or a block is the cheap score by which it was kept or not. The browser
    computes all of it from the keys and the queries.

    "mean" keeps whole blocks, by the mean of their keys (`mean_key_blocks`); with blocks of one
    key these are the scores of dense attention. "low_rank" keeps single keys by a product in few
    features, along the first `rank` of the `directions`: an indexer of one head that nobody
    trained. "hash" keeps the keys that share a bucket with the query (`same_bucket`), "cluster"
    those in the clusters nearest to it (`same_cluster`); these two take no budget.

    Args:
        keys, queries: (n, d) and (q, d), n at most 256, q and d at most 32; rounded to 16 bits.
        needles: for each query the key that it looks for; by default its best by dot product.
        query: the one that is shown.
        scorer: "mean", "low_rank", "hash" or "cluster".
        budget: how many keys "mean" and "low_rank" keep for a query, by default an eighth; whole
            blocks, as many as fit, and at least one.
        block: keys in a block: 1, 2, 4, 8, 16, 32 or 64.
        rank: features of the low-rank product, by default 4.
        buckets: of a hash: 2, 4, 8, 16 or 32.
        rounds: of hashing, 1 to 8.
        clusters: 1 to 32 and at most n, by default 8.
        nearest: in how many clusters a query looks, 1 to 4.
        directions: (d, r), r at most d; by default d of them at right angles, drawn at random.
        seed: draws the directions, the hashes, and the keys at which centres start.
        controls: what the reader may change: any of "query", "scorer", "block", "rank", "budget",
            "buckets", "rounds", "clusters", "nearest".
        title: one line above the figure.
        alt: one sentence for readers who do not see it.

    Raises:
        TypeError, ValueError: an argument does not fit; the message names it, what came and what
            is needed.

    Source: Lu et al. 2025 (MoBA), section 2.2; Kitaev, Kaiser and Levskaya 2020 (Reformer),
    section 2; Roy et al. 2021 (Routing Transformer); DeepSeek-AI 2025 (DeepSeek-V3.2), section 2.1.
    """

    _shape = t.List(t.Int()).tag(sync=True)  # n, q, d, and how many directions
    _steps = t.List(t.Float()).tag(sync=True)  # of the four arrays, int16, little-endian
    _keys = t.Bytes().tag(sync=True)  # (n, d)
    _queries = t.Bytes().tag(sync=True)  # (q, d)
    _directions = t.Bytes().tag(sync=True)  # (d, r)
    _rotations = t.Bytes().tag(sync=True)  # (rounds, d, half), as many as can be asked for
    _starts = t.List(t.Int()).tag(sync=True)  # the keys at which the centres of clusters start
    needles = t.Any().tag(sync=True)  # a key for each query
    query = t.Any().tag(sync=True)
    scorer = t.Unicode().tag(sync=True)
    block = t.Any().tag(sync=True)
    rank = t.Any().tag(sync=True)
    budget = t.Any().tag(sync=True)
    buckets = t.Any().tag(sync=True)
    rounds = t.Any().tag(sync=True)
    clusters = t.Any().tag(sync=True)
    nearest = t.Any().tag(sync=True)
    controls = t.List(t.Unicode()).tag(sync=True)

    _check_query = place_of("query", "queries", lambda self: self._shape[1])
    _check_scorer = one_of("scorer", lambda self: SCORERS)

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
        rank=None,
        buckets=8,
        rounds=2,
        clusters=None,
        nearest=1,
        directions=None,
        seed=0,
        controls=CONTROLS,
        title="",
        alt="",
    ):
        keys, queries = as_pair(keys, queries)
        (n, d), q = keys.shape, len(queries)
        directions, rotations, starts = _drawn(check_count("seed", seed), n, d, directions)
        arrays = {"keys": keys, "queries": queries, "directions": directions}
        arrays |= {"rotations": rotations}
        stepped = {f"_{name}": in_whole_steps(array) for name, array in arrays.items()}
        super().__init__(
            _shape=[n, q, d, directions.shape[1]],
            _steps=[step for _, step in stepped.values()],
            **{name: data for name, (data, _) in stepped.items()},
            _starts=starts,
            query=query,
            scorer=scorer,
            block=block,
            rank=min(4, directions.shape[1]) if rank is None else rank,
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
        n, q, _, _ = self._shape
        return as_needles(proposal["value"], q, n)

    @t.validate("budget", "rank", "rounds", "clusters", "nearest")
    def _check_count(self, proposal):
        name, (n, _, _, r) = proposal["trait"].name, self._shape
        most = {"budget": n, "rank": r, "clusters": min(LIMITS["clusters"], n)}
        return check_count(name, proposal["value"], 1, most.get(name) or LIMITS[name])

    @t.validate("block", "buckets")
    def _check_size(self, proposal):
        name = proposal["trait"].name
        return check_choice(name, check_count(name, proposal["value"]), SIZES[name])

    def rounded(self) -> tuple[Tensor, Tensor]:
        """Keys (n, d) and queries (q, d) as they are computed with, in double precision."""
        n, q, d, _ = self._shape
        keys = from_steps(self._keys, self._steps[0], n, d)
        return keys, from_steps(self._queries, self._steps[1], q, d)

    def weights(self) -> Tensor:
        """The weights of dense attention, (q, n)."""
        keys, queries = self.rounded()
        return masked_softmax(scaled_dot(queries, keys))

    def scores(self) -> Tensor:
        """The cheap score of each key, (q, n): the larger, the sooner it is kept.

        Of a block for all its keys; of a hash the number of rounds that agree; of a cluster the
        negative distance from the query to its centre.
        """
        return self._choice()[0]

    def kept(self) -> Tensor:
        """Which keys are kept for each query, boolean (q, n)."""
        return self._choice()[1]

    def found(self) -> Tensor:
        """For which queries the needle is kept, boolean (q,)."""
        return self.kept()[torch.arange(self._shape[1]), self.needles]

    def weight_kept(self) -> Tensor:
        """The share of dense attention's weight that lies on kept keys, (q,)."""
        return (self.weights() * self.kept()).sum(-1)

    def spent(self) -> int:
        """Multiplications to choose for one query.

        Those that turn the query count; what is the same for all queries (means, codes, centres,
        keys in few features) does not. Dense attention's scores need n * d.
        """
        n, _, d, _ = self._shape
        return {
            "mean": -(-n // self.block) * d,
            "low_rank": d * self.rank + n * self.rank,
            "hash": self.rounds * d * self.buckets // 2,
            "cluster": self.clusters * d,
        }[self.scorer]

    def centres(self) -> Tensor:
        """The centres of the clusters, (clusters, d), where k-means leaves them."""
        start = torch.Generator().manual_seed(self._seed)
        return cheap.k_means(self.rounded()[0], self.clusters, generator=start)

    def _choice(self) -> tuple[Tensor, Tensor]:
        """Scores and kept keys of all queries, each (q, n), by the package's own functions."""
        keys, queries = self.rounded()
        n, d = keys.shape
        if self.scorer == "hash":
            shape = LIMITS["rounds"], d, SIZES["buckets"][-1] // 2
            turns = from_steps(self._rotations, self._steps[3], *shape)
            turns = turns[: self.rounds, :, : self.buckets // 2]
            codes = cheap.hash_codes(queries, turns), cheap.hash_codes(keys, turns)
            agree = (codes[0].unsqueeze(1) == codes[1]).sum(-1).double()
            return agree, cheap.same_bucket(*codes)
        if self.scorer == "cluster":
            centres = self.centres()
            home = cheap._nearness(keys, centres).argmax(-1)  # (n,)
            near = cheap._nearness(queries, centres)
            far = queries.square().sum(-1, keepdim=True) - 2 * near
            looked = cheap.keep_blocks(near, self.nearest, 1, self.clusters)  # of equal the first
            return -far.clamp(min=0).sqrt()[:, home], looked[:, home]
        if self.scorer == "low_rank":
            few = from_steps(self._directions, self._steps[2], d, -1)[:, : self.rank]
            scores = (queries @ few) @ (keys @ few).mT
            return scores, cheap.keep_blocks(scores, self.budget, 1, n)
        scores = cheap.mean_key_scores(queries, keys, block=self.block)  # (q, blocks)
        kept = cheap.keep_blocks(scores, max(1, self.budget // self.block), self.block, n)
        return scores.repeat_interleave(self.block, dim=-1)[:, :n], kept

    def __repr__(self) -> str:
        n, q, _, _ = self._shape
        return self._text(f"{n} keys", f"{q} queries")


def _drawn(seed: int, n: int, d: int, directions) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Directions unless they are given, rotations of all rounds, where centres start."""
    drawn = torch.Generator().manual_seed(seed)
    starts = torch.randperm(n, generator=drawn)  # first, as `k_means` draws it
    rotations = torch.randn(LIMITS["rounds"], d, SIZES["buckets"][-1] // 2, generator=drawn)
    if directions is None:
        directions = torch.linalg.qr(torch.randn(d, d, generator=drawn).double()).Q
    return as_directions(directions, d), rotations.numpy(), starts[: LIMITS["clusters"]].tolist()
