"""Chapter 4: stored models give the stored numbers, and each claim has a control that fails it."""

import random

import pytest
import torch

from attnbook import import_d2l, masked_cross_entropy, metrics
from attnbook.data import UNK, AlignedPair, collate, why_missing
from attnbook.data.fra_eng import CLASSIC_FOUR
from experiments import everyday, transformer_everyday, translation, translators
from experiments.stored import load_record, load_table, load_weights

KEPT = {name: plan.keep for name, plan in translation.PLANS.items() if plan.keep}
SAMPLE = 300  # test pairs


@pytest.fixture(scope="module")
def corpus():
    return translation.load("random")


@pytest.fixture(scope="module")
def pairs(corpus):
    return corpus.splits.test[:SAMPLE]


@pytest.fixture(scope="module")
def rows():
    return {(row["plan"], row["seed"]): row for row in load_table("translation")}


@pytest.fixture(scope="module")
def readings(pairs):
    models = {name: translation.stored(name, load_weights(keep)) for name, keep in KEPT.items()}
    return {name: translators.read(model, pairs, of) for name, (model, of) in models.items()}


@pytest.fixture(scope="module")
def untrained(corpus, pairs):
    model = translators.build(translation.PLANS["after, dot"], corpus, 0)
    return translators.read(model, pairs, corpus)


def accuracy(reading):
    return torch.cat(reading.correct).float().mean().item()


def test_the_tables_hold_every_plan_and_seed(rows):
    assert rows.keys() == {(p, s) for p in translation.PLANS for s in translation.SEEDS}
    found = [(row["plan"], row["seed"]) for row in load_table("everyday")]
    wanted = [(p, s) for p in everyday.PLANS for s in everyday.SEEDS]
    assert sorted(found) == sorted([*wanted, (everyday.LOOK_UP, 0)])


@pytest.mark.parametrize("name", KEPT)
def test_stored_weights_give_the_stored_numbers(name, rows, readings, pairs):
    """Up to what 300 of 2,000 sentences and half precision change."""
    row, reading = rows[name, 0], readings[name]
    assert accuracy(reading) == pytest.approx(row["accuracy"], abs=0.03)
    targets = [pair.target for pair in pairs]
    assert metrics.bleu(reading.written, targets) == pytest.approx(row["bleu"], abs=5)
    if "alignment" in row:
        found = translators.against_gold(reading.weights, pairs)
        for key in ("hit", "possible", "error", "content"):
            assert found[key] == pytest.approx(row["alignment"][key], abs=0.03)


def test_far_links_have_a_control(pairs):
    """The share of links more than two places off the diagonal is none in a word-for-word text."""
    away = [abs(q - k) for pair in pairs for q, k in pair.sure]
    assert sum(d > 2 for d in away) / len(away) > 0.1
    same = [pair._replace(sure={(i, i) for i in range(len(pair.source))}) for pair in pairs]
    assert not any(abs(q - k) > 2 for pair in same for q, k in pair.sure)


def test_attention_wins_and_the_untrained_do_not(readings, untrained):
    assert accuracy(readings["after, dot"]) > accuracy(readings["none"]) + 0.2
    assert not accuracy(untrained) > accuracy(readings["none"]) + 0.2


def shuffled(pairs):
    """Pairs with the source columns of their gold in random order, sentence by sentence."""
    chance = random.Random(0)
    for pair in pairs:
        columns = list(range(len(pair.source)))
        chance.shuffle(columns)
        moved = {
            links: frozenset((q, columns[k]) for q, k in getattr(pair, links))
            for links in ("sure", "possible")
        }
        yield pair._replace(**moved)


@pytest.mark.parametrize("name", [name for name in KEPT if name != "none"])
def test_alignment_beats_the_diagonal_and_shuffled_gold_does_not(name, readings, untrained, pairs):
    diagonal = [metrics.diagonal_weights(len(p.target), len(p.source)) for p in pairs]
    worst = metrics.expected_error_rate(diagonal, pairs)
    weights = readings[name].weights
    assert metrics.expected_error_rate(weights, pairs) < worst
    assert not metrics.expected_error_rate(weights, list(shuffled(pairs))) < worst
    assert not metrics.expected_error_rate(untrained.weights, pairs) < worst


@pytest.mark.parametrize("name", [name for name in KEPT if name != "none"])
def test_content_words_hit_and_shuffled_gold_or_an_untrained_model_does_not(
    name, rows, readings, untrained, pairs
):
    for plan in ("before, additive", "after, additive", "after, dot"):
        assert all(rows[plan, seed]["alignment"]["content"] >= 0.9 for seed in translation.SEEDS)

    def content(weights, gold):
        return translators.against_gold(weights, gold)["content"]

    weights = readings[name].weights
    assert content(weights, pairs) > 0.88  # a sample of the test set
    assert content(weights, list(shuffled(pairs))) < 0.5
    assert content(untrained.weights, pairs) < 0.5


def test_function_words_hit_less_and_seeds_disagree(rows):
    """The clitics of `before`, and marks and question words, whose seeds differ; nouns do not."""

    def of_class(plan, name):
        hits = [rows[plan, seed]["alignment"]["classes"][name] for seed in translation.SEEDS]
        return min(hits), max(hits)

    assert of_class("before, additive", "clitic")[1] < 0.4 < of_class("after, dot", "clitic")[0]
    for plan, name in (("before, additive", "question"), ("after, dot", "punctuation")):
        low, high = of_class(plan, name)
        assert high > low + 0.3
        low, high = of_class(plan, "noun")
        assert high < low + 0.05


def test_only_the_bottleneck_falls_with_length(rows):
    for (plan, _), row in rows.items():
        lengths = [part["accuracy"] for part in row["lengths"].values()]
        if ":" not in plan:  # the random split
            assert (lengths[0] - lengths[-1] > 0.2) == plan.startswith("none")


def determiners(model, of, pairs):
    """Every "la" or "le" with one noun and one word of its own, and the state before its step."""
    found = []
    for pair in pairs:
        for q, (word, kind) in enumerate(zip(pair.target, pair.classes, strict=True)):
            noun = [k for i, k in pair.possible - pair.sure if i == q]
            own = [k for i, k in pair.sure if i == q]
            if kind != "determiner" or word not in ("la", "le") or len(noun) * len(own) != 1:
                continue
            beside = next(k for k in (noun[0] + 1, own[0] - 1) if 0 <= k < len(pair.source))
            places = {"noun": noun, "own": own, "bystander": [beside]}
            places["phrase"] = range(min(noun + own), max(noun + own) + 1)
            batch = collate([pair], of.source_vocab, of.target_vocab)
            found.append((word, q, places, batch, before(model, batch, batch.source, q)))
    assert len(found) > 80
    return found


def before(model, batch, source, q):
    state = model.start(source, batch.source_lens)
    return model.step(batch.inputs[:, :q], state).state if q else state


def gender_right(model, of, cases, *, hide=(), erase=(), exchange=(), only=False):
    """Share of "la" against "le" that is right, these columns hidden (or all others), or erased.

    Or exchanged for those of the sentence with a king for a feminine noun, a queen for another.
    """
    la, le = (of.target_vocab.encode([word])[0] for word in ("la", "le"))
    right = 0
    for word, q, places, batch, state in cases:
        source = batch.source.clone()
        if erase:
            source[0, [k for name in erase for k in places[name]]] = UNK
            state = before(model, batch, source, q)
        mask = state.memory.mask.clone()
        chosen = torch.zeros_like(mask)
        chosen[..., [k for name in hide for k in places[name]]] = True
        mask &= chosen if only else ~chosen
        memory = state.memory._replace(mask=mask)
        if exchange:
            source[0, places["noun"]] = of.source_vocab.encode(
                ["king" if word == "la" else "queen"]
            )[0]
            other = model.start(source, batch.source_lens).memory
            keys, outputs = memory.keys.clone(), memory.outputs.clone()
            for name in exchange:
                keys[:, list(places[name])] = other.keys[:, list(places[name])]
                outputs[:, list(places[name])] = other.outputs[:, list(places[name])]
            memory = memory._replace(keys=keys, outputs=outputs)
        step = model.step(batch.inputs[:, q : q + 1], state._replace(memory=memory))
        right += bool(step.logits[0, 0, la] > step.logits[0, 0, le]) == (word == "la")
    return right / len(cases)


@torch.no_grad()
@pytest.mark.parametrize("name", [name for name in KEPT if name != "none"])
def test_gender_is_read_mainly_at_the_determiner_s_own_word(name, corpus, pairs):
    """The same as the chapter's experiment, written another way; an untrained model guesses."""
    model, of = translation.stored(name, load_weights(KEPT[name]))
    cases = determiners(model, of, pairs)

    def right(**what):
        return gender_right(model, of, cases, **what)

    assert right() > 0.95
    assert right(hide=["noun"]) > 0.95
    assert right(erase=["noun"]) < 0.75
    own, both = right(hide=["own"]), right(hide=["noun", "own"])
    assert both < own - 0.02 and both < 0.92
    assert right(hide=["phrase"]) <= both
    assert right(hide=["bystander"], only=True) < both  # the positive control
    assert right(exchange=["noun"]) > 0.85
    assert right(exchange=["own"]) < 0.6
    assert right(exchange=["phrase"]) < 0.25
    guessing = translators.build(translation.PLANS[name], corpus, 0).eval()
    assert gender_right(guessing, of, determiners(guessing, of, pairs)) < 0.75


def test_the_corpus_hash_sees_a_link(monkeypatch):
    of = translation.load("random")
    before = translation.corpus()
    pair = of.splits.test[0]
    changed = [pair._replace(sure=frozenset(list(pair.sure)[1:])), *of.splits.test[1:]]
    fake = of._replace(splits=of.splits._replace(test=changed))
    load = translation.load
    monkeypatch.setattr(translation, "load", lambda s: fake if s == "random" else load(s))
    assert translation.corpus() != before


def test_the_classic_loss_is_divided_twice(corpus):
    """Exercise 6: d2l's loss is the cross-entropy of a token divided by the number of places."""
    batch = collate(corpus.splits.test[:5], corpus.source_vocab, corpus.target_vocab)
    logits = torch.randn(*batch.targets.shape, len(corpus.target_vocab))
    each = import_d2l().MaskedSoftmaxCELoss()(logits, batch.targets, batch.target_lens)
    classic, lens = each.sum() / batch.target_lens.sum(), batch.target_lens
    ours = masked_cross_entropy(logits, batch.targets, lens)
    assert ours.item() == pytest.approx(classic.item() * batch.targets.shape[1])


# Everyday sentences


def test_the_four_as_the_classic_chapter_counts_them():
    right = [pair.target for pair in CLASSIC_FOUR]
    assert everyday.four(right) == pytest.approx(1)
    assert everyday.four([("non", "."), *right[1:]]) < 0.95


@pytest.mark.parametrize("name", everyday.PLANS)
def test_each_rate_is_the_best_of_those_tried(name):
    tried = [row for row in load_record("everyday")["tried"] if row["plan"] == name]
    losses = {row["learning rate"]: row["held-out loss"] for row in tried}
    assert losses.keys() == set(everyday.RATES)
    assert everyday.PLANS[name].learning_rate == min(losses, key=losses.get)


def test_the_look_up_takes_the_sentence_with_most_words_in_common():
    known = [
        AlignedPair(tuple(english.split()), (french,))
        for english, french in (("i see", "a"), ("i see the dog .", "b"), ("the dog", "c"))
    ]
    asked = [
        AlignedPair(tuple(english.split()), ()) for english in ("i see the cat .", "the dog", "i")
    ]
    assert everyday.look_up(asked, known) == [("b",), ("c",), ("a",)]


def test_every_model_has_one_recipe_the_transformer_too():
    plans = [plan._asdict() for plan in (*everyday.PLANS.values(), transformer_everyday.PLAN)]
    for plan in plans:
        assert plan.items() >= everyday.RECIPE.items()
    assert len({(plan["batch_size"], plan["size"]) for plan in plans}) == 1


@pytest.mark.parametrize("name", everyday.PLANS)
def test_stored_everyday_weights_give_the_stored_numbers(name):
    """Up to what 400 of 2,000 sentences and half precision change."""
    if reason := why_missing():
        pytest.skip(reason)
    model, of = everyday.stored(name, load_weights(everyday.PLANS[name].keep))
    row = next(r for r in load_table("everyday") if (r["plan"], r["seed"]) == (name, 0))
    few = of._replace(splits=of.splits._replace(test=of.splits.test[:400]))
    again = everyday.judge(model, few)
    assert again["bleu"] == pytest.approx(row["bleu"], abs=5)
    if "alibi" in row:
        assert again["alibi"]["error"] == pytest.approx(row["alibi"]["error"], abs=0.02)
