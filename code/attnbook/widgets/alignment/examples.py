"""Check the examples of an alignment viewer, and bring them into the form the browser reads."""

from __future__ import annotations

import operator
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..._checks import as_array, as_marks, as_weights, check_count, check_masked

UNITS = 10_000  # a saved weight is a whole number of these parts of 1
MASKED = 2**16 - 1  # saved where a mask forbids attention
CANDIDATES = 3  # kept of each step
SLACK = 0.02  # that a row's sum may differ from 1 by: bfloat16 weights do


class AlignmentExample(NamedTuple):
    """A sentence pair with the weights of one or more models: what `AlignmentViewer` shows.

    Any mapping or NamedTuple with these names will do; `template`, as in `data.AlignedPair`, may
    be there too. A link is (target index, source index), zero-based: row and column of the map.
    """

    source: Sequence[str]  # k tokens, padding included: the columns of the weights
    target: Sequence[str]  # q tokens: the rows
    weights: Mapping[str, Any]  # by model, (q, k): at least 0, no row sums to more than 1
    sure: Collection[tuple[int, int]] = frozenset()
    possible: Collection[tuple[int, int]] = frozenset()  # sure links count as possible, too
    source_len: int | None = None  # valid source tokens; None: all k
    mask: Mapping[str, Any] | None = None  # by model, boolean (q, k), True = may attend
    candidates: Mapping[str, Sequence] | None = None  # by model, for each step [(token, p), ...]
    classes: Sequence[str] = ()  # word class of each target token
    name: str = ""  # in the list to choose from; "": the source sentence


def as_examples(examples, model_labels) -> tuple[list[dict], list[list[np.ndarray]], list[str]]:
    """Examples as plain data, their weights as units by example and model, and the models."""
    if isinstance(examples, (Mapping, str)) or hasattr(examples, "_asdict"):
        raise TypeError(f"examples must be a sequence of examples, got {type(examples).__name__}")
    given = [_fields(f"examples[{n}]", example) for n, example in enumerate(examples)]
    if not given:
        raise ValueError("examples must hold at least one example, got none")
    keys, labels = _models(model_labels, given[0]["weights"])
    plain, units = [], []
    for n, fields in enumerate(given):
        entry, planes = _example(f"examples[{n}]", fields, keys)
        plain.append(entry)
        units.append(planes)
    return plain, units, labels


def _fields(where: str, example) -> dict:
    """The example by field names, with what it leaves out."""
    if hasattr(example, "_asdict"):
        example = example._asdict()
    if not isinstance(example, Mapping):
        raise TypeError(
            f"{where} must be a mapping or a NamedTuple with the fields of AlignmentExample, "
            f"got {type(example).__name__}"
        )
    known = AlignmentExample._fields
    for name in example:
        if name not in (*known, "template"):
            raise ValueError(f"{where} may hold {', '.join(known)}; got {name!r}")
    for name in ("source", "target", "weights"):
        if name not in example:
            raise ValueError(f"{where} must hold {name!r}, got {', '.join(map(repr, example))}")
    if not isinstance(example["weights"], Mapping):
        raise TypeError(
            f"{where}.weights must map each model to its (q, k) weights, "
            f"got {type(example['weights']).__name__}"
        )
    return {**AlignmentExample._field_defaults, **example}


def _models(model_labels, weights: Mapping) -> tuple[list[str], list[str]]:
    """The models' keys in the weights, and what they are called."""
    if isinstance(model_labels, str):
        model_labels = [model_labels]
    keys = list(weights if model_labels is None else model_labels)
    labels = list(model_labels.values()) if isinstance(model_labels, Mapping) else keys
    for text in (*keys, *labels):
        if not isinstance(text, str) or not text:
            raise TypeError(f"model_labels must be words, got {text!r}")
    if not keys or len(set(keys)) < len(keys) or len(set(labels)) < len(labels):
        raise ValueError(f"model_labels must be one or more, each once, got {labels}")
    return keys, labels


def _example(where: str, fields: dict, models: list[str]) -> tuple[dict, list[np.ndarray]]:
    source = as_words(f"{where}.source", fields["source"])
    target = as_words(f"{where}.target", fields["target"])
    q, k = len(target), len(source)
    valid = (
        k
        if fields["source_len"] is None
        else check_count(f"{where}.source_len", fields["source_len"], 0, k)
    )
    sure = as_links(f"{where}.sure", fields["sure"], q, valid)
    possible = as_links(f"{where}.possible", fields["possible"], q, valid)
    weights = fields["weights"]
    for model in models:
        if model not in weights:
            raise ValueError(f"{where}.weights must hold {model!r}, got {', '.join(weights)}")
    masks = _by_model(f"{where}.mask", fields["mask"], weights)
    planes = []
    for model in models:
        mask = as_marks(f"{where}.mask[{model!r}]", masks.get(model), (q, k))
        name = f"{where}.weights[{model!r}]"
        planes.append(_units(name, weights[model], (q, k), valid, mask))
    candidates = _candidates(f"{where}.candidates", fields["candidates"], q, models, weights)
    classes = [str(name) for name in fields["classes"]]
    if classes and len(classes) != q:
        raise ValueError(
            f"{where}.classes must hold {q} classes, one a target token, got {len(classes)}"
        )
    return {
        "name": str(fields["name"]) or " ".join(source[:valid]),
        "source": source,
        "target": target,
        "length": valid,
        "sure": [list(link) for link in sorted(sure)],
        "possible": [list(link) for link in sorted(possible - sure)],
        "candidates": candidates,
        "classes": classes,
    }, planes


def as_words(name: str, tokens) -> list[str]:
    """A sequence of tokens as a list of strings."""
    if isinstance(tokens, str) or not isinstance(tokens, Sequence):
        raise TypeError(f"{name} must be a sequence of tokens, got {type(tokens).__name__}")
    if not tokens:
        raise ValueError(f"{name} must hold at least one token, got none")
    for token in tokens:
        if not isinstance(token, str):
            raise TypeError(f"{name} must hold strings, got {token!r}")
    return list(tokens)


def as_links(name: str, links, q: int, k: int) -> set[tuple[int, int]]:
    """Links as a set of (target index, source index), each below (q, k)."""
    found = set()
    for link in links:
        try:
            i, j = map(operator.index, link)
        except (TypeError, ValueError):
            raise TypeError(
                f"{name} must hold pairs of ints (target index, source index), got {link!r}"
            ) from None
        if not (0 <= i < q and 0 <= j < k):
            raise ValueError(
                f"{name} must hold (target index, source index) below ({q}, {k}), the target "
                f"tokens and the valid source tokens; got {(i, j)}"
            )
        found.add((i, j))
    return found


def _units(name: str, value, shape: tuple[int, int], valid: int, mask) -> np.ndarray:
    """Weights as whole units, of the same argmax; what is not zero stays at least one unit."""
    array = as_array(name, value, 2)
    if array.shape != shape:
        raise ValueError(
            f"{name} must be {shape}, target by source tokens, got shape {array.shape}"
        )
    weights = as_weights(name, array, most=np.inf)
    sums = weights.sum(axis=1)
    for i, total in enumerate(sums):
        if total > 1 + SLACK:
            raise ValueError(
                f"{name} must sum to at most 1 in each row; row {i} sums to {total:.4g}"
            )
    seen = np.broadcast_to(np.arange(shape[1]) < valid, shape) & (True if mask is None else mask)
    where = f"past source_len = {valid}" + ("" if mask is None else " and where it is masked")
    check_masked(name, weights, seen, where, "(q, k)")
    units = np.maximum(np.rint(UNITS * weights), weights > 0).astype("<u2") * seen
    best, rows = weights.argmax(axis=1), np.arange(shape[0])
    units[rows, best] += units.argmax(axis=1) != best  # rounding made an earlier one as large
    return units if mask is None else np.where(mask, units, MASKED).astype("<u2")


def _by_model(name: str, given, known) -> Mapping:
    """What is given for some of the models that have weights."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise TypeError(f"{name} must map each model to what it has, got {type(given).__name__}")
    if unknown := [model for model in given if model not in known]:
        raise ValueError(f"{name} may hold {', '.join(known)}; got {unknown[0]!r}")
    return given


def _candidates(name: str, given, q: int, models: list[str], known) -> list[list]:
    """For each model, for each step, its most probable tokens; nothing where they are not given."""
    if given is None:
        return []
    given, kept = _by_model(name, given, known), []
    for model in models:
        steps = list(given.get(model, ()))
        if steps and len(steps) != q:
            raise ValueError(
                f"{name}[{model!r}] must hold {q} steps, one a target token, got {len(steps)}"
            )
        kept.append([_ranked(f"{name}[{model!r}][{i}]", step) for i, step in enumerate(steps)])
    return kept


def _ranked(name: str, step) -> list[list]:
    found = []
    for entry in step:
        try:
            token, p = entry
            p = float(p)
        except (TypeError, ValueError):
            raise TypeError(f"{name} must hold pairs (token, probability), got {entry!r}") from None
        if not 0 <= p <= 1:
            raise ValueError(f"{name} must hold probabilities of 0 to 1, got {p} for {token!r}")
        found.append([str(token), round(p, 4)])
    return sorted(found, key=lambda entry: -entry[1])[:CANDIDATES]
