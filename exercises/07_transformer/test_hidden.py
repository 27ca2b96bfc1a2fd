"""Hidden tests. The first line of a docstring is the hint in the students' feedback."""

import math
from copy import deepcopy

import torch
from _coursegrade_public import suspect, words  # the self-checks' own
from torch.nn import functional as F

from coursegrade.testing import cases, close, in_pieces, normal, points, same

FORBIDDEN = {"q1": ["F.layer_norm", "torch.native_layer_norm", "nn.LayerNorm"]}


def affine(rng, d):
    return 1 + normal(rng, d) / 2, normal(rng, d)


@points(1, "q1", value=True)
@cases(axes=[1, 4])
def test_q1_formula(student, rng, axes):
    """Mean and spread over the last axis, then gain, then bias, for any number of axes."""
    x, (gain, bias) = normal(rng, *(2, 3, 4, 8)[4 - axes :]), affine(rng, 8)
    assert close(student.normalise(x, gain, bias), F.layer_norm(x, (8,), gain, bias))


@points(1, "q1")
@cases(eps=[1e-5, 0.3])
def test_q1_eps(student, rng, eps):
    """The epsilon that is given counts, and it stands inside the root."""
    x, (gain, bias) = normal(rng, 3, 8) * eps**0.5, affine(rng, 8)
    want = F.layer_norm(x, (8,), gain, bias, eps)
    assert close(student.normalise(x, gain, bias, eps), want)


@points(1, "q1")
def test_q1_far_and_flat(student, rng):
    """Tokens far from zero are normalised as well, and of equal features only the bias is left."""
    x, (gain, bias) = normal(rng, 2, 8), affine(rng, 8)
    far = x + 3000
    want = F.layer_norm(far.double(), (8,), gain.double(), bias.double()).float()
    assert close(student.normalise(far, gain, bias), want, atol=5e-3, rtol=5e-3)
    flat = torch.full((2, 8), 3.0)
    assert close(student.normalise(flat, gain, bias), bias.expand(2, 8), atol=1e-4, rtol=0)


def slow_sublayer(x, W, gain, bias, norm):
    read = F.layer_norm(x, x.shape[-1:], gain, bias) if norm == "pre" else x
    y = x + torch.tanh(read @ W.T)
    return y if norm == "pre" else F.layer_norm(y, x.shape[-1:], gain, bias)


@points(1, "q1", value=True)
@cases(norm=["pre", "post"])
def test_q1_sublayer(student, rng, norm):
    """Pre: f reads the norm, and x goes on beside it. Post: the norm of the sum."""
    x, W, (gain, bias) = normal(rng, 2, 4, 6), normal(rng, 6, 6), affine(rng, 6)
    got = student.sublayer(x, student.bend(W), gain, bias, norm)
    assert close(got, slow_sublayer(x, W, gain, bias, norm))


@points(1, "q1")
def test_q1_arguments(student, rng):
    """What comes in stays as it is."""
    x, W, (gain, bias) = normal(rng, 2, 4, 6), normal(rng, 6, 6), affine(rng, 6)
    f = student.bend(W)
    for norm in ("pre", "post"):
        assert not same(student.sublayer(x.clone(), f, gain, bias, norm), x)
        assert same(student.last_args[0], x)
    assert not same(student.normalise(x.clone(), gain, bias), x)
    assert same(student.last_args[0], x)


@points(1, "q1")
def test_q1_gradient(student, rng):
    """Gradients flow through mean and spread as well."""
    x, W, (gain, bias) = normal(rng, 2, 6), normal(rng, 6, 6), affine(rng, 6)
    [got] = student.sublayer.grad(x, student.bend(W), gain, bias, "pre")
    x.requires_grad_()
    [want] = torch.autograd.grad(slow_sublayer(x, W, gain, bias, "pre").sum(), x)
    assert close(got, want, atol=1e-3, rtol=1e-3)


def slow_loss(logits, targets, epsilon, pad):
    """One token and one word at a time, in double precision."""
    costs = []
    for row, target in zip(logits.flatten(0, 1), targets.flatten().tolist(), strict=True):
        if target != pad:
            log_p = row.double().log_softmax(0).tolist()
            q = [
                epsilon / (len(log_p) - 1) + (1 - epsilon) * (w == target) for w in range(len(row))
            ]
            costs.append(-sum(q[w] * log_p[w] for w in range(len(row)) if w != pad))
    return torch.tensor(sum(costs) / len(costs))


def batch(rng, pad=0, v=7):
    """Logits, and targets of which some are `pad`."""
    targets = torch.randint(v - 1, (3, 5), generator=rng)
    targets += targets >= pad
    targets[0, 3:], targets[2, 1:] = pad, pad
    logits = 2 * normal(rng, 3, 5, v)
    logits[2, 0, targets[2, 0]] -= 10  # the one word of the short sentence is a surprise
    logits[targets == pad, pad] -= 10  # padding would be costly
    return logits, targets


@points(1, "q2", value=True)
def test_q2_no_smoothing(student, rng):
    """With a share of 0 it is the mean cross-entropy of valid tokens, in nats."""
    logits, targets = batch(rng)
    want = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=0)
    assert close(student.smoothed_loss(logits, targets, 0.0, 0), want)
    assert all(map(same, student.last_args[:2], (logits, targets)))  # not changed


@points(2, "q2", value=True)
def test_q2_formula(student, rng):
    """The share is spread evenly over all words but pad, and each valid token counts the same."""
    logits, targets = batch(rng)
    want = slow_loss(logits, targets, 0.3, 0).float()
    assert close(student.smoothed_loss(logits, targets, 0.3, 0), want, atol=1e-4, rtol=1e-4)


@points(1, "q2")
def test_q2_sums_to_one(student, rng):
    """The shares sum to one: if all words are equally likely, the loss is log v."""
    logits, targets = batch(rng)
    one, other = (student.smoothed_loss(logits, targets, share, 0) for share in (0.2, 0.4))
    assert abs(one - other) > 1e-3
    loss = student.smoothed_loss(torch.zeros(3, 5, 7), targets, 0.4, 0)
    assert close(loss, torch.tensor(math.log(7)), atol=1e-4, rtol=1e-4)
    assert student.smoothed_loss(logits, 0 * targets, 0.1, 0) == 0


@points(1, "q2")
def test_q2_other_pad(student, rng):
    """Any word may be the pad, and then the word 0 is one like others."""
    logits, targets = batch(rng, pad=4)
    targets[1, :2] = 0
    logits[..., 4] -= 15  # seldom said
    want = slow_loss(logits, targets, 0.3, 4).float()
    assert close(student.smoothed_loss(logits, targets, 0.3, 4), want, atol=1e-4, rtol=1e-4)


@points(1, "q2")
def test_q2_gradient(student, rng):
    """The gradient at a valid token is p - q, over the number of tokens, and 0 at padding."""
    logits, targets = batch(rng)
    [got] = student.smoothed_loss.grad(logits, targets, 0.2, 0)
    q = torch.full((7,), 0.2 / 6) + 0.8 * torch.eye(7)[targets]
    q[..., 0] = 0.0
    valid = (targets != 0).unsqueeze(2)
    assert close(got, (logits.softmax(2) - q) * valid / valid.sum(), atol=1e-5, rtol=1e-3)


@points(1, "q2", value=True)
def test_q2_least(student, rng):
    """The least loss is the entropy of q, over words that are not pad."""
    v = int(torch.randint(5, 30, (), generator=rng))
    for epsilon in (0.1, 0.5):
        q = [1 - epsilon + epsilon / (v - 1)] + (v - 2) * [epsilon / (v - 1)]
        want = -sum(share * math.log(share) for share in q)
        assert abs(float(student.least_loss(epsilon, v)) - want) < 1e-5


@points(1, "q2")
def test_q2_least_of_all(student, rng):
    """Without smoothing a model that is sure of the target has no loss."""
    assert abs(float(student.least_loss(0.0, 9))) < 1e-5


def decoder_weights(rng, v=9, d=8, f=12):
    """Weights for `Decoder`, with norms and biases that do something."""
    p = {"places": normal(rng, 64, d), "embedding.weight": normal(rng, v, d) / 2}
    for name in ("own_q", "own_k", "own_v", "own_o", "mem_q", "mem_k", "mem_v", "mem_o"):
        p[f"{name}.weight"] = normal(rng, d, d) / 2
    for i in range(1, 5):
        p[f"norm_{i}.weight"], p[f"norm_{i}.bias"] = affine(rng, d)
    p |= {"wide.weight": normal(rng, f, d) / 2, "wide.bias": normal(rng, f)}
    return p | {"narrow.weight": normal(rng, d, f) / 2, "narrow.bias": normal(rng, d)}


def loaded(student, rng):
    """The student's decoder with weights of ours, and those weights."""
    p = decoder_weights(rng)
    decoder = student.Decoder(9, 8, 2, 12)
    decoder.load_state_dict(p)
    return decoder, p


def source(rng, lengths=(4, 2, 3), n=6):
    """Ids, memory and lengths."""
    b = len(lengths)
    ids = torch.randint(9, (b, n), generator=rng)
    return ids, normal(rng, b, max(lengths), 8), torch.tensor(lengths)


def one_query(q, keys, values, h):
    """Heads of one query (d,), one after the other."""
    parts = zip(q.chunk(h), keys.chunk(h, 1), values.chunk(h, 1), strict=True)
    return torch.cat([(k @ x / len(x) ** 0.5).softmax(0) @ v for x, k, v in parts])


def slow_decoder(p, ids, memory, lengths, h=2, later=None, since=0):
    """One sentence and one token at a time. Tokens from number `since` on meet weights `later`."""

    def norm(p, i, x):
        return F.layer_norm(x, x.shape[-1:], p[f"norm_{i}.weight"], p[f"norm_{i}.bias"])

    logits = []
    for row, read, length in zip(ids.tolist(), memory, lengths.tolist(), strict=True):
        mem_k, mem_v = (read[:length] @ p[f"mem_{x}.weight"].T for x in "kv")
        keys, values = [], []
        for place, word in enumerate(row):
            w = later if later and place >= since else p
            x = w["embedding.weight"][word] * 8**0.5 + w["places"][place]
            y = norm(w, 1, x)
            keys.append(w["own_k.weight"] @ y)
            values.append(w["own_v.weight"] @ y)
            own = one_query(w["own_q.weight"] @ y, torch.stack(keys), torch.stack(values), h)
            x = x + w["own_o.weight"] @ own
            found = one_query(w["mem_q.weight"] @ norm(w, 2, x), mem_k, mem_v, h)
            x = x + w["mem_o.weight"] @ found
            inner = (w["wide.weight"] @ norm(w, 3, x) + w["wide.bias"]).relu()
            x = x + w["narrow.weight"] @ inner + w["narrow.bias"]
            logits.append(w["embedding.weight"] @ norm(w, 4, x))
    return torch.stack(logits).unflatten(0, ids.shape)


def in_steps(decoder, ids, memory, lengths, steps):
    return in_pieces(decoder.step, ids, steps, decoder.start(memory, lengths))


@points(1, "q3", value=True)
@cases(parts=["own", "mem", "own and narrow"])
def test_q3_some_parts(student, rng, parts):
    """In steps, some sub-layers adding nothing: the norms, what is read, the sum."""
    p = decoder_weights(rng)
    for name in ("own_o.weight", "mem_o.weight", "narrow.weight", "narrow.bias"):
        if name[:3] not in parts:
            p[name] = torch.zeros_like(p[name])
    if parts == "own":
        p["places"] = torch.zeros(64, 8)
    decoder = student.Decoder(9, 8, 2, 12)
    decoder.load_state_dict(p)
    args = source(rng, n=3)
    assert close(in_steps(decoder, *args, [1, 2]), slow_decoder(p, *args), atol=1e-3, rtol=1e-3)


@points(2, "q3")
def test_q3_evaluation_mode(student, rng):
    """In evaluation mode, at once and in steps: no future there either, and no other logits."""
    decoder, p = loaded(student, rng)
    decoder.eval()
    args = source(rng)
    for steps in ([6], [2, 4]):
        assert close(in_steps(decoder, *args, steps), slow_decoder(p, *args), atol=1e-3, rtol=1e-3)


@points(2, "q3")
def test_q3_each_by_itself(student, rng):
    """Token after token: each at its own place, with all before it in sight."""
    decoder, p = loaded(student, rng)
    args = source(rng)
    assert close(in_steps(decoder, *args, [1] * 6), slow_decoder(p, *args), atol=1e-3, rtol=1e-3)


@points(3, "q3", value=True)
def test_q3_several(student, rng):
    """A later step of several tokens: all before it, and of the step nothing that is later."""
    decoder, p = loaded(student, rng)
    args = source(rng)
    assert close(in_steps(decoder, *args, [2, 3, 1]), slow_decoder(p, *args), atol=1e-3, rtol=1e-3)


@points(1, "q3")
def test_q3_as_many_heads_as_sentences(student, rng):
    """Each sentence has its own lengths, also where there are as many sentences as heads."""
    decoder, p = loaded(student, rng)
    args = source(rng, (1, 5), n=2)
    assert close(in_steps(decoder, *args, [1, 1]), slow_decoder(p, *args), atol=1e-3, rtol=1e-3)


@points(1, "q3")
@cases(of=["memory", "tokens"])
def test_q3_nothing_twice(student, rng, of):
    """Keys and values are computed once: of the memory in `start`, of a token in its step."""
    p = decoder_weights(rng) | {"places": torch.zeros(64, 8)}
    decoder = student.Decoder(9, 8, 2, 12)
    decoder.load_state_dict(p)
    ids, memory, lengths = source(rng, n=5)
    state = decoder.start(memory, lengths)
    other = "mem" if of == "memory" else "own"
    changed = {f"{other}_{x}.weight": normal(rng, 8, 8) / 2 for x in "kv"}
    if of == "memory":
        decoder.load_state_dict(p | changed)  # `start` has read the memory, nobody asks again
        first, state = decoder.step(ids[:, :3], state)
        got = torch.cat((first, decoder.step(ids[:, 3:], state)[0]), dim=1)
        want = slow_decoder(p, ids, memory, lengths)
    else:
        _, state = decoder.step(ids[:, :3], state)
        decoder.load_state_dict(p | changed)
        got, _ = decoder.step(ids[:, 3:], state)
        want = slow_decoder(p, ids, memory, lengths, later=p | changed, since=3)[:, 3:]
    assert close(got, want, atol=1e-3, rtol=1e-3)


@points(1, "q3")
def test_q3_going_back(student, rng):
    """One can go back to a state: it stays as it was, and so does the memory."""
    decoder, p = loaded(student, rng)
    ids, memory, lengths = source(rng, n=4)
    state = decoder.start(memory, lengths)
    assert all(map(same, student.last_args, (memory, lengths)))
    _, state = decoder.step(ids[:, :3], state)
    kept = deepcopy(state)
    decoder.step(ids[:, 3:], state)
    assert same(student.last_args[1], kept)
    ids[:, 3] = (ids[:, 3] + 1) % 9
    got, _ = decoder.step(ids[:, 3:], state)
    assert close(got, slow_decoder(p, ids, memory, lengths)[:, 3:], atol=1e-3, rtol=1e-3)


@points(1, "q3")
def test_q3_gradient(student, rng):
    """Gradients flow from the logits to the memory, and none to its padding."""
    decoder, p = loaded(student, rng)
    ids, memory, lengths = source(rng, n=3)
    steps = in_steps(decoder, ids, memory, lengths, [2, 1])
    [got] = decoder.forward.grad(ids, memory, lengths, wrt=(1,))
    memory.requires_grad_()
    logits = slow_decoder(p, ids, memory, lengths)
    [want] = torch.autograd.grad(logits.sum(), memory)
    assert close(steps, logits, atol=1e-3, rtol=1e-3)  # what is learned from is right
    assert close(got, want, atol=1e-3, rtol=1e-3)


def seen(*pairs, m=9):
    """A table in which the first of each pair sees the second."""
    table = torch.zeros(m, m, dtype=torch.bool)
    for i, j in pairs:
        table[i, j] = True
    return table


def judge(student, rng, law, *, n=6, **habits):
    """What the student says of a model with these habits; a sound one must always pass."""
    table, places, ids = words(rng, n)
    keeps = getattr(student, law)
    answers = [keeps(suspect(table, places), ids)]
    answers.append(keeps(suspect(table, places, **habits), ids))
    assert same(answers[0], True) and (same(answers[1], True) or same(answers[1], False))
    return bool(answers[1])


@points(1, "q4", value=True)
@cases(per_call=[1, 2, 3])
def test_q4_places(student, rng, per_call):
    """A model that counts calls instead of tokens is right at some cuts, and found at others."""
    assert not judge(student, rng, "keeps_cache", place=(0, per_call))


@points(1, "q4")
def test_q4_cache_and_future(student, rng):
    """Reading at once and in pieces differ as well where one early token sees its neighbour."""
    peek = torch.stack((seen((0, 1)), seen((0, 1))))
    assert not judge(student, rng, "keeps_cache", peek=peek)
    peek = torch.stack((seen((4, 5)), seen((4, 5))))
    assert not judge(student, rng, "keeps_cache", peek=peek)


@points(1, "q4", value=True)
@cases(pair=["01", "24", "45"])
def test_q4_one_pair(student, rng, pair):
    """One token that sees one later token is enough, wherever they stand."""
    one = seen(tuple(map(int, pair)))
    assert not judge(student, rng, "keeps_past", peek=torch.stack((one, one)))


@points(1, "q4")
def test_q4_any_ids(student, rng):
    """An id that is changed becomes another one, whichever it was."""
    table, places, _ = words(rng)
    one = seen((1, 3))
    model = suspect(table, places, peek=torch.stack((one, one)))
    for word in (0, 1, 6):
        ids = torch.full((1, 5), word)
        assert student.keeps_past(suspect(table, places), ids)
        assert not student.keeps_past(model, ids)


@points(1, "q4", value=True)
@cases(mode=["evaluation", "training"])
def test_q4_modes(student, rng, mode):
    """A bug in one mode alone: `keeps_mode` finds it."""
    late = seen((4, 5))
    peek = torch.stack((late, seen()) if mode == "evaluation" else (seen(), late))
    assert not judge(student, rng, "keeps_mode", peek=peek)


@points(1, "q4")
def test_q4_each_its_own(student, rng):
    """A law that is kept is kept, whichever other law is broken."""
    assert not judge(student, rng, "keeps_cache", place=(0, 0))
    assert judge(student, rng, "keeps_past", place=(0, 0))
    assert judge(student, rng, "keeps_mode", place=(0, 0))
    assert judge(student, rng, "keeps_mode", peek=torch.stack((seen((0, 3)), seen((0, 3)))))
    past = seen((3, 1), (6, 8))  # what is seen anyway, and what these ids don't reach
    for law in ("keeps_cache", "keeps_past", "keeps_mode"):
        assert judge(student, rng, law, peek=torch.stack((past, seen())))
    for law in ("keeps_cache", "keeps_past"):  # a bug in training mode does not concern them
        assert judge(student, rng, law, peek=torch.stack((seen(), seen((4, 5)))))


@points(1, "q4")
@cases(law=["keeps_cache", "keeps_past", "keeps_mode"])
def test_q4_leaves_no_trace(student, rng, law):
    """The model is left in the mode in which it was, and the ids as they were."""
    table, places, ids = words(rng)
    keeps = getattr(student, law)
    assert keeps(suspect(table, places), ids)
    model = suspect(table, places, peek=torch.stack((~seen(), seen())))
    for mode in (model.eval, model.train):
        mode()
        before, _ = model(ids)
        assert not keeps(model, ids.clone())
        assert same(student.last_args[1], ids)
        assert close(model(ids)[0], before, atol=1e-3, rtol=0)


@points(1, "q4")
@cases(size=["large", "small"])
def test_q4_one_feature(student, rng, size):
    """Logits all moved up, all moved down, or up and down: each is a difference, if above 0.01."""
    now = seen((0, 1), m=2)
    for table in (
        ([[0.2], [1.0], [5.0]], [[-1.0], [1.0]]) if size == "large" else ([[0.15], [0.3]],)
    ):
        for ids in ([[0, 1]], [[1, 0]]):
            given = torch.tensor(table), torch.zeros(9, 1)
            model = suspect(*given, peek=torch.stack((now, now.mT)))
            for law in ("keeps_cache", "keeps_past", "keeps_mode"):
                keeps = getattr(student, law)
                assert keeps(suspect(*given), torch.tensor(ids))
                assert not keeps(model, torch.tensor(ids))


def loaded_writer(student, rng):
    """The student's model with weights of ours, and those weights."""
    p = {"places": normal(rng, 64, 8), "embedding.weight": normal(rng, 7, 8) / 2}
    p |= {f"W_{x}.weight": normal(rng, 8, 8) / 2 for x in "qkvo"}
    for i in (1, 2):
        p[f"norm_{i}.weight"], p[f"norm_{i}.bias"] = affine(rng, 8)
    p |= {"wide.weight": normal(rng, 12, 8) / 2, "wide.bias": normal(rng, 12)}
    p |= {"narrow.weight": normal(rng, 8, 12) / 2, "narrow.bias": normal(rng, 8)}
    writer = student.Writer(7, 8, 2, 12)
    writer.load_state_dict(p)
    return writer, p


def slow_writer(p, ids, h=2):
    """One sentence at a time, all its words at once, by torch's own causal attention."""

    def norm(i, x):
        return F.layer_norm(x, (8,), p[f"norm_{i}.weight"], p[f"norm_{i}.bias"])

    logits = []
    for row in ids:
        x = p["embedding.weight"][row] * 8**0.5 + p["places"][: len(row)]
        q, k, v = ((x @ p[f"W_{a}.weight"].T).unflatten(1, (h, -1)).movedim(1, 0) for a in "qkv")
        read = F.scaled_dot_product_attention(q, k, v, is_causal=True).movedim(0, 1).flatten(1)
        x = norm(1, x + read @ p["W_o.weight"].T)
        inner = (x @ p["wide.weight"].T + p["wide.bias"]).relu()
        x = norm(2, x + inner @ p["narrow.weight"].T + p["narrow.bias"])
        logits.append(x @ p["embedding.weight"].T)
    return torch.stack(logits)


@points(1, "q5")
def test_q5_at_once(student, rng):
    """All at once, in evaluation mode and in training mode: what was right stays right."""
    writer, p = loaded_writer(student, rng)
    ids = torch.randint(7, (3, 6), generator=rng)
    for mode in (writer.train, writer.eval):
        mode()
        assert close(writer(ids)[0], slow_writer(p, ids), atol=1e-3, rtol=1e-3)


@points(1, "q5", value=True)
@cases(b=[1, 4])
def test_q5_after_a_prompt(student, rng, b):
    """A prompt, and then word by word: each word at its own place, for any number of sentences."""
    writer, p = loaded_writer(student, rng)
    ids = torch.randint(7, (b, 6), generator=rng)
    got = in_pieces(writer, ids, [3, 1, 1, 1])
    assert close(got, slow_writer(p, ids), atol=1e-3, rtol=1e-3)
    _, state = writer(ids[:, :3])
    kept = deepcopy(state)
    writer(ids[:, 3:], state)
    assert same(student.last_args[1], kept)


@points(1, "q5")
def test_q5_pieces(student, rng):
    """In pieces of several words, none of which sees a later one."""
    writer, p = loaded_writer(student, rng)
    ids = torch.randint(7, (2, 6), generator=rng)
    assert close(in_pieces(writer, ids, [1, 3, 2]), slow_writer(p, ids), atol=1e-3, rtol=1e-3)
