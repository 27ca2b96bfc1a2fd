"""Hidden tests. The first line of a docstring is the hint in the students' feedback."""

import math

import torch
from torch import nn

from coursegrade.testing import cases, close, each, loaded, normal, points, same, unit


def slow_score(s, h, how, W=None, w=None):
    """One pair after the other."""
    rows = []
    for i, t, j in each(len(s), s.shape[1], h.shape[1]):
        x, y = s[i, t], h[i, j]
        if how == "dot":
            rows.append((x * y).sum())
        elif how == "general":
            rows.append(x @ W @ y)
        else:
            rows.append(w @ (W @ torch.cat((x, y))).tanh())
    return torch.stack(rows).reshape(len(s), s.shape[1], h.shape[1])


WEIGHTS = {"dot": (), "general": ((4, 4),), "concat": ((5, 8), (5,))}


@points(1, "q1", value=True)
@cases(how=["dot", "general", "concat"])
def test_q1_formula(student, rng, how):
    """Each pair of states by the formula; what comes in stays as it is."""
    given = normal(rng, 2, 3, 4), normal(rng, 2, 5, 4)
    weights = [normal(rng, *shape) for shape in WEIGHTS[how]]
    assert close(student.score(*given, how, *weights), slow_score(*given, how, *weights))
    assert all(map(same, student.last_args[:2], given))  # not changed


@points(1, "q1")
@cases(how=["general", "concat"])
def test_q1_sizes(student, rng, how):
    """States of the decoder and of the encoder with unequal numbers of features."""
    s, h = normal(rng, 2, 4, 3), normal(rng, 2, 6, 5)
    general = normal(rng, 3, 5)
    weights = [general] if how == "general" else [normal(rng, 2, 8), normal(rng, 2)]
    assert close(student.score(s, h, how, *weights), slow_score(s, h, how, *weights))


@points(2, "q1")
def test_q1_one_of_each(student, rng):
    """One sentence, one step, one token: the axes stay."""
    s, h = normal(rng, 1, 1, 4), normal(rng, 1, 1, 4)
    for how, shapes in WEIGHTS.items():
        weights = [normal(rng, *shape) for shape in shapes]
        want = slow_score(s, h, how, *weights)
        assert close(student.score(s, h, how, *weights), want)


@points(1, "q1")
def test_q1_gradient(student, rng):
    """Gradients flow to states and weights of concat."""
    args = normal(rng, 1, 2, 4), normal(rng, 1, 3, 4), "concat", normal(rng, 5, 8), normal(rng, 5)
    got = student.score.grad(*args, wrt=(0, 1, 3, 4))
    inputs = [x.requires_grad_() for x in args if x is not args[2]]
    assert close(got, torch.autograd.grad(slow_score(*args).sum(), inputs))


def loaded_step(student, rng, feed=True, v=7, embed=3, d=4):
    reads = embed + d if feed else embed
    shapes = {
        **{"embedding.weight": (v, embed), "join.weight": (d, 2 * d)},
        **{"cell.weight_ih": (3 * d, reads), "cell.weight_hh": (3 * d, d)},
        **{"cell.bias_ih": (3 * d,), "cell.bias_hh": (3 * d,)},
        **{"output.weight": (v, d), "output.bias": (v,)},
    }
    return loaded(student.LuongStep(v, embed, d, feed), rng, shapes)


def slow_step(p, tokens, state, vector, memory, lengths):
    """One sentence at a time, its valid tokens alone, with torch's own cell."""
    reads, d = p["cell.weight_ih"].shape[1], state.shape[1]
    cell = nn.GRUCell(reads, d)
    cell.load_state_dict({n[5:]: w for n, w in p.items() if n.startswith("cell.")})
    cell.requires_grad_(False)
    embedded = p["embedding.weight"][tokens]
    fed = torch.cat((embedded, vector), dim=1)
    new = cell(fed if reads == fed.shape[1] else embedded, state)
    weights, vectors = torch.zeros(memory.shape[:2]), []
    for i, n in enumerate(lengths.tolist()):
        tokens_of = memory[i, :n]
        w = (tokens_of @ new[i]).softmax(0)
        weights[i, :n] = w.detach()
        c, h = w @ tokens_of, new[i]
        vectors.append((p["join.weight"] @ torch.cat((c, h))).tanh())
    made = torch.stack(vectors)
    return made @ p["output.weight"].T + p["output.bias"], new, made, weights


def source(rng, lengths=(4, 2, 3)):
    """Tokens, state, vector, memory and lengths."""
    b = len(lengths)
    tokens = torch.randint(7, (b,), generator=rng)
    vector = normal(rng, b, 4).tanh()
    return tokens, normal(rng, b, 4), vector, normal(rng, b, 4, 4), torch.tensor(lengths)


@points(1, "q2", value=True)
@cases(part=["logits", "weights"])
def test_q2_values(student, rng, part):
    """Logits and weights of one step with feeding."""
    step, p = loaded_step(student, rng)
    args = source(rng)
    number = ["logits", "state", "vector", "weights"].index(part)
    assert close(step(*args)[number], slow_step(p, *args)[number])


@points(1, "q2")
def test_q2_state(student, rng):
    """The new state, which knows nothing of the source."""
    step, p = loaded_step(student, rng)
    args = source(rng)
    assert close(step(*args)[1], slow_step(p, *args)[1])


@points(1, "q2", value=True)
def test_q2_vector(student, rng):
    """The attentional vector, of the state and the weights that come back, which know the state."""
    step, p = loaded_step(student, rng)
    tokens, state, vector, memory, lengths = source(rng)
    _, new, made, weights = step(tokens, state, vector, memory, lengths)
    assert not close(step(tokens, -state, vector, memory, lengths)[3], weights, atol=0.01)
    for c, h, got in zip((weights[:, None] @ memory)[:, 0], new, made, strict=True):
        assert close(got, (p["join.weight"] @ torch.cat((c, h))).tanh())


@points(1, "q2", value=True)
def test_q2_without_feeding(student, rng):
    """All four results of one step without feeding, in sources without padding."""
    step, p = loaded_step(student, rng, feed=False)
    args = source(rng, (4, 4))
    assert close(step(*args), slow_step(p, *args))


@points(2, "q2")
def test_q2_two_steps(student, rng):
    """A second step goes on from the state and the vector of the first."""
    step, p = loaded_step(student, rng)
    tokens, *_, memory, lengths = args = source(rng)
    got, want = step(*args)[1:3], slow_step(p, *args)[1:3]
    got = step(tokens.flip(0), *got, memory, lengths)
    want = slow_step(p, tokens.flip(0), *want, memory, lengths)
    assert close(got, want, atol=1e-3)


@points(1, "q2")
def test_q2_padding(student, rng):
    """Padding of the memory reaches nothing, whatever stands there."""
    step, _ = loaded_step(student, rng)
    *given, memory, lengths = source(rng, (4, 1))
    quiet = step(*given, memory, lengths)
    assert quiet[0].abs().sum() > 1e-3
    memory[1, 1:3], memory[1, 3] = 30000.0, -20000.0
    assert close(step(*given, memory, lengths), quiet)


@points(1, "q2")
def test_q2_names(student, rng):
    """Four parts by their names, and a bias in the cell and in the output layer alone."""
    found = student.LuongStep(7, 3, 4, True).state_dict()
    shapes = {name: tuple(tensor.shape) for name, tensor in found.items()}
    assert shapes["join.weight"] == (4, 8) and shapes["output.bias"] == (7,)
    assert "join.bias" not in shapes and len(shapes) == 8


@points(1, "q2")
def test_q2_gradient(student, rng):
    """Gradients of the logits flow to state, fed vector and memory."""
    step, p = loaded_step(student, rng)
    args = source(rng)
    got = step.forward.grad(*args, wrt=(1, 2, 3), of=0)
    inputs = [x.requires_grad_() for x in args[1:4]]
    assert close(got, torch.autograd.grad(slow_step(p, *args)[0].sum(), inputs), atol=1e-3)


@points(1, "q2")
def test_q2_arguments(student, rng):
    """State, vector and memory that come in stay as they are."""
    step, _ = loaded_step(student, rng)
    args = source(rng)
    assert not same(step(*args)[1], args[1])
    assert all(map(same, student.last_args, args))


def slow_window(centres, lengths, k, radius):
    """One place after the other."""
    mask = torch.zeros(*centres.shape, k, dtype=torch.bool)
    for i, t, j in each(*mask.shape):
        far = j - centres[i, t].item()
        mask[i, t, j] = -radius <= far <= radius and j < int(lengths[i])
    return mask


@points(1, "q3", value=True)
def test_q3_window(student, rng):
    """Whole centres, in sentences of unequal lengths."""
    centres = torch.randint(9, (2, 6), generator=rng).float()
    centres[0, 0] = 5.0  # so that padding is near
    args = centres, torch.tensor([6, 9]), 9, 2
    assert same(student.window(*args), slow_window(*args))
    assert same(student.last_args[0], centres)  # not changed


@points(1, "q3", value=True)
def test_q3_between(student, rng):
    """Centres between two places."""
    fraction = torch.tensor([0.3, 0.7, 0.4, 0.6]) + 0.02 * unit(rng, 2, 4)
    args = 2 + 2 * torch.arange(4) + fraction, torch.tensor([10, 8]), 10, 2
    assert same(student.window(*args), slow_window(*args))


@points(1, "q3")
def test_q3_lengths(student, rng):
    """Nothing behind a sentence's own end, in a batch of several lengths."""
    args = 5 * unit(rng, 3, 6), torch.tensor([7, 2, 4]), 7, 3
    assert same(student.window(*args), slow_window(*args))


@points(1, "q3")
def test_q3_outside(student, rng):
    """A centre beyond an end: a part of the window is left, or nothing."""
    centres = torch.tensor([[-1.0, -2.5, -9.0, 7.0, 8.5, 20.0]])
    args = centres, torch.tensor([7]), 7, 3
    assert same(student.window(*args), slow_window(*args))


@points(1, "q3")
def test_q3_radius_zero(student, rng):
    """With radius 0 a step sees the place of a whole centre alone."""
    args = torch.tensor([[0.0, 3.0, 1.5, 5.0]]), torch.tensor([4]), 5, 0
    assert same(student.window(*args), slow_window(*args))


ENDS = (2, 4), (6, 10), (24, 40)  # of radius, of the shorter side, of the longer one


@points(1, "q3", value=True)
@cases(longer=["source", "target"])
def test_q3_scored_pairs(student, rng, longer):
    """The pairs inside the windows of local-m."""
    radius, few, more = (int(torch.randint(*ends, (), generator=rng)) for ends in ENDS)
    q, k = (few, more) if longer == "source" else (more, few)
    own = torch.arange(float(q)).unsqueeze(0)
    want = int(slow_window(own, torch.tensor([k]), k, radius).sum())
    assert student.scored_pairs(q, k, radius) == want


@points(1, "q3")
def test_q3_diagonal(student, rng):
    """With radius 0 the pairs are those of the shorter side."""
    n = int(torch.randint(3, 9, (), generator=rng))
    assert student.scored_pairs(n, n + 4, 0) == student.scored_pairs(n + 4, n, 0) == n


def slow_predict(s, lengths, W, v):
    """One state after the other."""
    rows = []
    for n, one in zip(lengths.tolist(), s, strict=True):
        rows.append(torch.stack([n / (1 + (-(v @ (W @ x).tanh())).exp()) for x in one]))
    return torch.stack(rows)


@points(1, "q4", value=True)
def test_q4_predict(student, rng):
    """Centres by the formula, in sentences of one length."""
    args = normal(rng, 2, 3, 4), torch.tensor([7, 7]), normal(rng, 5, 4), normal(rng, 5)
    assert close(student.predict(*args), slow_predict(*args))


@points(1, "q4")
def test_q4_own_length(student, rng):
    """Each sentence has its own length."""
    args = normal(rng, 3, 2, 4), torch.tensor([5, 11, 2]), normal(rng, 5, 4), normal(rng, 5)
    assert close(student.predict(*args), slow_predict(*args))


@points(1, "q4")
def test_q4_predict_gradient(student, rng):
    """Gradients flow from the centres to states and weights."""
    args = normal(rng, 2, 2, 4), torch.tensor([5, 11]), normal(rng, 5, 4), normal(rng, 5)
    got = student.predict.grad(*args, wrt=(0, 2, 3))
    inputs = [x.requires_grad_() for x in (args[0], *args[2:])]
    assert close(got, torch.autograd.grad(slow_predict(*args).sum(), inputs))


def slow_weights(scores, centres, lengths, radius, bell=None):
    """One step after the other, over the places of its window alone."""
    mask, rows = slow_window(centres, lengths, scores.shape[2], radius), []
    for i, t in each(*centres.shape):
        seen = mask[i, t].nonzero().flatten()
        log_bell = -((seen - centres[i, t]) ** 2) / (2 * (radius / 2) ** 2)
        row = (scores[i, t, seen] + log_bell * (bell == "scores")).softmax(0)
        row = row * log_bell.exp() if bell == "weights" else row
        rows.append(torch.zeros(len(mask[i, t])).index_put((seen,), row))
    return torch.stack(rows).reshape(mask.shape)


def looking(rng, b=3, q=4, k=9):
    """Scores, centres and lengths: no window is empty, and each lacks a place."""
    lengths = torch.tensor([9, 8, 7])[:b]
    return normal(rng, b, q, k), 6 * unit(rng, b, q), lengths


@points(1, "q4", value=True)
@cases(bell=[None, "weights", "scores"])
def test_q4_weights(student, rng, bell):
    """A softmax over the window, with the bell in its place; scores stay as they are."""
    args = *looking(rng), 2, bell
    assert close(student.local_weights(*args), slow_weights(*args))
    assert all(map(same, student.last_args[:3], args))  # not changed


@points(1, "q4")
@cases(what=["rows", "gradient"])
def test_q4_empty(student, rng, what):
    """An empty window gives zeros, and gradients that are no NaN."""
    scores, centres, lengths = looking(rng)
    centres[0, 1], centres[2, 3] = 30.0, -30.0
    args = centres, lengths, 3, "weights"
    if what == "rows":
        got, want = student.local_weights(scores, *args), slow_weights(scores, *args)
    else:
        [got] = student.local_weights.grad(scores, *args)
        scores.requires_grad_()
        [want] = torch.autograd.grad(slow_weights(scores, *args).sum(), scores)
    assert close(got, want)


@points(1, "q4")
def test_q4_large(student, rng):
    """Large scores overflow nowhere, and those outside the window do not matter."""
    scores, centres, lengths = looking(rng)
    scores += 200
    quiet = slow_weights(scores, centres, lengths, 2, "weights")
    scores = torch.where(slow_window(centres, lengths, 9, 2), scores, 400.0)
    got = student.local_weights(scores, centres, lengths, 2, "weights")
    assert close(got, quiet, atol=1e-3)


@points(1, "q4")
def test_q4_gradient(student, rng):
    """The centre learns through the bell after the softmax."""
    scores, centres, lengths = looking(rng)
    [got] = student.local_weights.grad(scores, centres, lengths, 2, "weights", wrt=(1,))
    centres.requires_grad_()
    whole = slow_weights(scores, centres, lengths, 2, "weights").sum()
    [want] = torch.autograd.grad(whole, centres)
    assert close(got, want)


def loaded_model(student, rng, d=6, radius=2):
    shapes = {"W_p.weight": (d, d), "v_p.weight": (1, d), "W_c.weight": (d, 2 * d)}
    return loaded(student.PredictiveAttention(d, radius), rng, shapes, 0.5)


def slow_attention(p, s, memory, lengths, radius=2, whole=False):
    """One step after the other: a softmax over its window, or over the `whole` sentence."""
    W_p, v_p, W_c = p.values()
    vectors, weights = torch.zeros_like(s), torch.zeros(*s.shape[:2], memory.shape[1])
    for i, t in each(*s.shape[:2]):
        centre = float(lengths[i]) / (1 + math.exp(-float(v_p[0] @ (W_p @ s[i, t]).tanh())))
        seen = [j for j in range(int(lengths[i])) if abs(j - centre) <= radius]
        row = (memory[i, : lengths[i]] @ s[i, t]).softmax(0)[seen]
        row = row if whole else row / row.sum()
        far = torch.tensor(seen) - centre
        row = row * (-2 * (far / radius) ** 2).exp()
        weights[i, t, seen] = row
        vectors[i, t] = (W_c @ torch.cat((row @ memory[i, seen], s[i, t]))).tanh()
    return vectors, weights


def mended(got, *args, parts=(0, 1), **more):
    """Whether these parts of an answer are those of one of the two models that the text allows."""
    want = [slow_attention(*args, **more, whole=whole) for whole in (False, True)]
    return any(all(close(got[i], one[i]) for i in parts) for one in want)


def states(rng, lengths=(9, 3), d=6):
    """Decoder states, memory and lengths."""
    b = len(lengths)
    return normal(rng, b, 5, d), normal(rng, b, 9, d), torch.tensor(lengths)


@points(1, "q5", value=True)
@cases(part=["vectors", "weights"])
def test_q5_values(student, rng, part):
    """Vectors and weights of sentences of unequal lengths."""
    model, p = loaded_model(student, rng)
    args = states(rng)
    assert mended(model(*args), p, *args, parts=[["vectors", "weights"].index(part)])


@points(1, "q5")
def test_q5_middle(student, rng):
    """Where the centre is the middle of the sentence, no window reaches padding."""
    model, p = loaded_model(student, rng)
    p["v_p.weight"] *= 0
    model.load_state_dict(p)
    args = states(rng, (9, 6))
    assert mended(model(*args), p, *args)


@points(1, "q5")
def test_q5_padding(student, rng):
    """What stands at padding changes nothing."""
    model, p = loaded_model(student, rng, radius=3)
    s, memory, lengths = states(rng, (3, 2))
    memory[:, 3:], memory[1, 2] = 20 * memory[:, 3:].sign(), 20 * memory[1, 2].sign()
    assert mended(model(s, memory, lengths), p, s, memory, lengths, radius=3)
