"""Chapter 5: the task of two relations, the argument about one head, and controls of its claims."""

import copy

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from experiments import heads, language_model
from experiments import two_relations as tr
from experiments.stored import load_record, load_table

ROWS = load_table("two_relations")
PLACE = st.integers(0, tr.PLACES - 1)
SEED = st.integers(0, 2**31)


def examples(seed=0, count=50):
    return tr.draw(count, torch.Generator().manual_seed(seed))


def wild(seed, num_heads=1, size=3.0, **options):
    """An untrained model whose parameters are large, so that its weights are sharp."""
    torch.manual_seed(seed)
    model = tr.TwoRelations(num_heads=num_heads, **options)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=size / parameter.shape[-1] ** 0.5)
    return model.eval()


@pytest.fixture(scope="module")
def pair():
    """One head and two heads after a short training, of the same size."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("one head", "two heads"):
            patch.setitem(tr.MODELS, name, (*tr.MODELS[name][:3], 400))
        return tr.trained("one head", 1), tr.trained("two heads", 1)


# the task


def test_answers_are_where_the_relations_say():
    case = examples()
    assert case.keys.shape == case.values.shape == case.asked.shape == (50, tr.PLACES)
    for b in range(50):
        keys, values = case.keys[b].tolist(), case.values[b].tolist()
        assert len(set(keys)) == tr.PLACES
        for i in range(tr.PLACES):
            left, match = (i - 2) % tr.PLACES, keys.index(case.asked[b, i].item())
            assert case.sources[b, i].tolist() == [left, match]
            assert case.answers[b, i].tolist() == [values[left], values[match]]


@given(SEED, PLACE)
def test_filling_the_sources_changes_these_two_values_and_the_answers(seed, place):
    case = examples(seed, 8)
    new = torch.randint(tr.VALUES, (8, 2), generator=torch.Generator().manual_seed(seed))
    apart = case.sources[:, place, 0] != case.sources[:, place, 1]
    before = [x.clone() for x in case]
    filled = tr.fill_sources(case, place, new)
    assert all(torch.equal(x, y) for x, y in zip(case, before, strict=True)), "nothing is mutated"
    assert torch.equal(filled.answers[apart, place], new[apart])
    changed = filled.values != case.values
    for b in range(8):
        assert set(changed[b].nonzero().flatten().tolist()) <= set(case.sources[b, place].tolist())
    assert torch.equal(
        filled.answers, filled.values.unsqueeze(-1).expand(-1, -1, 2).gather(1, filled.sources)
    )


# the argument


@given(SEED, PLACE, st.sampled_from([0.5, 3.0, 20.0]))
def test_one_head_under_a_linear_readout_is_never_right_in_all_four_ways(seed, place, size):
    assert tr.right_all_ways(wild(seed, size=size), examples(seed), place) == 0


def test_the_argument_needs_one_head_and_a_linear_readout(pair):
    one, two = pair
    case = tr.held_out()
    assert tr.right_all_ways(one, case) == 0
    assert tr.right_all_ways(two, case) > 0.99  # so the count can be other than 0
    hidden = [row for row in ROWS if row["model"] == "one head, hidden layer"]
    assert min(row["all ways"] for row in hidden) > 0.99


# a head's part in the output


@pytest.mark.parametrize("num_heads", [1, 4])
def test_contributions_are_the_blocks_of_the_output_matrix(num_heads):
    case, model = examples(), wild(1, num_heads, size=1.0)
    added, base = tr.contributions(model, case)
    logits, weights = model(*case[:3], need_weights=True)
    torch.testing.assert_close(added.sum(dim=0) + base, logits, atol=1e-3, rtol=1e-4)
    d = 32 // num_heads
    for head in range(num_heads):
        rows = slice(head * d, head * d + d)
        pooled = weights[:, head] @ (model.value(case.values) @ model.attend.W_v.weight[rows].T)
        wanted = pooled @ model.attend.W_o.weight[:, rows].T @ model.readout.weight.T
        torch.testing.assert_close(added[head].flatten(2), wanted, atol=1e-3, rtol=1e-4)


def test_accuracy_and_hits_of_a_model_made_by_hand():
    """Weights that know: head 0 looks two to the left, head 1 at nothing in particular."""
    model = wild(0, num_heads=2)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
        model.place.weight[:, : tr.PLACES] = torch.eye(tr.PLACES)
        for place in range(tr.PLACES):
            model.attend.W_q.weight[(place - 2) % tr.PLACES, place] = 100.0
            model.attend.W_k.weight[place, place] = 1.0
        model.value.weight[:, : tr.VALUES] = torch.eye(tr.VALUES)
        model.attend.W_v.weight[: tr.VALUES, : tr.VALUES] = torch.eye(tr.VALUES)
        model.attend.W_o.weight.copy_(torch.eye(32))
        model.readout.weight[: tr.VALUES, : tr.VALUES] = torch.eye(tr.VALUES)
    case = examples(count=400)
    left, match, both = tr.accuracy(model, case).tolist()
    assert left == 1 and abs(match - 1 / tr.VALUES) < 0.04 and both <= match
    looks = tr.heads_on_sources(model, case)
    assert looks[0, 0] == 1 and abs(looks[0, 1] - 0.1) < 0.02
    assert tr.ablations(model, case)[0, 0] < 0.2 and tr.ablations(model, case)[1, 0] == 1


# the chapter's claims: over all stored seeds, and not without training


def of(name):
    return [row for row in ROWS if row["model"] == name]


def one_gives_up(left, match):
    low, high = sorted((left, match))
    return high > 0.95 and low < 0.3


def each_takes_one(looks):
    best = torch.tensor(looks).max(dim=0)
    return set(best.indices.tolist()) == {0, 1} and best.values.min() > 0.99


def loses_one_only(looks, out):
    left, match = torch.tensor(looks).argmax(dim=0).tolist()
    lost = out[left][0] < 0.3 and out[match][1] < 0.3
    return lost and out[left][1] > 0.99 and out[match][0] > 0.99


def has_an_idle_clear_head(looks, out):
    clear = torch.tensor(looks).max(dim=1).values > 0.7
    return bool((clear & (torch.tensor(out)[:, 2] > 0.99)).any())


def test_the_claims_hold_for_every_seed():
    stored = [(row["model"], row["seed"]) for row in ROWS]
    assert sorted(stored) == sorted((name, seed) for name in tr.MODELS for seed in tr.SEEDS)
    for row in ROWS:
        name, looks, out = row["model"], row["heads on sources"], row["one head out"]
        if name in ("one head", "one head, twice as wide", "one head, three times as long"):
            assert one_gives_up(row["left"], row["match"]) and row["both"] < 0.3
            assert row["all ways"] == 0
        else:
            assert min(row["left"], row["match"], row["both"], row["all ways"]) > 0.99
        if name == "two heads":
            assert each_takes_one(looks) and loses_one_only(looks, out)
        if name == "four heads":
            assert has_an_idle_clear_head(looks, out)
    assert {row["parameters"] for row in of("one head")} == {
        row["parameters"] for row in [*of("two heads"), *of("four heads")]
    }
    firsts = {row["heads on sources"][0][0] > 0.5 for row in of("two heads")}
    assert firsts == {True, False}, "which head takes which relation differs by seed"


@pytest.mark.parametrize("seed", range(2))
def test_no_claim_holds_without_training(seed):
    case = tr.held_out()
    for num_heads in (1, 2, 4):
        torch.manual_seed(seed)
        model = tr.TwoRelations(num_heads=num_heads)
        left, match, both = tr.accuracy(model, case).tolist()
        looks = tr.heads_on_sources(model, case).tolist()
        out = tr.ablations(model, case).tolist()
        assert both < 0.5 and not one_gives_up(left, match)
        assert not each_takes_one(looks)
        assert num_heads < 2 or not loses_one_only(looks, out)
        assert not has_an_idle_clear_head(looks, out)


def test_no_claim_holds_on_shuffled_answers(pair):
    """Answers, and the places they come from, of other sequences."""
    _, two = pair
    case = tr.held_out()
    other = case._replace(answers=case.answers.flip(0), sources=case.sources.flip(0))
    assert tr.accuracy(two, other).max() < 0.3
    looks = tr.heads_on_sources(two, other).tolist()
    assert not each_takes_one(looks)
    assert not loses_one_only(looks, tr.ablations(two, other).tolist())


# the language model with 1, 2, 4 and 8 heads


def small(num_heads, seed=0):
    torch.manual_seed(seed)
    sizes = heads.size(num_heads)
    vocabulary = len(language_model.CHARACTERS)
    options = {"parts": language_model.OF_2017}
    return language_model.Model(vocabulary, sizes.d, num_heads, sizes.layers, **options).eval()


def test_the_models_of_a_seed_begin_with_the_same_numbers_and_differ():
    models = [small(h) for h in heads.HEADS]
    ids = torch.randint(65, (2, 20))
    for model in models[1:]:
        for one, other in zip(models[0].parameters(), model.parameters(), strict=True):
            assert torch.equal(one, other)
        assert (models[0](ids) - model(ids)).abs().max() > 1e-3


def test_the_distance_of_maps_made_by_hand():
    n = 8
    itself = torch.eye(n)
    before = itself[(torch.arange(n) - 1).clamp(min=0)]  # the token before
    first = itself[torch.zeros(n, dtype=torch.long)]
    maps = torch.stack((itself, before, first, (itself + first) / 2)).expand(3, 1, 4, n, n)
    assert heads.distances(maps) == [[0.0, 1.0, 5.5, 2.75]]


@pytest.mark.parametrize("num_heads", [1, 4])
def test_a_head_without_its_columns_adds_nothing(num_heads):
    model = small(num_heads)
    x, mask = torch.randn(2, 5, 64), torch.ones(5, 5, dtype=torch.bool)
    before = copy.deepcopy(model.state_dict())
    for z in range(num_heads):
        attention = heads.without(model, 1, range(z, z + 1)).blocks[1].attention
        kept = 1 - torch.nn.functional.one_hot(torch.tensor(z), num_heads).float()
        wanted = model.blocks[1].attention(x, mask=mask, head_mask=kept).output
        torch.testing.assert_close(attention(x, mask=mask).output, wanted)
    for name, value in model.state_dict().items():
        assert torch.equal(value, before[name]), "the model itself stays as it was"


def test_each_rate_is_the_best_of_those_tried_and_not_at_the_edge():
    tried = load_record("heads")["tried"]
    for h in heads.HEADS:
        losses = {row["rate"]: row["validation"] for row in tried if row["heads"] == h}
        assert sorted(losses) == sorted(heads.RATES)
        assert min(losses, key=losses.get) == heads.RATE[h]
        assert min(heads.RATES) < heads.RATE[h] < max(heads.RATES)
    rows = load_table("heads")
    assert {(row["heads"], row["seed"]) for row in rows} == {
        (h, seed) for h in heads.HEADS for seed in heads.SEEDS
    }
    assert all(row["rate"] == heads.RATE[row["heads"]] for row in rows)
