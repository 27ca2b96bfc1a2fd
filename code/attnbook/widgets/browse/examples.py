"""Check the examples of a layer × head browser, and bring them into the form the browser reads."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..._checks import as_marks, as_some, as_weights, check_masked
from ..alignment.examples import as_links, as_words
from ..base import in_steps

#: The kinds of attention, each with the tokens that are its queries and its keys.
SIDES = {
    "encoder": ("source", "source"),
    "decoder": ("target", "target"),
    "cross": ("target", "source"),
}
KINDS = tuple(SIDES)
FIELDS = ("name", "source", "target", *KINDS, "mask", "sure", "possible")


def as_kinds(kinds) -> list[str]:
    """The kinds that may be shown, each once, in the one order."""
    names = as_some("kinds", kinds, KINDS, least=1)
    return [kind for kind in KINDS if kind in names]


def as_browsed(examples, kinds) -> tuple[list[dict], dict[str, list[int]], bytes, bytes]:
    """Examples as plain data, (l, h) of each kind present, weights in 255 steps, where allowed.

    The last two stand by example, kind, layer, head, query, key; no mask is no bytes.
    """
    if isinstance(examples, (Mapping, str)):
        raise ValueError(f"examples must be a list of examples, got a {type(examples).__name__}")
    given = list(examples)
    if not given:
        raise ValueError("examples must hold at least one example, got none")
    sizes: dict[str, list[int]] = {}
    plain, packed, allowed = [], [], []
    masked = any(isinstance(example, Mapping) and example.get("mask") for example in given)
    for n, example in enumerate(given):
        where = f"examples[{n}]"
        _check_fields(where, example)
        present = [kind for kind in as_kinds(kinds) if example.get(kind) is not None]
        if not present:
            raise ValueError(f"{where} must hold weights of {' or '.join(as_kinds(kinds))}")
        if n and present != list(sizes):
            raise ValueError(
                f"{where} must hold weights of {', '.join(sizes)}, as the first example does, "
                f"got {', '.join(present)}"
            )
        plain.append(_plain(where, example, present))
        for kind in present:
            mask = (example.get("mask") or {}).get(kind)
            weights, seen = _weights(f"{where}[{kind!r}]", kind, example[kind], mask, plain[-1])
            of = sizes.setdefault(kind, list(weights.shape[:2]))
            if list(weights.shape[:2]) != of:
                raise ValueError(
                    f"{where}[{kind!r}] must hold {of[0]} layers of {of[1]} heads, as the first "
                    f"example does, got shape {weights.shape}"
                )
            packed.append(in_steps(weights).tobytes())
            allowed.append(seen.tobytes() if masked else b"")
    return plain, sizes, b"".join(packed), b"".join(allowed)


def _check_fields(where: str, example) -> None:
    if not isinstance(example, Mapping):
        raise ValueError(f"{where} must be a dict, got {type(example).__name__}")
    for name in example:
        if name not in FIELDS:
            raise ValueError(f"{where} may hold {', '.join(FIELDS)}; got {name!r}")


def _plain(where: str, example: Mapping, present: list[str]) -> dict:
    """Tokens, links and name of an example."""
    needed = {side for kind in present for side in SIDES[kind]}
    tokens: dict[str, list[str]] = {}
    for side in ("source", "target"):
        if example.get(side) is not None:
            tokens[side] = as_words(f"{where}[{side!r}]", example[side])
        elif side in needed:
            kinds = ", ".join(kind for kind in present if side in SIDES[kind])
            raise ValueError(f"{where} must hold {side!r}, the tokens of {kinds} weights")
        else:
            tokens[side] = []
    sizes = len(tokens["target"]), len(tokens["source"])
    links: dict[str, set[tuple[int, int]]] = {"sure": set(), "possible": set()}
    for name in links:
        if not example.get(name):
            continue
        if example.get("cross") is None:
            raise ValueError(f"{where}[{name!r}] needs 'cross': links are marked on those maps")
        if "cross" in present:
            links[name] = as_links(f"{where}[{name!r}]", example[name], *sizes)
    words = tokens["source"] or tokens["target"]
    return {
        "name": str(example.get("name") or " ".join(words)),
        **tokens,
        "sure": [list(link) for link in sorted(links["sure"])],
        "possible": [list(link) for link in sorted(links["possible"] - links["sure"])],
    }


def _weights(name: str, kind: str, value, mask, tokens: dict) -> tuple[np.ndarray, np.ndarray]:
    """Checked weights, and where attention is allowed, (l, h, q, k) both."""
    weights = as_weights(name, value, 4)
    sides = SIDES[kind]
    wanted = tuple(len(tokens[side]) for side in sides)
    if weights.shape[2:] != wanted:
        raise ValueError(
            f"{name} must be (l, h, {wanted[0]}, {wanted[1]}), {sides[0]} by {sides[1]} tokens, "
            f"got shape {weights.shape}"
        )
    seen = np.ones(weights.shape, dtype=bool)
    if kind == "decoder":
        seen = np.tril(seen)
        where = "where the key is later than the query"
        check_masked(name, weights, seen, where, "(l, h, q, k)")
    if mask is not None:
        seen = seen & as_marks(f"the mask of {name}", mask, weights.shape)
        check_masked(name, weights, seen, "where it is masked", "(l, h, q, k)")
    return weights * seen, seen


def as_numbers(scores, sizes: dict[str, list[int]]) -> dict[str, list[list[float]]]:
    """The numbers under the maps by kind, (l, h) as lists."""
    if scores is None:
        return {}
    if not isinstance(scores, Mapping):
        raise ValueError(
            f"scores must be a dict from kind to (l, h) numbers, got {type(scores).__name__}"
        )
    kept = {}
    for kind, value in scores.items():
        if kind not in sizes:
            raise ValueError(f"scores may be of {', '.join(sizes)}; got {kind!r}")
        name = f"scores[{kind!r}]"
        numbers = as_weights(name, value, 2)
        if list(numbers.shape) != sizes[kind]:
            raise ValueError(
                f"{name} must be {tuple(sizes[kind])}, layers by heads, got shape {numbers.shape}"
            )
        kept[kind] = np.round(np.clip(numbers, 0, 1), 4).tolist()
    return kept
