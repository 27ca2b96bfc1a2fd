"""The pattern designer: masks combined by the reader, counted, and how far a query reaches."""

from __future__ import annotations

import torch

from ... import masks
from ..._checks import as_place, as_some, check_choice, check_count
from ..base import Widget
from ..settings import Controls, Count, Place, Setting

MOST_TERMS = 4
OPERATORS = ("|", "&")
#: The options of each pattern, as they are where nothing else is said: ints, a bool, places.
KINDS = {
    "window": {"width": 5, "causal": False},
    "dilated": {"radius": 2, "dilation": 4},
    "block": {"size": 8},
    "global": {"places": [0]},
    "random": {"count": 2, "seed": 0},
    "causal": {},
    "full": {},
}
LEAST = {"width": 1, "dilation": 1, "size": 1}  # others 0
MOST = 256
LONGFORMER = (("window", {"width": 5}), ("|", "global", {"places": [0]}))


class PatternDesigner(Widget):
    """A mask put together from patterns, alive in a notebook and in the static page.

    One to four terms, each a pattern of `masks`, are combined from the first to the last: after
    "|" a pair is kept if either allows it, after "&" if both do, so `a | b & c` is `(a | b) & c`
    here. The widget draws the mask, prints the Python that makes the same one, counts the pairs,
    and shows the receptive field of one query: the places that its output depends on after
    some layers of this mask. A place always keeps itself, as a residual connection does.

    The browser computes all of it, "random" too: it has torch's generator, and draws the keys
    that `random_mask` draws from the same seed.

    Args:
        n: places, 1 to 256.
        terms: each (operator, kind, options): "|" or "&", which the first does not need; the
            kind; a dictionary, of which what is left out has the value named here. Kinds: "window"
            (width=5, causal=False), "dilated" (radius=2, dilation=4), "block" (size=8), "global"
            (places=[0]), "random" (count=2, seed=0), "causal", "full".

    A reader who makes `n` smaller loses nothing: places past the end are left out, a count stops
    at n, and the query at the last place.

    Source: Child et al. 2019; Beltagy et al. 2020, section 3.1; Zaheer et al. 2020, section 2.
    """

    n = Count(1, MOST, 64, label="Places", step=8)
    terms = Setting(test=lambda widget, terms: _full_terms(terms, MOST))  # with all their options
    layers = Count(1, 12, 4, "of this mask", room=2)
    query = Place(
        MOST,
        "places at most",
        lambda fixed: fixed.n // 2,
        "the place whose receptive field is shown, by default n // 2.",
        most="n - 1",
    )
    controls = Controls("n", "terms", "layers", "query")

    def __init__(self, n=64, terms=LONGFORMER, **settings):
        n = check_count("n", n, 1, MOST)
        if (query := settings.get("query")) is not None:
            as_place("query", query, n, "places")
        super().__init__(
            {"n": n, "terms": _full_terms(terms, n), **settings},
            f"A mask of {n} places, and what one query reaches through it.",
        )

    def mask(self) -> torch.Tensor:
        """The mask that is shown now, True = may attend: a boolean tensor (n, n)."""
        mask = None
        for operator, kind, options in self.terms:
            term = _mask_of(kind, self.n, options)  # (n, n)
            mask = term if mask is None else mask & term if operator == "&" else mask | term
        return mask

    def pairs(self) -> int:
        """How many pairs the mask keeps."""
        return int(self.mask().sum())

    def reach(self, layers: int | None = None) -> torch.Tensor:
        """The places that the query's output depends on: a boolean tensor (n,).

        Args:
            layers: after how many, by default those shown; 0 leaves the query's own place.
        """
        layers = self.layers if layers is None else check_count("layers", layers)
        mask, reached = self.mask(), torch.zeros(self.n, dtype=torch.bool)
        reached[min(self.query, self.n - 1)] = True
        for _ in range(layers):
            reached = reached | mask[reached].any(0)
        return reached

    def layers_needed(self) -> int:
        """The fewest layers after which the query reaches nothing more."""
        layers, mask, reached = 0, self.mask(), self.reach(0)
        while (wider := reached | mask[reached].any(0)).sum() > reached.sum():
            layers, reached = layers + 1, wider
        return layers

    def __repr__(self) -> str:
        return self._text(f"{self.n} places", *(kind for _, kind, _ in self.terms))


def _mask_of(kind: str, n: int, options: dict) -> torch.Tensor:
    """The mask (n, n) of one pattern, its options within n."""
    if kind == "full":
        return torch.ones(n, n, dtype=torch.bool)
    if kind == "window":
        return masks.window_mask(n, None, **options)
    if kind == "global":
        return masks.global_mask(n, places=[place for place in options["places"] if place < n])
    if kind == "random":
        chance = torch.Generator().manual_seed(options["seed"])
        return masks.random_mask(n, count=min(options["count"], n), generator=chance)
    return getattr(masks, f"{kind}_mask")(n, **options)


def _full_terms(terms, n: int) -> list[list]:
    """Terms, each as [operator, kind, options] with all its options; the first's is "|"."""
    if isinstance(terms, str) or not 1 <= len(terms) <= MOST_TERMS:
        raise ValueError(f"terms must be a list of 1 to {MOST_TERMS}, got {terms!r}")
    full = [_full_term(term, n, first=not at) for at, term in enumerate(terms)]
    full[0][0] = "|"
    return full


def _full_term(term, n: int, *, first: bool) -> list:
    parts = [term] if isinstance(term, str) else list(term)
    given = parts.pop() if parts and isinstance(parts[-1], dict) else {}
    if first and len(parts) == 1:
        parts.insert(0, "|")
    if len(parts) != 2:
        raise ValueError(
            "terms must each be (operator, kind, options), where the first needs no operator, "
            f"got {term!r}"
        )
    operator = check_choice("terms: operator", parts[0], OPERATORS)
    kind = check_choice("terms: kind", parts[1], KINDS)
    as_some(f"terms: options of {kind!r}", given, KINDS[kind])
    options = {}
    for name, default in KINDS[kind].items():
        value, what = given.get(name, default), f"terms: {kind} {name}"
        if isinstance(default, bool):
            options[name] = bool(check_choice(what, value, (False, True)))
        elif isinstance(default, list):
            options[name] = [as_place(what, place, n, "places") for place in value]
        else:
            most = n if name == "count" else MOST
            options[name] = check_count(what, value, LEAST.get(name, 0), most)
    return [operator, kind, options]
