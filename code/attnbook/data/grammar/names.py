"""Names of people, towns and countries."""

from __future__ import annotations

# English, French, and whether a woman bears it, or what "in" and "to" are before a country.
PEOPLE = [("mary", "marie", True), ("alice", "alice", True), ("peter", "pierre", False),
          ("paul", "paul", False), ("louis", "louis", False)]  # fmt: skip
TOWNS = [("paris", "paris"), ("london", "londres"), ("rome", "rome")]
COUNTRIES = [("france", "france", "en"), ("italy", "italie", "en"), ("spain", "espagne", "en"),
             ("japan", "japon", "au"), ("portugal", "portugal", "au")]  # fmt: skip
PROPER = frozenset(
    [fr for _, fr, _ in PEOPLE] + [fr for _, fr in TOWNS] + [fr for _, fr, _ in COUNTRIES]
)
