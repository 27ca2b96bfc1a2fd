"""The counterfactual bench's Python side: what it computes, holds and refuses."""

import numpy as np
import pytest
import torch
from attnbook_testing.refusals import refuses
from attnbook_testing.widgets import bench, linear_bench
from scipy.stats import spearmanr
from torch.nn import functional as F

import attnbook as ab
from attnbook.widgets import CounterfactualBench
from experiments import induction

B, H, K, D, M = 2, 3, 6, 4, 5


def case(seed=0):
    draw = torch.Generator().manual_seed(seed)
    return {
        "weights": (2 * torch.randn(B, H, K, generator=draw)).softmax(-1),
        "added": torch.randn(B, H, K, D, generator=draw),
        "readout": torch.randn(M, D, generator=draw),
        "residual": torch.randn(B, D, generator=draw),
        "norm": (torch.rand(D, generator=draw) + 0.5, torch.randn(D, generator=draw)),
        "bias": torch.randn(M, generator=draw),
    }


def by_hand(given, b, operation, key, changed, orders):
    """One weight after the other, and torch for what follows."""
    weights = given["weights"][b].clone()
    for h in changed:
        row = weights[h].clone()
        for k in range(K):
            weights[h, k] = {
                "out": 0.0,
                "even": 1 / K,
                "shuffled": row[orders[h][k]],
                "erase": 0.0 if k == key else row[k] / (row.sum() - row[key]),
                "force": float(k == key),
            }.get(operation, row[k])
    x = given["residual"][b].clone()
    for h in range(H):
        for k in range(K):
            x += weights[h, k] * given["added"][b, h, k]
    if given["norm"] is not None:
        x = F.layer_norm(x, (D,), *given["norm"])
    return weights, (given["readout"] @ x + given["bias"]).softmax(0)


@pytest.mark.parametrize(
    "operation", ["trained", "compare", "out", "even", "shuffled", "erase", "force"]
)
@pytest.mark.parametrize("norm", [True, False])
def test_an_operation_is_what_it_says(operation, norm):
    given = case()
    given["norm"] = given["norm"] if norm else None
    widget = CounterfactualBench(**given, operation=operation)
    for b, key, changed in ((0, 2, [0, 1, 2]), (1, 5, [1]), (1, 0, [])):
        widget.batch, widget.key, widget.changed = b, key, changed
        weights, shares = by_hand(given, b, operation, key, changed, widget._order)
        np.testing.assert_allclose(widget.weights(), weights, atol=1e-6)
        np.testing.assert_allclose(widget.probabilities(), shares, atol=1e-3)  # 16 bits
        before = by_hand(given, b, "trained", key, [], None)[1]
        assert widget.moved() == pytest.approx(ab.total_variation(before, shares).item(), abs=1e-3)


@torch.no_grad()
def test_it_is_the_model_with_changed_weights():
    torch.manual_seed(0)
    model, ids = induction.Copier(), induction.IDS[:2, :20]
    x, last = model.layers[0](model.embed(ids))[0], model.layers[1]
    heads = induction.HEADS
    values = last.W_v(last.norm(x)).unflatten(-1, (heads, -1))
    added = torch.einsum("bkhe,dhe->bhkd", values, last.W_o.weight.unflatten(1, (heads, -1)))
    widget = CounterfactualBench(
        last(x)[1][:, :, -1],
        added,
        model.out.weight,
        residual=x[:, -1],
        norm=(model.norm.weight, model.norm.bias),
        batch=1,
    )

    def forced(weights):
        weights = weights.clone()
        weights[:, [1, 3]] = torch.eye(20)[4]
        return weights

    for operation, change in (("trained", None), ("out", induction.zero(1, 3)), ("force", forced)):
        widget.operation, widget.key, widget.changed = operation, 4, [1, 3]
        wanted = model(ids, {1: change} if change else None)[0][1, -1].softmax(-1)
        np.testing.assert_allclose(widget.probabilities(), wanted, atol=1e-4)


def test_a_counterfeit_is_the_farthest_with_the_same_output():
    widget = linear_bench(operation="counterfeit")
    readout = widget._held("_readout", 2, 3)
    found = []
    for widget.batch in (0, 1):
        votes = torch.from_numpy(widget.added() @ (readout[1] - readout[0]))
        wanted = ab.farthest_counterfeit(torch.from_numpy(widget.trained()), votes)
        np.testing.assert_allclose(widget.weights(), wanted.weights, atol=1e-12)
        assert widget.moved() < 1e-12
        found.append(wanted.distance.item())
    assert max(found) > 0.2, "there is one to be found"
    widget.changed = []
    assert (widget.weights() == widget.trained()).all()


def test_counterfeits_are_offered_where_the_output_is_linear():
    assert linear_bench()._operations[-1] == "counterfeit"
    for other in (bench(), bench(heads=1, classes=3, norm=None), bench(heads=1, classes=2)):
        assert "counterfeit" not in other._operations
        refuses(ValueError, "operation must be", setattr, other, "operation", "counterfeit")


def test_effects_are_those_of_erasure_and_agree_by_ranks():
    widget = bench(changed=[1])
    effects = widget.effects()
    widget.operation = "erase"
    for widget.key in range(5):
        assert widget.moved() == pytest.approx(effects[widget.key]) and widget.moved() > 0
    for widget.changed in ([1], [0, 1]):
        rows = widget.trained()[widget.changed].mean(0), widget.effects()
        assert widget.agreement() == pytest.approx(spearmanr(*rows).statistic)
    widget.changed = []
    assert widget.agreement() == 0 and not widget.effects().any()
    ties = CounterfactualBench([[[0.4, 0.4, 0.2]]], [[[[1.0], [1.0], [-1.0]]]], [[0.0], [1.0]])
    rows = ties.trained()[0], ties.effects()
    assert ties.agreement() == pytest.approx(spearmanr(*rows).statistic)


def test_in_a_shuffle_every_key_moves_always_in_the_same_way():
    one, same, other = (CounterfactualBench(**case(), seed=seed)._order for seed in (4, 4, 5))
    assert one == same != other and one[0] != one[1]
    for order in one:
        assert sorted(order) == [*range(K)] and all(k != n for k, n in enumerate(order))


def test_what_is_erased_whole_leaves_nothing():
    sure = CounterfactualBench(
        [[[1.0, 0.0]]], [[[[1.0], [2.0]]]], [[0.0], [1.0]], operation="erase"
    )
    assert sure.weights().tolist() == [[0, 0]]
    sure.key = 1
    assert sure.weights().tolist() == [[1, 0]]


def test_what_is_held_is_near_what_came_and_nothing_is_changed():
    given = case()
    before = {name: torch.stack([*value]).clone() for name, value in given.items()}
    widget = CounterfactualBench(**given, changed=[2])
    widget.operation = "out"
    assert widget.weights()[2].sum() == 0 and widget.trained()[2].sum() > 0.99
    assert all(torch.equal(torch.stack([*value]), before[name]) for name, value in given.items())
    step = given["added"].abs().max().item() / 32767
    np.testing.assert_allclose(widget.added(), given["added"][0], atol=0.51 * step, rtol=0)
    assert widget.head_labels == ["head 1", "head 2", "head 3"]
    assert repr(widget) == "CounterfactualBench(3 heads, 2 examples of 6 keys, 5 classes)"


def test_what_does_not_fit_is_named():
    for wrong, said in (
        ({"weights": torch.ones(B, H, K)}, "weights must sum to one"),
        ({"weights": torch.full((B, H, K), -1.0)}, "weights must be from 0"),
        ({"weights": torch.ones(H, K)}, "weights must be 3-D"),
        ({"added": torch.ones(B, H, K + 1, D)}, "added must be"),
        ({"readout": torch.ones(1, D)}, "readout must be"),
        ({"readout": torch.ones(M, D + 1)}, "readout must be"),
        ({"residual": torch.ones(1, D)}, "residual must be"),
        ({"norm": (torch.ones(D),)}, "norm must be"),
        ({"bias": torch.ones(D)}, "bias must be"),
        ({"bias": torch.full((M,), torch.nan)}, "bias must be finite"),
        ({"gold": [0]}, "gold must hold a key for each of 2"),
        ({"gold": [0, K]}, "gold must be 0 to 5"),
        ({"classes": ["a"]}, "classes must hold 5"),
        ({"key_labels": ["a"]}, "key_labels must hold 6"),
        ({"examples": ["a"]}, "examples must hold 2"),
        ({"seed": -1}, "seed must be at least 0"),
        ({"changed": [3]}, "changed must be 0 to 2"),
        ({"key": K}, "key must be 0 to 5"),
    ):
        refuses(ValueError, said, CounterfactualBench, **(case() | wrong))
