"""The memory network: equal to a slow loop, blind to padding, and what it refuses."""

from itertools import pairwise

import pytest
import torch
from attnbook_testing.refusals import refuses

import attnbook as ab
from experiments import hops


def batch(seed=0):
    """Three stories of unequal length, with words of unequal number."""
    random = torch.Generator().manual_seed(seed)
    facts = torch.randint(1, 9, (3, 5, 4), generator=random)
    facts[:, ::2, 3:], questions = 0, torch.randint(1, 9, (3, 4), generator=random)
    questions[:, 2:] = 0
    mask = torch.arange(5) < torch.tensor([5, 3, 1])[:, None]
    return facts * mask[..., None], questions, mask


def slowly(model, facts, questions, mask):
    """One story, one hop, one fact and one feature at a time."""
    d = model.B.embedding_dim

    def sentence(table, ids):
        ids = [i for i in ids.tolist() if i] if model.order else ids[ids > 0].tolist()
        total = torch.zeros(d)
        for j, i in enumerate(ids, start=1):
            for k in range(d):
                part = 1 - j / len(ids) - (k + 1) / d * (1 - 2 * j / len(ids))
                total[k] += table.weight[i, k] * (part if model.order else 1)
        return total

    rows, shares = [], []
    for story, question, there in zip(facts, questions, mask, strict=True):
        n, u, own = int(there.sum()), sentence(model.B, question), []
        codes = [
            [sentence(e, f) + (t.weight[n - 1 - i] if model.time else 0) for i, f in told]
            for e, t in zip(model.E, model.T, strict=True)
            for told in [list(enumerate(story[:n]))]
        ]
        for keys, values in pairwise(codes):
            alpha = torch.stack([u @ key for key in keys]).softmax(0)
            u = u + sum(a * value for a, value in zip(alpha, values, strict=True))
            own.append(torch.cat((alpha, torch.zeros(len(there) - n))))
        rows.append(model.W(u))
        shares.append(torch.stack(own))
    return torch.stack(rows), torch.stack(shares)


@pytest.mark.parametrize("options", [{}, {"order": False}, {"time": False}, {"hops": 3}])
@torch.no_grad()
def test_it_is_the_formula_one_fact_at_a_time(options):
    torch.manual_seed(0)
    model = ab.MemoryNetwork(9, 6, longest=5, **{"hops": 2} | options)
    for table in (*model.E, *model.T, model.B):
        table.weight.mul_(8)
    read = model(*batch())
    logits, weights = slowly(model, *batch())
    torch.testing.assert_close(read.logits, logits)
    torch.testing.assert_close(read.weights, weights)


@torch.no_grad()
def test_more_padding_changes_nothing():
    torch.manual_seed(0)
    model, (facts, questions, mask) = ab.MemoryNetwork(9, 6, longest=12), batch()
    wide = torch.nn.functional.pad(facts, (0, 2, 0, 3)), torch.nn.functional.pad(questions, (0, 1))
    wider = model(*wide, torch.nn.functional.pad(mask, (0, 3)))
    read = model(facts, questions, mask)
    torch.testing.assert_close(wider.logits, read.logits)
    torch.testing.assert_close(wider.weights[..., :5], read.weights)
    assert not wider.weights[..., 5:].any()


@torch.no_grad()
def test_without_time_a_story_is_a_set_and_without_order_a_sentence_is():
    facts, questions, mask = batch()
    turned = facts[:1].flip(1), questions[:1], mask[:1]
    mirrored = facts[:1, 1::2].flip(2), questions[:1], mask[:1, 1::2]
    told = facts[:1, 1::2], *mirrored[1:]
    for name, one, other in (
        ("time", (facts[:1], *turned[1:]), turned),
        ("order", told, mirrored),
    ):
        for on in (True, False):
            torch.manual_seed(0)
            model = ab.MemoryNetwork(9, 6, longest=5, **{name: on})
            same = torch.allclose(model(*one).logits, model(*other).logits, atol=1e-6)
            assert same != on, name


def test_a_story_without_facts_is_answered_and_sends_no_nan():
    model, (facts, questions, mask) = ab.MemoryNetwork(9, 6), batch()
    read = model(facts, questions, mask & False)
    assert not read.weights.any()
    read.logits.sum().backward()
    assert all(p.grad is None or p.grad.isfinite().all() for p in model.parameters())


def test_the_words_of_a_pair_weigh_opposite_features():
    weights = ab.word_order(torch.tensor([[5, 7]]), 2)
    assert weights.tolist() == [[[0.5, 0.5], [0.5, 1.0]]]


def test_what_it_refuses():
    model, (facts, questions, mask) = ab.MemoryNetwork(9, 6, longest=5), batch()
    refuses(ValueError, "hops must be", ab.MemoryNetwork, 9, hops=0)
    refuses(ValueError, r"facts must be \(b, n, w\)", model, facts[0], questions, mask)
    refuses(TypeError, "mask must be boolean", model, facts, questions, mask.int())
    refuses(ValueError, "agree in b and n", model, facts, questions, mask[:, :4])
    refuses(ValueError, "facts must hold ids", model, facts + 5, questions, mask)
    refuses(ValueError, "questions must hold ids", model, facts, questions + 9, mask)
    long = facts.repeat(1, 2, 1), questions, mask.repeat(1, 2)
    refuses(ValueError, "at most longest = 5", model, *long)


def test_a_hop_is_judged_by_the_facts_it_reads_most():
    class Fixed(torch.nn.Module):
        def forward(self, facts, questions, mask):
            weights = torch.eye(4)[torch.tensor([[0, 2], [1, 1]])] + torch.arange(4) / 99
            return ab.hops.Read(torch.eye(9)[torch.tensor([3, 4])], weights)

    there, support = torch.ones(2, 4, dtype=torch.bool), torch.tensor([[2, 0], [1, 3]])
    found = hops.judge(Fixed(), ab.data.Stories(None, None, torch.tensor([3, 5]), there, support))
    kept = found.pop("kept")
    assert (kept["recall"][0], kept["precision"][0]) == (0.75, 1)
    assert found == {
        "accuracy": 0.5,
        "found": 0.75,
        "all": 0.5,
        "at_once": 0.5,
        "reads": [[0.5, 0.5], [1.0, 0.0]],
    }
