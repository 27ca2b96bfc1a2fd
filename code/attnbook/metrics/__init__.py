"""Metrics: translations against references, weights against gold links, and intervals.

Everything takes plain sequences and tensors, whatever made them. Beside a number stand its
baselines (`diagonal_weights`, `uniform_weights`) and its interval over sentences (`bootstrap`).
"""

from .alignment import (
    ClassRate,
    alignment_error_rate,
    expected_error_rate,
    hit_rate,
    hit_rate_interval,
)
from .intervals import Interval, bootstrap, bootstrap_sums
from .selection import Selection, selection
from .translation import bleu, bleu_interval, bleu_signature, exact_match
from .weights import diagonal_weights, uniform_weights

__all__ = [
    "ClassRate",
    "Interval",
    "Selection",
    "alignment_error_rate",
    "bleu",
    "bleu_interval",
    "bleu_signature",
    "bootstrap",
    "bootstrap_sums",
    "diagonal_weights",
    "exact_match",
    "expected_error_rate",
    "hit_rate",
    "hit_rate_interval",
    "selection",
    "uniform_weights",
]
