"""Stories of a small world, questions about them, and the facts that answer each question.

The world is in the manner of bAbI (Weston et al. 2015): people walk about, take things and drop
them. Sentences are written as in a telegram: "mary went kitchen". `babi` reads the real files.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import NamedTuple

import torch
from torch import Tensor

from .._checks import check_count
from .vocabulary import PAD, Vocabulary

PEOPLE = ("mary", "john", "daniel", "sandra")
PLACES = ("kitchen", "garden", "office", "hallway", "bathroom", "bedroom")
THINGS = ("apple", "milk", "football")
STORY_WORDS = ("went", "took", "dropped", "where", "is", "was", *PEOPLE, *PLACES, *THINGS)
SHORTEST = 4  # facts


class Story(NamedTuple):
    """Facts in their order, a question, its answer, and the places of the facts that give it.

    `support` is in the order in which one looks for them.
    """

    facts: tuple[tuple[str, ...], ...]
    question: tuple[str, ...]
    answer: str
    support: tuple[int, ...]


class Stories(NamedTuple):
    """Stories as numbers (b stories, n facts, w words, s supporting facts)."""

    facts: Tensor  # (b, n, w) ids, 0 beyond the end
    questions: Tensor  # (b, w)
    answers: Tensor  # (b,)
    mask: Tensor  # (b, n) boolean, True where there is a fact
    support: Tensor  # (b, s) places among the facts, -1 where there are fewer


def stories(
    count: int, *, task: int = 2, longest: int = 12, simpler: float = 0.0, seed: int = 0
) -> list[Story]:
    """Make stories whose questions need as many facts as the number of the task.

    Task 1, "where is mary": where she went last. Task 2, "where is milk", of what somebody holds:
    who took it last, and where that person went last. Task 3, "where was milk": the place before
    that, where the same person had been. In the world of task 1 people only walk.

    Args:
        longest: most facts of a story; the fewest are four.
        simpler: share of questions that are of a task before, in the same world.

    Raises:
        TypeError: a count is no int.
        ValueError: `task` is not 1 to 3, `simpler` not 0 to 1, or a count too small.
    """
    check_count("count", count)
    check_count("task", task, 1, 3)
    check_count("longest", longest, least=SHORTEST)
    if not 0 <= simpler <= 1:
        raise ValueError(f"simpler must be from 0 to 1, got {simpler}")
    rng, made = random.Random(seed), []
    while len(made) < count:
        asked = rng.randint(1, task - 1) if task > 1 and rng.random() < simpler else task
        story = None
        while story is None:
            story = _ask(rng, asked, _World(rng, rng.randint(SHORTEST, longest), task > 1))
        made.append(story)
    return made


class _World:
    """What happened, and for each person and thing the facts that say where they are."""

    def __init__(self, rng: random.Random, n: int, things: bool):
        self.facts: list[tuple[str, ...]] = []
        self.walks: dict[str, list[int]] = {}  # of a person, the facts that are moves
        self.taken: dict[str, int] = {}  # of a thing that is held, the fact that says by whom
        for _ in range(n):
            person = rng.choice(PEOPLE)
            walks = self.walks.setdefault(person, [])
            mine = [thing for thing, i in self.taken.items() if self.facts[i][0] == person]
            free = [thing for thing in THINGS if thing not in self.taken]
            acts = ["went"] * 3
            if things and walks:
                acts += ["took"] * 2 * bool(free) + ["dropped"] * bool(mine)
            act = rng.choice(acts)
            if act == "went":
                here = self.facts[walks[-1]][2] if walks else None
                what = rng.choice([place for place in PLACES if place != here])
                walks.append(len(self.facts))
            elif act == "took":
                what = rng.choice(free)
                self.taken[what] = len(self.facts)
            else:
                what = rng.choice(mine)
                del self.taken[what]
            self.facts.append((person, act, what))


def _ask(rng: random.Random, task: int, world: _World) -> Story | None:
    """A question of this task, if the world has one."""
    facts, walks = world.facts, world.walks
    if task == 1:
        person = rng.choice(list(walks))
        support, question = (walks[person][-1],), ("where", "is", person)
    else:
        held = {thing: (i, walks[facts[i][0]]) for thing, i in world.taken.items()}
        if task == 3:  # carried on the last walk, so that it was where the person was
            held = {thing: (i, own) for thing, (i, own) in held.items() if own[-1] > i}
        if not held:
            return None
        thing = rng.choice(list(held))
        i, own = held[thing]
        support = (i, *own[:-task:-1])
        question = ("where", "is" if task == 2 else "was", thing)
    return Story(tuple(facts), question, facts[support[-1]][2], support)


def pack_stories(
    made: Iterable[Story], vocabulary: Vocabulary, *, longest: int | None = None
) -> Stories:
    """Give stories as tensors; of a story with more than `longest` facts the last ones.

    Raises:
        ValueError: there are no stories, or one has no facts.
    """
    made = list(made)
    if not made or not all(story.facts for story in made):
        raise ValueError("made must hold at least one story, and each at least one fact")
    if longest is not None:
        check_count("longest", longest, least=1)
    kept = [story.facts[-longest:] if longest else story.facts for story in made]
    n = max(map(len, kept))
    w = max(len(s) for story in made for s in (*story.facts, story.question))
    s = max(1, *(len(story.support) for story in made))
    empty, facts, support = [PAD] * w, [], []
    for story, own in zip(made, kept, strict=True):
        told = [_padded(vocabulary.encode(sentence), w, PAD) for sentence in own]
        facts.append(_padded(told, n, empty))
        lost = len(story.facts) - len(own)
        support.append(_padded([max(i - lost, -1) for i in story.support], s, -1))
    questions = [_padded(vocabulary.encode(story.question), w, PAD) for story in made]
    mask = torch.arange(n) < torch.tensor([len(own) for own in kept]).unsqueeze(1)
    answers = vocabulary.encode([story.answer for story in made])
    ids = (torch.tensor(x) for x in (facts, questions, answers))
    return Stories(*ids, mask, torch.tensor(support))


def _padded(row: list, length: int, empty) -> list:
    return row + [empty] * (length - len(row))
