"""What the experiments of chapter 12 rest on: who sends the indexer a gradient, and fair draws."""

import pytest
import torch

from experiments import choices, compression, indexer


@pytest.mark.parametrize(
    ("teacher", "soft", "learns"),
    [
        ("none", True, False),
        ("none", False, False),
        ("gates", True, True),
        ("gates", False, True),
        ("straight", False, True),
        ("attention", False, True),
        ("kept", False, True),
        ("labels", False, True),
    ],
)
def test_the_indexer_learns_from_its_teacher_alone(teacher, soft, learns):
    way = indexer.Way(teacher)
    torch.manual_seed(0)
    model, hay = indexer.Finder(way), indexer.draw(4, torch.Generator().manual_seed(0))
    scores, index = model(hay)
    alpha = indexer.weights(way, scores, index, soft)
    torch.testing.assert_close(alpha.sum(-1), torch.ones(4, 1))
    if not soft:
        assert (alpha > 0).sum(-1).amax() <= indexer.KEEP
    lesson = indexer.lesson(way, scores, index, hay, soft)
    if isinstance(lesson, torch.Tensor):  # it teaches the indexer and nothing else
        assert torch.autograd.grad(lesson, scores, retain_graph=True, allow_unused=True)[0] is None
    (indexer.answer_loss(alpha, hay) + lesson).backward()
    assert all((p.grad is not None) == learns for p in model.indexer.parameters())
    assert model.W_q.weight.grad.abs().max() > 0


def test_what_straight_through_leaves_out_still_gets_a_gradient():
    hay = indexer.draw(4, torch.Generator().manual_seed(0))
    for teacher, all_keys in (("gates", False), ("straight", True)):
        torch.manual_seed(0)
        scores, index = indexer.Finder(indexer.Way(teacher))(hay)
        index.retain_grad()
        alpha = indexer.weights(indexer.Way(teacher), scores, index, soft=False)
        indexer.answer_loss(alpha, hay).backward()
        assert (index.grad != 0).all() == all_keys


def test_the_needle_of_marked_keys_is_marked():
    direction = torch.ones(compression.D) / compression.D**0.5
    for task, share in (("marked", 1.0), ("any", compression.MARKED / compression.BLOCK)):
        _, keys, place = compression.draw(400, task, torch.Generator().manual_seed(0))
        marked = keys @ direction > compression.MARK / 2
        assert abs(marked.float().mean() - compression.MARKED / compression.BLOCK) < 0.01
        found = marked[torch.arange(400), place].float().mean()
        assert abs(found - share) < 0.05


def test_the_costs_of_a_choice():
    found = choices.all_of(choices.draw(20, 0), 0)
    dense = found["dense"]
    assert dense.multiplications == 512 * 64 and dense.bytes == 512 * 2 * 64 * 4
    eight, two = found["means of 8"], found["rank 2"]
    assert eight.multiplications == 64 * 64 + 64 * 64 == found["rank 8"].multiplications - 8 * 64
    assert two.bytes == 4 * (512 * 2 + 64 * 2 * 64)
    for name in ("means of 8", "means of 32", "rank 8", "rank 2"):
        assert (found[name].kept.sum(-1) == choices.KEEP).all()
    for name, choice in found.items():
        hits = (choice.kept & choices.draw(20, 0).needles).sum()
        assert name != "hash, 4 of 32" or hits > 0.9 * choices.draw(20, 0).needles.sum()
