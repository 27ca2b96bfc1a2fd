"""Stories: the facts that support an answer give it, and real files are read as they stand."""

import random
from collections import Counter

import pytest
from attnbook_testing.refusals import refuses

from attnbook.data import (
    STORY_WORDS,
    CorpusError,
    Vocabulary,
    babi,
    pack_stories,
    read_babi,
    stories,
)


def where(story):
    """The answer by living through the story: every person's places, and who carries what."""
    walked, carried, been = {}, {}, {}
    for person, act, what in story.facts:
        if act == "went":
            walked.setdefault(person, []).append(what)
            for thing in carried.get(person, ()):
                been[thing].append(what)
        elif act == "took":
            carried.setdefault(person, set()).add(what)
            been[what] = [walked[person][-1]]
        else:
            carried[person].remove(what)
    asked = story.question[2]
    places = walked[asked] if asked in walked else been[asked]
    return places[-1 if story.question[1] == "is" else -2]


@pytest.mark.parametrize("task", [1, 2, 3])
def test_the_answer_is_what_happened_and_the_support_says_why(task):
    for story in stories(300, task=task, seed=task):
        assert story.answer == where(story)
        assert len(set(story.support)) == len(story.support) == task
        told = [story.facts[i] for i in story.support]
        assert told[-1][1:] == ("went", story.answer)
        assert story.question[2] == told[0][2 if task > 1 else 0]
        assert len({fact[0] for fact in told}) == 1
        assert 4 <= len(story.facts) <= 12 and set(sum(story.facts, ())) <= set(STORY_WORDS)
        if task > 1:  # who took it, and did not put it down
            later = story.facts[story.support[0] + 1 :]
            assert told[0][1] == "took" and not any(f[2] == told[0][2] for f in later)


def test_simpler_questions_are_of_the_tasks_before():
    for task, share in ((2, 0.3), (3, 0.5)):
        made = stories(1000, task=task, simpler=share)
        needed = Counter(len(story.support) for story in made)
        assert abs(1 - needed[task] / 1000 - share) < 0.05 and set(needed) == {*range(1, task + 1)}
        assert all(story.answer == where(story) for story in made)
    assert {len(story.support) for story in stories(50, task=1, simpler=1.0)} == {1}


def test_the_same_seed_gives_the_same_stories():
    assert stories(20, seed=3) == stories(20, seed=3) != stories(20, seed=4)
    state = random.getstate()
    stories(5)
    assert random.getstate() == state


def test_no_place_or_fact_gives_the_answer_away():
    made = stories(3000, task=2, seed=1)
    assert max(Counter(s.answer for s in made).values()) < 3000 / 6 * 1.15
    last = sum([f[2] for f in s.facts if f[1] == "went"][-1] == s.answer for s in made)
    assert last < 0.6 * 3000


def test_packing_keeps_words_places_and_support():
    made, words = stories(40, task=3), Vocabulary([STORY_WORDS])
    packed = pack_stories(made, words)
    for b, story in enumerate(made):
        n = packed.mask[b].sum()
        assert packed.mask[b, :n].all() and not packed.facts[b, n:].any()
        told = [tuple(words.decode(row)) for row in packed.facts[b, :n]]
        assert told == list(story.facts)
        assert packed.support[b].tolist() == list(story.support)
        assert tuple(words.decode(packed.questions[b])) == story.question
        assert words.decode(packed.answers[b : b + 1]) == [story.answer]
    short = pack_stories(made, words, longest=4)
    assert short.facts.shape[1] == 4 and short.mask.all()
    for b, story in enumerate(made):
        assert words.decode(short.facts[b, -1]) == list(story.facts[-1])
        lost = len(story.facts) - 4
        assert short.support[b].tolist() == [max(i - lost, -1) for i in story.support]


FILE = """1 Mary moved to the bathroom.
2 Mary got the milk there.
3 Where is the milk? \tbathroom\t2 1
4 Daniel went back to the hallway.
5 Where is Daniel? \thallway\t4
1 Bill is either in the school or the park.
2 What is Bill carrying?\tmilk,football\t
3 Is Bill in the park?\tmaybe\t1
"""


def test_a_file_is_read_as_it_stands():
    one, two, three, four = read_babi(FILE)
    assert one.facts[1] == ("mary", "got", "the", "milk", "there")
    assert one.question == ("where", "is", "the", "milk")
    assert (one.answer, one.support) == ("bathroom", (1, 0))
    assert len(two.facts) == 3 and two.support == (2,)  # line 4 is the third fact
    assert (three.answer, three.support) == ("milk,football", ())
    assert len(four.facts) == 1 and four.support == (0,)
    words = Vocabulary([*(f for s in (one, four) for f in s.facts)])
    packed = pack_stories([one, three], words)
    assert packed.support.tolist() == [[1, 0], [-1, -1]] and packed.facts.shape == (2, 2, 9)


def test_files_are_found_by_task_split_and_size(tmp_path, monkeypatch):
    for size, text in (("en", FILE), ("en-10k", FILE * 2)):
        folder = tmp_path / "babi" / "tasks_1-20_v1-2" / size
        folder.mkdir(parents=True)
        (folder / "qa2_two-supporting-facts_train.txt").write_text(text, encoding="utf-8")
    monkeypatch.setenv("ATTNBOOK_DATA", str(tmp_path))
    assert babi(2) == read_babi(FILE)
    assert len(babi(2, size="en-10k")) == 8
    refuses(CorpusError, "qa2_..._test.txt", babi, 2, "test")
    refuses(CorpusError, "tasks_1-20", babi, 20)
    refuses(ValueError, "task must be 1 to 20", babi, 21)
    refuses(ValueError, "split must be", babi, 1, "valid")
    monkeypatch.delenv("ATTNBOOK_DATA")
    refuses(CorpusError, "ATTNBOOK_DATA", babi, 2)


def test_what_is_refused():
    refuses(ValueError, "task must be", stories, 1, task=4)
    refuses(ValueError, "longest must be", stories, 1, longest=3)
    refuses(ValueError, "simpler must be", stories, 1, simpler=1.5)
    refuses(ValueError, "line 1 must begin with its number", read_babi, "Mary moved.")
    refuses(ValueError, "line 2 must be supported", read_babi, "1 Mary moved.\n2 Where?\tx\t3")
    refuses(ValueError, "made must hold", pack_stories, [], Vocabulary([STORY_WORDS]))
