"""Short reports about who did what to whom, where and when: the answers are known spans.

Clauses are active or passive, places and times stand before, after or around them, so that neither
a word nor a position tells a part's role.
"""

from __future__ import annotations

import random
from typing import NamedTuple

from .._checks import check_count

QUESTIONS = ("who", "whom", "where", "when")
PEOPLE = """actor archer artist author baker banker barber beggar butcher captain carpenter chemist
clerk cook cousin dancer dentist doctor driver editor farmer fisher gardener guard hunter janitor
judge lawyer librarian mayor miller miner monk nurse officer painter pilot poet porter potter priest
queen rider sailor scholar sculptor senator shepherd singer smith soldier student surgeon tailor
teacher tenant trader waiter weaver widow""".split()
NEW_PEOPLE = (
    "astronaut beekeeper cellist diplomat envoy florist glazier hermit jockey notary".split()
)
PLACES = """abbey attic bakery bank bridge cellar chapel church courtyard factory forest garden
harbour hotel kitchen library market mill museum office palace park port prison river school station
street theatre tower""".split()
NEW_PLACES = "aquarium bazaar cottage dairy embassy foundry gallery hangar igloo jetty".split()
TIMES = """april august autumn breakfast christmas dinner easter friday january july lunch march
monday november october saturday spring summer sunday supper thursday tuesday wednesday
winter""".split()
NEW_TIMES = "carnival december february halloween june ramadan".split()
ADJECTIVES = "busy clever gentle happy lonely old poor proud quiet rich tall young".split()
HIRES = "appointed engaged hired recruited".split()
PAYS = "compensated paid refunded rewarded".split()
MEETS = "greeted met visited welcomed".split()
WATCHES = "followed noticed saw watched".split()
VERBS = {
    verb: kind
    for kind, verbs in zip(
        ("hires", "pays", "meets", "watches"), (HIRES, PAYS, MEETS, WATCHES), strict=True
    )
    for verb in verbs
}


class Report(NamedTuple):
    """A sentence and the answers to the four questions: spans (first token, last token)."""

    tokens: list[str]
    spans: dict[str, tuple[int, int]]
    verb: int  # its place
    passive: bool


def reports(n: int, *, seed: int = 0, new: bool = False) -> list[Report]:
    """Draw reports, the same ones for the same seed.

    Args:
        new: people, places and times are words that no other report has.

    Raises:
        ValueError: `n` is below 0.
    """
    drawn = random.Random(f"reports {seed} {new}")
    return [_report(drawn, new) for _ in range(check_count("n", n))]


def _report(drawn: random.Random, new: bool) -> Report:
    people = drawn.sample(NEW_PEOPLE if new else PEOPLE, 2)
    who, whom = ([drawn.choice(("the", "a", "every")), *_perhaps(drawn), p] for p in people)
    # known words may stand behind a preposition that is said of places and of times
    either = ("in", "at", "before") if not new and drawn.random() < 0.5 else None
    place = drawn.choice(NEW_PLACES if new else PLACES)
    where = [drawn.choice(either or ("near", "behind", "inside")), "the", *_perhaps(drawn), place]
    time = drawn.choice(NEW_TIMES if new else TIMES)
    when = [drawn.choice(either or ("on", "during", "after")), "the", *_perhaps(drawn), time]
    verb, passive = drawn.choice(sorted(VERBS)), drawn.random() < 0.5
    act = ["was", verb, "by"] if passive else [verb]
    core = [(whom, "whom"), (act, None), (who, "who")]
    parts = core if passive else core[::-1]
    for part in drawn.sample([(where, "where"), (when, "when")], 2):
        parts = [*parts, part] if drawn.random() < 0.5 else [part, *parts]
    tokens, spans = [], {}
    for words, question in parts:
        if question:
            spans[question] = (len(tokens), len(tokens) + len(words) - 1)
        tokens += words
    return Report(tokens, spans, tokens.index(verb), passive)


def _perhaps(drawn: random.Random) -> list[str]:
    return [drawn.choice(ADJECTIVES)] if drawn.random() < 0.5 else []
