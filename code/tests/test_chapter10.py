"""Chapter 10's experiment: its sequences can be answered, and windows reach as far as they say."""

import pytest
import torch

import attnbook as ab
from experiments import sparse_ratio as ratio

QUESTION = ratio.FILLERS + ratio.KEYS * ratio.VALUES  # the first token that asks


def test_the_answer_stands_where_it_is_said_to_stand():
    for batch in ratio.draw(2, 5):
        asked = batch.distances > 0
        assert torch.equal(asked, batch.tokens >= QUESTION)
        assert torch.equal(asked, batch.values >= 0) and (asked.sum(dim=1) == ratio.PAIRS).all()
        for row, place in asked.nonzero().tolist():
            distance, value = (x[row, place].item() for x in (batch.distances, batch.values))
            key = batch.tokens[row, place].item() - QUESTION
            first = ratio.FILLERS + key * ratio.VALUES
            others = (batch.tokens[row] >= first) & (batch.tokens[row] < first + ratio.VALUES)
            assert others.nonzero().flatten().tolist() == [place - distance]
            assert batch.tokens[row, place - distance] == first + value


def test_distances_and_values_are_uniform():
    drawn = ratio.draw(60, 6)
    distances = torch.cat([batch.distances[batch.distances > 0] for batch in drawn]).double()
    values = torch.cat([batch.values[batch.values >= 0] for batch in drawn])
    assert distances.min() == 1 and distances.max() == ratio.LENGTH - 1
    assert distances.mean() == pytest.approx(ratio.LENGTH / 2, abs=3)
    assert (values.bincount() / len(values)).tolist() == pytest.approx([1 / 8] * 8, abs=0.03)


@pytest.mark.parametrize("plan", ratio.PLANS)
def test_a_plan_reaches_as_far_as_its_windows(plan):
    torch.manual_seed(0)
    model, tokens = ratio.Recaller(ratio.PLANS[plan]), torch.zeros(1, ratio.LENGTH).long()
    moved = []
    for back in range(ratio.LENGTH):
        other = tokens.clone()
        other[0, -1 - back] = QUESTION - 1
        moved.append(not torch.equal(model(other)[0, -1], model(tokens)[0, -1]))
    reach = ratio.REACH if plan == "all window" else ratio.LENGTH - 1
    assert moved == [back <= reach for back in range(ratio.LENGTH)]


def test_the_pairs_of_a_plan_are_those_of_its_masks():
    n = ratio.LENGTH
    window = int(ab.window_mask(n, n, ratio.WIDTH, causal=True).sum())
    full = int(ab.causal_mask(n).sum())
    found = [ratio.pairs_scored(plan) for plan in ("all window", "3 : 1", "all full")]
    assert found == [4 * window, 3 * window + full, 4 * full]
