"""The selective node: a slow loop, laws of gates and of the scan, gradients, refusals."""

import math

import pytest
import torch
from attnbook_testing import references
from attnbook_testing.refusals import refuses
from attnbook_testing.strategies import DTYPES, cases, tolerance
from hypothesis import given, settings
from hypothesis import strategies as st

import attnbook as ab

GATES = ("values", "scores")
few = settings(max_examples=25)
keeps = st.sampled_from((None, 1, 2, 9))


def close(a, b, slack=1e-12):
    torch.testing.assert_close(a, b, atol=slack, rtol=0)


def logits_for(scores, seed=0):
    random = torch.Generator().manual_seed(seed)
    return 2 * torch.randn(scores.shape, generator=random, dtype=scores.dtype)


def slow_row(scores, allowed, logits, gate, hard, keep):
    """Weights of one row, from their definition."""
    open_ = [j for j, a in enumerate(allowed) if a]
    if keep is not None:
        open_ = sorted(open_, key=lambda j: -logits[j])[:keep]
    g = [1 / (1 + math.exp(-x)) for x in logits]
    if hard:
        g = [float(x > 0) for x in logits]
    weights = [0.0] * len(scores)
    best = max((scores[j] for j in open_), default=0.0)
    e = {j: math.exp(scores[j] - best) * (g[j] if gate == "scores" else 1) for j in open_}
    total = math.fsum(e.values())
    for j in open_:
        if total > 0:
            weights[j] = e[j] / total * (g[j] if gate == "values" else 1)
    return weights


def slow(case, logits, **options):
    """Output and weights of `gated_attention`, loop by loop."""
    scores = references.four_axes(references.scaled_dot(case.queries, case.keys))
    wide = references.four_axes(logits)
    weights = torch.zeros_like(scores)
    places = torch.cartesian_prod(*map(torch.arange, scores.shape[:3])).tolist()
    for b, h, i in places:
        allowed = [references.may_attend(case.mask, b, h, i, j) for j in range(scores.shape[3])]
        row = slow_row(scores[b, h, i].tolist(), allowed, wide[b, h, i].tolist(), **options)
        weights[b, h, i] = torch.tensor(row, dtype=torch.float64)
    weights = weights.reshape(logits.shape)
    return references.pool(weights, case.values), weights


@pytest.mark.parametrize("gate", GATES)
@pytest.mark.parametrize("hard", [False, True])
@few
@given(case=cases(least=1), keep=keeps, seed=st.integers(0, 99))
def test_gated_attention_is_a_slow_loop(gate, hard, case, keep, seed):
    options = {"gate": gate, "hard": hard, "keep": keep}
    logits = logits_for(case.scores, seed)
    qkv = case.queries, case.keys, case.values
    found = ab.gated_attention(*qkv, logits, mask=case.mask, **options)
    for one, two in zip(found, slow(case, logits, **options), strict=True):
        close(one, two, 1e-11)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("gate", GATES)
def test_in_every_precision_and_with_equal_logits(gate, dtype):
    queries, keys, values = (torch.randn(2, n, 4, dtype=dtype) for n in (3, 5, 5))
    logits = torch.tensor([3.0, 3.0, -2.0, 0.0, -1e4], dtype=dtype).expand(2, 3, 5)
    for hard in (False, True):
        given_ = (queries, keys, values, logits)
        output, weights = ab.gated_attention(*given_, gate=gate, hard=hard, keep=1)
        assert output.dtype == weights.dtype == dtype and output.isfinite().all()
        assert ((weights > 0).sum(-1) == 1).all() and weights[..., 2:].eq(0).all()
        wide = (x.double() for x in given_)
        wanted, _ = ab.gated_attention(*wide, gate=gate, hard=hard)
        found, _ = ab.gated_attention(*given_, gate=gate, hard=hard)
        close(found.double(), wanted, 4 * tolerance(dtype))


@few
@given(cases(least=1), st.integers(0, 99))
def test_the_two_gates_differ_only_in_the_sum_of_a_row(case, seed):
    qkv, logits = (case.queries, case.keys, case.values), logits_for(case.scores, seed)
    by_value, by_score = (
        ab.gated_attention(*qkv, logits, gate=gate, mask=case.mask)[1] for gate in GATES
    )
    total = by_value.sum(-1, keepdim=True)
    assert (total <= 1 + 1e-12).all()
    close(by_value, by_score * total)


def test_gates_that_are_open_change_nothing_and_shut_ones_all():
    queries, keys, values = (torch.randn(3, n, 4).double() for n in (2, 5, 5))
    plain = ab.attention(queries, keys, values)[0]
    open_, shut = (torch.full((3, 2, 5), x).double() for x in (800.0, -800.0))
    for gate in GATES:
        close(ab.gated_attention(queries, keys, values, open_, gate=gate)[0], plain)
    close(ab.gated_attention(queries, keys, values, shut, gate="scores")[0], plain)
    for gate, hard in (("values", False), ("values", True), ("scores", True)):
        output, weights = ab.gated_attention(queries, keys, values, shut, gate=gate, hard=hard)
        assert output.abs().max() == weights.max() == 0


def test_hard_gates_in_the_scores_and_a_scan_are_masks():
    """By hand: five keys, the fourth masked although its logit is the largest."""
    queries, keys, values = (torch.randn(1, n, 4).double() for n in (2, 5, 5))
    logits = torch.tensor([1.0, -1.0, 2.0, 9.0, 0.5]).double().expand(1, 2, 5).clone()
    mask = torch.tensor([[True, True, True, False, True]])
    logits[..., 3] = torch.nan  # nobody reads it
    for options, left in (({"hard": True}, [0, 2, 4]), ({"keep": 2}, [0, 2]), ({"keep": 9}, [])):
        kept = mask.clone() if not left else torch.isin(torch.arange(5), torch.tensor(left))[None]
        found, weights = ab.gated_attention(queries, keys, values, logits, mask=mask, **options)
        gated = logits if "keep" in options else torch.zeros_like(logits)
        wanted, _ = ab.gated_attention(queries, keys, values, gated, mask=kept)
        close(found, wanted)
        assert torch.equal(weights[0] > 0, kept.expand(2, 5))
    plain = ab.attention(
        queries, keys, values, mask=torch.tensor([[True, False, True, False, True]])
    )
    close(ab.gated_attention(queries, keys, values, logits, hard=True, mask=mask)[0], plain[0])


def test_hard_gates_have_the_gradient_of_soft_ones():
    """Of values: as if the factor were the sigmoid. Of scores: as if its logarithm were added."""
    queries, keys, values, upstream = (torch.randn(1, n, 4).double() for n in (2, 5, 5, 2))
    logits = logits_for(torch.zeros(1, 2, 5)).double().requires_grad_()

    def slope(gate, hard, leaf):
        output, weights = ab.gated_attention(queries, keys, values, leaf, gate=gate, hard=hard)
        return torch.autograd.grad((output * upstream).sum(), leaf)[0], weights.detach()

    soft, hard = (slope("values", h, logits)[0] for h in (False, True))
    close(soft, hard)
    assert hard.ne(0).all()  # a key that was left out learns, too
    found, weights = slope("scores", True, logits)
    inside = (upstream @ values.mT) - (weights * (upstream @ values.mT)).sum(-1, keepdim=True)
    close(found, weights * inside * (1 - logits.detach().sigmoid()))
    assert found[logits < 0].eq(0).all() and found[logits > 0].ne(0).any()  # one of these does not


@pytest.mark.parametrize("gate", GATES)
@pytest.mark.parametrize("keep", [None, 2])
def test_gradients_are_those_of_finite_differences(gate, keep):
    leaves = [torch.randn(1, n, 3).double().requires_grad_() for n in (2, 4, 4)]
    leaves.append(logits_for(torch.zeros(1, 2, 4)).double().requires_grad_())
    mask = torch.tensor([[True, True, False, True], [False] * 4])

    def run(*given_):
        return ab.gated_attention(*given_, gate=gate, keep=keep, mask=mask)

    assert torch.autograd.gradcheck(run, leaves)


def some_node(task_size=None, **options):
    torch.manual_seed(0)
    return ab.SelectiveNode(ab.Relevance(3, 4, 2, task_size), score=ab.constant, **options).double()


def some_inputs(b=2):
    random = torch.Generator().manual_seed(1)
    shapes = (b, 3, 3), (b, 5, 4), (b, 5, 6)
    return [torch.randn(s, generator=random, dtype=torch.float64) for s in shapes]


def test_the_predictor_is_its_formula():
    queries, keys, _ = some_inputs()
    task = torch.randn(2, 7, dtype=torch.float64)
    relevance = some_node(7).relevance
    with torch.no_grad():
        relevance.b.fill_(0.25)
        found = relevance(queries, keys, task)
        for b, i, j in ((0, 0, 0), (1, 2, 4)):
            asked = relevance.W_q.weight @ queries[b, i] + relevance.W_t.weight @ task[b]
            wanted = asked @ (relevance.W_k.weight @ keys[b, j]) / 2**0.5 + 0.25
            close(found[b, i, j], wanted)


@pytest.mark.parametrize("options", [{"gate": "values"}, {"keep": 2}, {"hard": True}])
def test_a_node_is_its_predictor_and_its_gate(options):
    node, (queries, keys, values) = some_node(**options), some_inputs()
    mask = torch.tensor([True, True, False, True, False]).expand(2, 3, 5).clone()
    mask[0, 1] = False
    found = node(queries, keys, values, mask=mask)
    close(found.relevance, node.relevance(*_cleaned(queries, keys, mask)))
    output, weights = ab.gated_attention(
        queries, keys, values, found.relevance, score=ab.constant, mask=mask, **options
    )
    close(found.output, output)
    assert torch.equal(found.kept, weights > 0) and not found.kept[~mask].any()
    assert found.output[0, 1].eq(0).all()  # may attend to nothing


def _cleaned(queries, keys, mask):
    """Zeros where nobody looks, as the node's predictor gets them."""
    return queries * mask.any(-1, keepdim=True), keys * mask.any(-2).unsqueeze(-1)


@pytest.mark.parametrize("options", [{"gate": "values"}, {"keep": 2}, {"hard": True}])
def test_what_is_masked_reaches_no_output_and_no_gradient(options):
    found = []
    for junk in (0.0, float("nan")):
        node, (queries, keys, values) = some_node(**options), some_inputs()
        keys[:, 3:], values[:, 3:], queries[1, 0] = junk, junk, junk
        mask = (torch.arange(5) < 3).expand(2, 3, 5).clone()
        mask[1, 0] = False
        result = node(queries, keys, values, mask=mask)
        result.output.square().sum().backward()
        found.append([result.output, result.weights, *(p.grad for p in node.parameters())])
    for one, two in zip(*found, strict=True):
        assert torch.equal(one, two) and two.isfinite().all()


def test_heads_and_a_task_for_each_sequence():
    queries, keys, values = (x[:, None].repeat(1, 2, 1, 1) for x in some_inputs())
    node = some_node(3, keep=2)
    task = torch.randn(2, 1, 3, dtype=torch.float64)  # the same for all heads
    found = node(queries, keys, values, task, mask=torch.ones(2, 1, 5, dtype=torch.bool))
    assert found.output.shape == (2, 2, 3, 6) and (found.kept.sum(-1) == 2).all()
    other = node(queries, keys, values, -3 * task)
    assert not torch.equal(found.kept, other.kept)
    flat = node(*(x[:, 0] for x in (queries, keys, values)), task[:, 0])
    close(flat.output, found.output[:, 1])


def test_without_a_predictor_the_normaliser_chooses():
    queries, keys, values = (torch.randn(2, n, 4).double() for n in (3, 6, 6))
    found = ab.SelectiveNode(normalize=ab.sparsemax)(3 * queries, keys, values)
    output, weights = ab.attention(3 * queries, keys, values, normalize=ab.sparsemax)
    close(found.output, output)
    assert torch.equal(found.kept, weights > 0) and found.relevance is None
    assert 0 < found.kept.sum() < found.kept.numel()
    assert ab.SelectiveNode()(queries, keys, values).kept.all()  # softmax leaves nothing out


def test_nothing_changes_its_arguments():
    queries, keys, values = some_inputs()
    logits, mask = torch.randn(2, 3, 5).double(), torch.rand(2, 3, 5) < 0.5
    before = [x.clone() for x in (queries, keys, values, logits, mask)]
    options = {"gate": "values", "keep": 2, "mask": mask, "score": ab.constant}
    ab.gated_attention(queries, keys, values, logits, **options)
    assert all(map(torch.equal, before, (queries, keys, values, logits, mask)))


def test_what_does_not_fit_is_refused():
    queries, keys, values = (torch.randn(2, n, 4) for n in (3, 5, 5))
    run, logits = ab.gated_attention, torch.zeros(2, 3, 5)
    given_ = queries, keys, values
    refuses(ValueError, r"relevance must be \(2, 3, 5\).*got.*\(3, 5\)", run, *given_, logits[0])
    refuses(TypeError, "relevance must be floating", run, *given_, logits.long())
    refuses(ValueError, "gate must be one of 'values'", run, *given_, logits, gate="keys")
    refuses(ValueError, "keep must be at least 1, got 0", run, *given_, logits, keep=0)
    refuses(TypeError, r"options must be of \['score'\], got \['keep'\]", ab.SelectiveNode, keep=2)
    predictor = ab.Relevance(4, 4, 2)
    refuses(ValueError, "task must be None", predictor, queries, keys, torch.zeros(2, 3))
    with_task = ab.Relevance(4, 4, 2, task_size=3)
    refuses(ValueError, r"task must be \(\.\.\., task_size\), got None", with_task, queries, keys)
    refuses(ValueError, "size must be at least 1", ab.Relevance, 4, 4, 0)
