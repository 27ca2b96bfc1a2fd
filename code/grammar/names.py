"""Names of people, towns and countries."""

from __future__ import annotations

# English, French, what "in" and "to" are before a place, and whether it is feminine.
PEOPLE = [("mary", "marie", True), ("alice", "alice", True), ("peter", "pierre", False),
          ("paul", "paul", False), ("louis", "louis", False)]  # fmt: skip
TOWNS = [("paris", "paris", "à", False), ("london", "londres", "à", False),
         ("rome", "rome", "à", True)]  # fmt: skip
COUNTRIES = [("france", "france", "en", True), ("italy", "italie", "en", True),
             ("spain", "espagne", "en", True), ("japan", "japon", "au", False),
             ("portugal", "portugal", "au", False)]  # fmt: skip
PROPER = frozenset([person[1] for person in PEOPLE] + [place[1] for place in (*TOWNS, *COUNTRIES)])
