"""Hidden tests. The first line of a docstring is the hint in the students' feedback."""

import math

import torch
from _coursegrade_public import recite  # the self-checks' own
from torch import nn

from coursegrade.testing import cases, close, loaded, normal, points, same, unit


def slow_loss(logits, targets, lengths):
    """One token at a time, in double precision."""
    costs = []
    for row, words, n in zip(logits, targets.tolist(), lengths.tolist(), strict=True):
        costs += [-row[i].double().log_softmax(0)[words[i]] for i in range(n)]
    return (sum(costs) / len(costs)).float()


def batch(rng, b=3, t=5, v=7):
    """Logits, targets (never 0) and lengths."""
    lengths = torch.tensor([5, 1, 3])[:b]
    targets = torch.randint(1, v, (b, t), generator=rng)
    logits = 2 * normal(rng, b, t, v)
    logits[1, 0, targets[1, 0]] -= 10  # the one word of the short sentence is a surprise
    return logits, targets, lengths


@points(1, "q1", value=True)
def test_q1_one_length(student, rng):
    """Where all sentences have one length: the mean cross-entropy in nats."""
    logits, targets, _ = batch(rng)
    args = logits, targets, torch.tensor([3, 3, 3])
    assert close(student.token_loss(*args), slow_loss(*args))


@points(1, "q1", value=True)
def test_q1_lengths(student, rng):
    """Each valid token of the batch counts the same, and nothing else counts."""
    args = batch(rng)
    assert close(student.token_loss(*args), slow_loss(*args))


@points(1, "q1")
def test_q1_word_zero(student, rng):
    """The word 0 is a target like any other."""
    logits, targets, lengths = batch(rng)
    targets[:, 0] = 0
    args = logits, targets, lengths
    assert close(student.token_loss(*args), slow_loss(*args))


@points(1, "q1")
@cases(what=["logits", "targets"])
def test_q1_anything(student, rng, what):
    """Anything may stand at padding: logits of NaN, targets that are no word."""
    logits, targets, lengths = batch(rng)
    want = slow_loss(logits, targets, lengths)
    padding = torch.arange(5) >= lengths.unsqueeze(1)
    if what == "logits":
        logits[padding] = math.nan
    else:
        targets[padding] = torch.tensor([10**6, -1]).repeat(3)
    assert close(student.token_loss(logits, targets, lengths), want)


@points(1, "q1")
def test_q1_nothing(student, rng):
    """Without any valid token the loss is 0, not NaN."""
    logits, targets, lengths = batch(rng)
    assert student.token_loss(logits, targets, 0 * lengths) == 0


@points(1, "q1")
def test_q1_gradient(student, rng):
    """Gradients: those of the mean at valid tokens, exactly 0 at padding."""
    logits, targets, lengths = batch(rng)
    [got] = student.token_loss.grad(logits, targets, lengths)
    valid = torch.arange(5) < lengths.unsqueeze(1)
    want = logits.softmax(2) - torch.eye(7)[targets]
    assert (got[~valid] == 0).all()
    assert close(got, want * valid.unsqueeze(2) / valid.sum(), atol=1e-5, rtol=1e-3)


def loaded_score(student, rng):
    shapes = {"W_q.weight": (4, 3), "W_k.weight": (4, 5), "w_v.weight": (1, 4)}
    return loaded(student.AdditiveScore(3, 5, 4), rng, shapes)


def slow_scores(query, keys, weights):
    W_q, W_k, w_v = weights.values()
    return torch.stack([w_v[0] @ (W_q @ query + W_k @ key).tanh() for key in keys])


@points(1, "q2", value=True)
def test_q2_values(student, rng):
    """The scores of projected keys are those of the formula."""
    score, weights = loaded_score(student, rng)
    q, keys = normal(rng, 3, 3), normal(rng, 3, 3, 5)
    want = torch.stack([slow_scores(*pair, weights) for pair in zip(q, keys, strict=True)])
    assert close(score.score(q, keys @ weights["W_k.weight"].T), want)


@points(1, "q2")
def test_q2_names(student, rng):
    """Three layers, W_q, W_k and w_v, and no bias."""
    parameters = student.AdditiveScore(2, 3, 4).state_dict()
    shapes = {name: tuple(tensor.shape) for name, tensor in parameters.items()}
    assert shapes == {"W_q.weight": (4, 2), "W_k.weight": (4, 3), "w_v.weight": (1, 4)}


@points(1, "q2")
def test_q2_once(student, rng):
    """What depends on the keys alone is done by `project`, and not again."""
    score, weights = loaded_score(student, rng)
    q, keys = normal(rng, 2, 3), normal(rng, 2, 4, 5)
    projected = score.project(keys)
    assert close(projected, keys @ weights["W_k.weight"].T)
    before = score.score(q, projected)
    score.load_state_dict(weights | {"W_k.weight": torch.zeros(4, 5)})
    assert before.abs().sum() > 1e-3
    assert close(score.score(q, projected), before, atol=1e-5, rtol=1e-4)


@points(1, "q2")
def test_q2_gradient(student, rng):
    """Gradients flow to the query."""
    score, weights = loaded_score(student, rng)
    q, keys = normal(rng, 1, 3), normal(rng, 1, 4, 5)
    [got] = score.score.grad(q, score.project(keys))
    q.requires_grad_()
    [want] = torch.autograd.grad(slow_scores(q[0], keys[0], weights).sum(), q)
    assert close(got, want)


def loaded_step(student, rng, v=6, embed=3, d=4, m=5, hidden=2):
    shapes = {
        **{"embedding.weight": (v, embed), "attention.W_q.weight": (hidden, d)},
        **{"attention.W_k.weight": (hidden, m), "attention.w_v.weight": (1, hidden)},
        **{"cell.weight_ih": (3 * d, embed + m), "cell.weight_hh": (3 * d, d)},
        **{"cell.bias_ih": (3 * d,), "cell.bias_hh": (3 * d,)},
        **{"output.weight": (v, d + m), "output.bias": (v,)},
    }
    return loaded(student.DecoderStep(v, embed, d, m, hidden), rng, shapes)


def slow_step(p, tokens, state, memory, lengths):
    """One sentence at a time, its valid tokens alone, with torch's own cell."""
    cell = nn.GRUCell(p["cell.weight_ih"].shape[1], state.shape[1])
    cell.load_state_dict({n[5:]: w for n, w in p.items() if n.startswith("cell.")})
    cell.requires_grad_(False)
    score = {n[10:]: w for n, w in p.items() if n.startswith("attention.")}
    contexts, weights = [], torch.zeros(memory.shape[:2])
    for i, n in enumerate(lengths.tolist()):
        w = slow_scores(state[i], memory[i, :n], score).softmax(0) if n else torch.zeros(0)
        weights[i, :n] = w
        contexts.append(w @ memory[i, :n])
    context = torch.stack(contexts)
    new = cell(torch.cat((p["embedding.weight"][tokens], context), dim=1), state)
    both = torch.cat((new, context), dim=1)
    return both @ p["output.weight"].T + p["output.bias"], new, weights


def source(rng, lengths=(4, 2, 3)):
    """Tokens, state, memory and lengths."""
    b = len(lengths)
    tokens = torch.randint(6, (b,), generator=rng)
    return tokens, normal(rng, b, 4), normal(rng, b, 4, 5), torch.tensor(lengths)


def run(step, weights, tokens, state, memory, lengths):
    return step(tokens, state, memory, memory @ weights["attention.W_k.weight"].T, lengths)


@points(1, "q3", value=True)
@cases(part=["logits", "state", "weights"])
def test_q3_values(student, rng, part):
    """Logits, new state and weights of one step."""
    step, weights = loaded_step(student, rng)
    args = source(rng)
    number = ["logits", "state", "weights"].index(part)
    got, want = run(step, weights, *args), slow_step(weights, *args)[number]
    assert close(got[number], want)
    if part == "weights":  # right, and not only shown: others make other logits, in a step
        other = run(step, {"attention.W_k.weight": torch.zeros(2, 5)}, *args)
        assert not close(other[0], got[0]) and not close(got[1], args[1])


@points(2, "q3")
def test_q3_two_steps(student, rng):
    """A second step goes on from the state of the first."""
    step, weights = loaded_step(student, rng)
    tokens, state, memory, lengths = source(rng)
    _, got, _ = run(step, weights, tokens, state, memory, lengths)
    _, want, _ = slow_step(weights, tokens, state, memory, lengths)
    more = tokens.flip(0)
    got = run(step, weights, more, got, memory, lengths)
    want = slow_step(weights, more, want, memory, lengths)
    assert close(got, want, atol=1e-3, rtol=1e-3)


@points(1, "q3")
@cases(of=["memory", "projected"])
def test_q3_padding(student, rng, of):
    """Padding of the source reaches neither logits nor state, whatever stands there."""
    step, weights = loaded_step(student, rng)
    tokens, state, memory, lengths = source(rng, (4, 2))
    projected = memory @ weights["attention.W_k.weight"].T
    quiet = step(tokens, state, memory, projected, lengths)
    assert quiet[0].abs().sum() > 1e-3
    loud = memory if of == "memory" else projected
    loud[1, 2], loud[1, 3] = 3000.0, -2000.0
    assert close(step(tokens, state, memory, projected, lengths), quiet)


@points(1, "q3")
def test_q3_empty_source(student, rng):
    """A source of length 0 has zero weights and a zero context, not NaN."""
    step, weights = loaded_step(student, rng)
    args = source(rng, (3, 0))
    got, want = run(step, weights, *args), slow_step(weights, *args)
    assert (got[2][1] == 0).all()
    assert close(got[0][1], want[0][1])


@points(1, "q3")
def test_q3_gradient(student, rng):
    """Gradients flow from the logits through the context to the memory."""
    step, weights = loaded_step(student, rng)
    tokens, state, memory, lengths = source(rng)
    projected = memory @ weights["attention.W_k.weight"].T
    [got] = step.forward.grad(tokens, state, memory, projected, lengths, wrt=(2,), of=0)
    whole = memory.clone().requires_grad_()
    cell = nn.GRUCell(8, 4)
    cell.load_state_dict({n[5:]: w for n, w in weights.items() if n.startswith("cell.")})
    # the scores come from `projected`, so that the weights are constants here
    w = slow_step(weights, tokens, state, memory, lengths)[2].detach()
    context = (w.unsqueeze(1) @ whole).squeeze(1)
    new = cell(torch.cat((weights["embedding.weight"][tokens], context), dim=1), state)
    logits = torch.cat((new, context), dim=1) @ weights["output.weight"].T
    [want] = torch.autograd.grad(logits.sum(), whole)
    assert close(got, want, atol=1e-3, rtol=1e-3)


@points(1, "q3")
def test_q3_arguments(student, rng):
    """The arguments are not changed."""
    step, weights = loaded_step(student, rng)
    args = source(rng)
    assert run(step, weights, *(tensor.clone() for tensor in args))[0].shape == (3, 6)
    tokens, state, memory, _, lengths = student.last_args
    assert all(map(same, (tokens, state, memory, lengths), args))


def slow_greedy(table, bos, eos, pad, max_len):
    """One sentence at a time."""
    sentences = []
    for rows in table:
        words, word = [], bos
        while len(words) < max_len and eos not in words:
            word = int(rows[len(words), word].argmax())
            words.append(word)
        sentences.append(words)
    longest = max(map(len, sentences))
    return torch.tensor([words + [pad] * (longest - len(words)) for words in sentences])


def script(rng, b, t, eos, pad, ends=()):
    """A table (b, t, 8, 8) that never says pad, and `eos` as word number ends[i] of sentence i."""
    table = normal(rng, b, t, 8, 8)
    table[..., [eos, pad]] = -20
    for row, end in zip(table, ends, strict=False):
        row[end - 1, :, eos] = 20
    return table


@points(1, "q4", value=True)
def test_q4_own_words(student, rng):
    """The step gets the model's own last word, and bos before the first."""
    table = script(rng, 3, 6, eos=2, pad=0)
    table[:] = table[:, :1]  # every step is like the first, but the fourth is the last
    table[:, 3, :, 2] = 20
    got = student.greedy(recite(table), 0, 3, 7, 2, 0, 6)
    assert same(got, slow_greedy(table, 7, 2, 0, 6))


@points(1, "q4")
def test_q4_state(student, rng):
    """The state is handed on from step to step."""
    table = script(rng, 1, 7, eos=0, pad=3)
    table[:] = table[:, :, :1]  # the word in the hand does not matter
    got = student.greedy(recite(table), 2, 1, 1, 0, 3, 5)  # begins at step 2
    assert same(got, slow_greedy(table[:, 2:], 1, 0, 3, 5))


@points(1, "q4", value=True)
def test_q4_ends(student, rng):
    """Finished sentences hold padding, the others go on to their own ends."""
    table = script(rng, 4, 6, eos=3, pad=6, ends=(2, 6, 1, 4))
    got = student.greedy(recite(table), 0, 4, 1, 3, 6, 6)
    assert same(got, slow_greedy(table, 1, 3, 6, 6))


@points(1, "q4")
def test_q4_stops(student, rng):
    """When all are finished it stops: no further step, no further column."""
    table = script(rng, 2, 3, eos=5, pad=0, ends=(3, 2))
    got = student.greedy(recite(table), 0, 2, 1, 5, 0, 20)
    assert same(got, slow_greedy(table, 1, 5, 0, 20))


@points(1, "q4")
def test_q4_still_finished(student, rng):
    """A finished sentence stays finished, also when the model says its end again."""
    table = script(rng, 2, 5, eos=1, pad=4, ends=(1, 5))
    table[0, 2, :, 1] = 30  # the end once more, and other words after it
    got = student.greedy(recite(table), 0, 2, 0, 1, 4, 5)
    assert same(got, slow_greedy(table, 0, 1, 4, 5))


@points(1, "q4")
def test_q4_one_word_for_both(student, rng):
    """Where pad is the end word as well, the others still go on."""
    table = script(rng, 2, 5, eos=1, pad=1, ends=(2, 5))
    table[0, 2:, :, 1] = 20  # and goes on saying it
    got = student.greedy(recite(table), 0, 2, 0, 1, 1, 5)
    assert same(got, slow_greedy(table, 0, 1, 1, 5))


@points(1, "q4")
def test_q4_cut_and_ended(student, rng):
    """Sentences with and without an end, cut at max_len."""
    table = script(rng, 3, 9, eos=2, pad=0, ends=(3, 8))
    got = student.greedy(recite(table), 0, 3, 1, 2, 0, 4)
    assert same(got, slow_greedy(table, 1, 2, 0, 4))


def slow_rate(weights, sure, possible):
    """Sets of links, as in the formula."""
    t, k = sure.shape
    A = {(i, int(weights[i].argmax())) for i in range(t)}
    A = {(i, j) for i, j in A if j < k}
    S, P = ({(i, j) for i in range(t) for j in range(k) if g[i, j]} for g in (sure, possible))
    return 1 - (len(A & S) + len(A & P)) / (len(A) + len(S))


def judged(rng, t=12, k=5):
    """Weights that are right in two rows of three; gold: one or two sure links a word."""
    gold = torch.randint(k, (t,), generator=rng)
    sure = nn.functional.one_hot(gold, k).bool()
    sure[::4] = sure[::4] | sure[::4].roll(2, 1)
    chosen = torch.where(torch.arange(t) % 3 == 2, (gold + 1) % k, gold)
    weights = 0.05 * unit(rng, t + 1, k + 2)
    weights[torch.arange(t), chosen] += 0.7
    return weights, sure, chosen


@points(1, "q5")
def test_q5_sure_links(student, rng):
    """All gold links sure: the rate of the formula."""
    weights, sure, _ = judged(rng)
    assert close(student.error_rate(weights, sure, sure), slow_rate(weights, sure, sure))


@points(2, "q5", value=True)
def test_q5_possible_found(student, rng):
    """A possible link that is found is no error."""
    weights, sure, chosen = judged(rng)
    possible = sure.clone()
    possible[[2, 5, 8], chosen[[2, 5, 8]]] = True
    assert close(student.error_rate(weights, sure, possible), slow_rate(weights, sure, possible))


@points(1, "q5")
def test_q5_possible_missed(student, rng):
    """A possible link that is not found is no error."""
    weights, sure, chosen = judged(rng)
    possible = sure | sure.roll(3, 1)
    possible[torch.arange(12), chosen] = sure[torch.arange(12), chosen]
    assert close(student.error_rate(weights, sure, possible), slow_rate(weights, sure, possible))


@points(2, "q5")
def test_q5_beyond_the_source(student, rng):
    """A word whose largest weight is past the source has no link."""
    weights, sure, _ = judged(rng)
    weights[1::3, 5], weights[2::6, 6] = 0.9, 0.9
    assert close(student.error_rate(weights, sure, sure), slow_rate(weights, sure, sure))


@points(1, "q5")
def test_q5_weak(student, rng):
    """The largest weight counts, however small it is."""
    weights, sure, _ = judged(rng)
    assert close(student.error_rate(weights / 100, sure, sure), slow_rate(weights, sure, sure))
