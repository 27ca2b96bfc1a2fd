"""Next-token sampling: what temperature and cuts leave of a distribution, and what is drawn."""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Callable

import numpy as np
import traitlets as t

from ..._checks import as_array, as_labels, as_place, check_count
from ..base import Widget
from ..settings import Controls, Count, Number, Setting

LIMIT = 20_000  # numbers that a page carries for one widget: 40 kB
NEVER = -(2**15)  # stands for minus infinity


def _as_path(widget, value) -> list[int]:
    path = [as_place("path", j, len(widget.tokens), "tokens") for j in value]
    if path and widget._state_after(path[:-1]) is None:
        raise ValueError(f"path must stay in the table, got {path}, which goes on beyond it")
    return path


class NextTokenSampler(Widget):
    """Real next-token distributions, sharpened and cut by the reader, who draws from what is left.

    The widget holds a table of s states. A state is a place that a text can come to: it has a
    logit for each of v tokens, and says to which state each token leads. The browser sharpens and
    cuts as `truncate` does, and draws. A continuation can only go where the table goes: after a
    token that leads nowhere it stops and says so; nothing is ever made up. Two tables are true
    and small: a model that looks at its last tokens alone, whose states are what it looks at, and
    a tree of the likeliest continuations of one prompt (`grown`).

    Logits are held as log-probabilities in 16 bits; all is computed from what is held.

    Args:
        logits: (s, v), or (v,) for a single state. Normalised or not; minus infinity: never.
        tokens: v strings, what is written for each token.
        follow: the state that each token leads to, integers (s, v), or (v,) where that hangs on
            the token alone; -1: to none. By default to none.
        start: the state after `prompt`.
        prompt: the text that is continued.
        joiner: what stands between two tokens: "" for characters, " " for words.
        end: the token that ends a text, if there is one.
        seed: an int, from which the chance of all draws comes.

    Source: Fan et al. 2018, section 5; Holtzman et al. 2020, section 3.1; Nguyen et al. 2025,
    section 3.
    """

    _logits = t.Bytes().tag(sync=True)  # (s, v) in steps of 16 bits
    _step = t.Float().tag(sync=True)
    _always = t.List(t.Int()).tag(sync=True)  # (v,): where a token leads, but for
    _edges = t.Bytes().tag(sync=True)  # (e, 3) of 16 bits: state, token, and where it leads there
    tokens = t.List(t.Unicode()).tag(sync=True)
    start = t.Int().tag(sync=True)
    prompt = t.Unicode().tag(sync=True)
    joiner = t.Unicode().tag(sync=True)
    end = t.Any().tag(sync=True)
    draws = t.Int().tag(sync=True)  # how often chance was asked, also for what was taken back
    seed = t.Int().tag(sync=True)
    temperature = Number(
        1.0, "as in `truncate`.", positive=True, ends=(0.1, 3), parts=100, digits=2
    )
    top_k = Count(
        1, math.inf, None, "as in `truncate`.", top="tokens", label="Top-k", room=4, none="all"
    )
    top_p = Number(
        1.0, "as in `truncate`.", label="Top-p", positive=True, most=1, ends=(0.01, 1),
        parts=100, digits=2,
    )  # fmt: skip
    min_p = Number(0.0, "as in `truncate`.", label="Min-p", least=0, most=1, parts=100, digits=2)
    path = Setting((), "tokens, by number, that are written at the start.", test=_as_path)
    controls = Controls("temperature", "top_k", "top_p", "min_p", "draw")

    def __init__(
        self,
        logits,
        tokens,
        *,
        follow=None,
        start=0,
        prompt="",
        joiner="",
        end=None,
        seed=0,
        **settings,
    ):
        steps, step = _in_steps(_log_probs(logits))
        s, v = steps.shape
        [tokens] = as_labels("tokens", tokens, v)
        always, edges = _moves(follow, s, v)
        self._table = np.where(steps == NEVER, -np.inf, steps * step)
        self._edge = {(i, j): to for i, j, to in edges.tolist()}
        super().__init__(
            settings,
            f"The distribution of the next token over {v} tokens, as bars.",
            _logits=steps.astype("<i2").tobytes(),
            _step=step,
            _always=always,
            _edges=edges.astype("<i2").tobytes(),
            tokens=tokens,
            start=as_place("start", start, s, "states"),
            prompt=str(prompt),
            joiner=str(joiner),
            end=end if end is None else as_place("end", end, v, "tokens"),
            seed=check_count("seed", seed, most=2**31 - 1),
        )

    @classmethod
    def grown(
        cls,
        logits_after: Callable,
        prompt,
        tokens,
        *,
        states: int | None = None,
        joiner: str = "",
        end: int | None = None,
        **options,
    ) -> NextTokenSampler:
        """A widget of the likeliest continuations of a prompt, asked of a model of any context.

        The tree grows at the likeliest beginning that is not in it yet, so that no continuation
        that is left out is likelier than one that is held.

        Args:
            logits_after: from a list of token ids, the logits (v,) of the token that follows.
            prompt: the ids that every continuation begins after.
            tokens: v strings.
            states: how many distributions are held; by default as many as fit.
            joiner, end, options: as for the class. Nothing is held after `end`.
        """
        v = len(tokens)
        most = LIMIT // max(v, 1)
        states = most if states is None else check_count("states", states, 1, most)
        prompt = [as_place("prompt", i, v, "tokens") for i in prompt]
        rows, moves = [], []
        # least first: minus its log-probability, a number that breaks ties, where it hangs, itself
        waiting = [(0.0, 0, None, [])]
        number = 0
        while waiting and len(rows) < states:
            cost, _, parent, ids = heapq.heappop(waiting)
            row = _log_probs(logits_after([*prompt, *ids]))
            if row.shape != (1, v):
                raise ValueError(f"logits_after must give {v} logits, got shape {row.shape[1:]}")
            if parent is not None:
                moves.append((parent, ids[-1], len(rows)))
            for token in np.flatnonzero(np.isfinite(row[0])).tolist():
                if token != end:
                    number += 1
                    after = (cost - row[0, token], number, len(rows), [*ids, token])
                    heapq.heappush(waiting, after)
            rows.append(row[0])
        follow = np.full((len(rows), v), -1)
        for parent, token, state in moves:
            follow[parent, token] = state
        text = joiner.join(tokens[i] for i in prompt)
        return cls(
            np.stack(rows), tokens, follow=follow, prompt=text, joiner=joiner, end=end, **options
        )

    def _state_after(self, path) -> int | None:
        state = self.start
        for token in path:
            to = self._edge.get((state, token), self._always[token])
            if to < 0:
                return None
            state = to
        return state

    def state(self) -> int | None:
        """The state that the text has come to, or None where the table holds nothing."""
        return self._state_after(self.path)

    def text(self) -> str:
        """The prompt and what was written after it."""
        written = [self.tokens[j] for j in self.path]
        return self.joiner.join([self.prompt, *written] if self.prompt else written)

    def log_probs(self) -> np.ndarray | None:
        """The model's own log-probabilities of the next token, in nats: (v,)."""
        state = self.state()
        if state is None:
            return None
        row = self._table[state]
        return row - np.logaddexp.reduce(row)

    def probabilities(self) -> np.ndarray | None:
        """What the next token is drawn from, by `truncate`: (v,)."""
        import torch

        from ...decoding import truncate

        row = self.log_probs()
        if row is None:
            return None
        settings = {"top_k": self.top_k, "top_p": self.top_p, "min_p": self.min_p}
        cut = truncate(torch.tensor(row), temperature=self.temperature, **settings)
        return cut.exp().numpy()

    def draw(self) -> int | None:
        """Draw the next token and write it, as the button does; None where nothing is held."""
        shares = self.probabilities()
        if shares is None:
            return None
        u = _chance(self.seed, self.draws)
        kept = np.flatnonzero(shares)
        token = int(kept[(np.cumsum(shares[kept]) <= u)[:-1].sum()])
        self.draws += 1
        self.path = [*self.path, token]
        return token

    def __repr__(self) -> str:
        s, v = self._table.shape
        return self._text(f"{s} states", f"{v} tokens")


def _log_probs(logits) -> np.ndarray:
    """Log-probabilities (s, v) of logits (s, v) or (v,), each row with a token that is possible."""
    array = as_array("logits", logits, 1, 2, real=True).astype("f8")
    array = array.reshape(-1, array.shape[-1])
    if not array.size:
        raise ValueError(f"logits must not be empty, got shape {array.shape}")
    if array.size > LIMIT:
        raise ValueError(
            f"logits must be at most {LIMIT} numbers, for a page carries them all, "
            f"got shape {array.shape}"
        )
    if np.isnan(array).any() or (array == np.inf).any():
        raise ValueError("logits must be finite or minus infinity")
    if not np.isfinite(array).any(axis=1).all():
        raise ValueError("logits must leave each state a token that is possible")
    return array - np.logaddexp.reduce(array, axis=1, keepdims=True)


def _in_steps(log_probs: np.ndarray) -> tuple[np.ndarray, float]:
    """Log-probabilities in steps, integers that fit 16 bits, and the step."""
    possible = np.isfinite(log_probs)
    depth = -log_probs[possible].min()
    step = float(depth / (2**15 - 1)) or 1.0  # all are 0: one token is sure
    return np.where(possible, np.rint(np.where(possible, log_probs, 0.0) / step), NEVER), step


def _moves(follow, s: int, v: int) -> tuple[list[int], np.ndarray]:
    """Where tokens lead: the commonest state of each (v,), and (e, 3) what is otherwise."""
    if follow is None:
        follow = np.full(v, -1)
    array = as_array("follow", follow, 1, 2)
    if array.dtype.kind not in "iu" or array.shape not in ((v,), (s, v)):
        raise ValueError(
            f"follow must be integers ({v},) or ({s}, {v}), got {array.dtype} of {array.shape}"
        )
    if array.min() < -1 or array.max() >= s:
        worst = array.max() if array.max() >= s else array.min()
        raise ValueError(f"follow must be -1 to {s - 1}, got {worst}")
    array = np.broadcast_to(array, (s, v))
    always = [Counter(column).most_common(1)[0][0] for column in array.T.tolist()]
    states, tokens = np.nonzero(array != always)
    return always, np.stack((states, tokens, array[states, tokens]), axis=1)


def _chance(seed: int, n: int) -> float:
    """The number from 0 to 1 that draw `n` gets: the same in the browser.

    Source: the last mixing of MurmurHash3 (Appleby 2011), over a counter.
    """
    mask = 2**32 - 1
    x = (seed + 0x9E3779B9 * (n + 1)) & mask
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        x = ((x ^ (x >> shift)) * factor) & mask
    return (x ^ (x >> 16)) / 2**32
