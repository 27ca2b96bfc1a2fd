"""Diagrams say what the code does: shapes by letters, grids by their numbers."""

import gzip
import json
import re
from pathlib import Path

import attn_drawing
import attn_parts
import pytest
import torch
from torch import nn
from torch.nn import functional as F

import attnbook as ab
from attnbook.sparse import window_attention
from attnbook.transformer import DecoderBlock, EncoderBlock, Transformer
from experiments import induction as copier
from experiments import sparse_ratio, task_spans
from experiments.language_model import TODAY, Block

BOOK = Path(__file__).resolve().parents[2] / "book"


FILES = sorted((BOOK / "diagrams").glob("*.toml"))
# No two letters count alike, so that a wrong letter is a wrong shape.
SIZES = {"b": 2, "q": 3, "k": 5, "d": 7, "h": 11, "v": 13}
SIZES |= {"d_q": 17, "d_k": 19, "d_v": 23, "d_h": 29, "p": 31, "n": 37}
b, q, k, d, h, v, d_q, d_k, d_v, d_h, p, n = SIZES.values()
SIZES["hp"] = h * p
SIZES |= {"w": 4, "2w": 8, "c": 10}  # a window, two of them, the blocks that n is cut into
SIZES |= {"d_c": 41, "d_r": 12}  # features of a latent vector, and of a rotary key
SIZES |= {"s": 6}  # sentences of a document; w are the words of each
NONE = float("nan")  # a masked cell
QKV = ("queries", "keys", "values")


def four_moves():
    t = {"queries": torch.randn(q, d), "keys": torch.randn(k, d), "values": torch.randn(k, d_v)}
    t["mask"] = torch.rand(q, k) > 0.5
    t["scores"] = -torch.cdist(t["queries"], t["keys"]).square() / 2
    t["weights"] = ab.masked_softmax(t["scores"], t["mask"])
    return t | {"output": t["weights"] @ t["values"]}


def soft_lookup():
    shelf = {0.0: 10.0, 1.0: 20.0, 2.0: 60.0, 3.0: 40.0, 4.0: 50.0}
    keys, values = (torch.tensor(list(x)) for x in (shelf, shelf.values()))
    found = {
        "exact": (keys == 2.0).float(),
        "nearest": torch.eye(5)[(2.2 - keys).abs().argmin()],
        "soft": (-((2.2 - keys) ** 2) / 2).softmax(dim=0),
    }
    t = {"keys": keys[None], "values": values[None]}
    for name, weights in found.items():
        t |= {f"{name}_weights": weights[None], f"{name}_output": (weights @ values)[None, None]}
    assert shelf[2.0] == t["exact_output"]
    return t


def kernel_attention():
    t = {"queries": torch.rand(q, 1), "keys": torch.rand(k, 1), "values": torch.rand(k, 1)}
    u = t["queries"] - t["keys"].T
    t["scores"] = torch.exp(-(u**2) / 2).log()
    t["weights"] = t["scores"].softmax(dim=1)
    return t | {"output": t["weights"] @ t["values"]}


def leave_one_out():
    x = torch.tensor([[0.0], [1.0], [2.0], [4.0]])
    mask = ~torch.eye(4, dtype=torch.bool)
    scores = -((x - x.T) ** 2) / 2
    weights = ab.masked_softmax(scores, mask)
    return {
        "scores": scores,
        "masked": scores.masked_fill(~mask, NONE),
        "weights": weights.masked_fill(~mask, NONE),
    }


def masked_softmax():
    questions = torch.tensor([[2.0, 2, 0], [0, 0, 3], [2, -2, 0]])
    words = torch.tensor([[0.0, 0, 0], [1, 1, 0], [0, 0, 1], [0, 0, 0], [0, 0, 0]])
    scores, mask = questions @ words.T, torch.tensor([True] * 3 + [False] * 2).expand(3, 5)
    stages = {"masked": scores, "exp": scores.exp(), "weights": ab.masked_softmax(scores, mask)}
    return {"scores": scores} | {n: x.masked_fill(~mask, NONE) for n, x in stages.items()}


def batch_attention():
    t = {"queries": torch.randn(b, q, d), "keys": torch.randn(b, k, d)}
    t |= {"values": torch.randn(b, k, d_v), "mask": ab.length_mask([3, 5], k)}
    t["scores"] = t["queries"] @ t["keys"].mT
    t["weights"] = ab.masked_softmax(t["scores"], t["mask"])
    return t | {"output": t["weights"] @ t["values"]}


def two_masks():
    padding, causal = torch.arange(5) < 3, torch.ones(5, 5, dtype=torch.bool).tril()
    masks = {"padding": padding[None], "causal": causal, "both": padding & causal}
    return {n: m.float().masked_fill(~m, NONE) for n, m in masks.items()}


def broadcast_sum():
    queries, keys = torch.tensor([0.0, 2.0]), torch.tensor([-1.0, 0.0, 1.0])
    total = queries[:, None] + keys
    t = {"queries": queries[:, None], "keys": keys[None]}
    return t | {"sum": total, "squashed": total.tanh()}


def two_scores():
    t = {"queries": torch.randn(b, q, d_q), "keys": torch.randn(b, k, d_k)}
    t |= {"dot_queries": torch.randn(b, q, d), "dot_keys": torch.randn(b, k, d)}
    additive = ab.AdditiveScore(d_q, d_k, d_h)
    t["projected_queries"] = additive.W_q(t["queries"]).unsqueeze(2)
    t["projected_keys"] = additive.W_k(t["keys"]).unsqueeze(1)
    t["hidden"] = torch.tanh(t["projected_queries"] + t["projected_keys"])
    t["scores"] = additive.w(t["hidden"]).squeeze(-1)
    assert torch.allclose(t["scores"], additive(t["queries"], t["keys"]), atol=1e-6)
    t["dot_scores"] = ab.scaled_dot(t["dot_queries"], t["dot_keys"])
    return t


def bottleneck():
    """One step of the decoder that knows only h4, and of one that attends (`H1` and so on)."""
    embed, encoder = nn.Embedding(v, d), nn.GRU(d, d, batch_first=True)
    source, written, before = torch.randint(v, (b, 4)), torch.randint(v, (b,)), torch.randn(b, d)
    (states, last), score = encoder(embed(source)), ab.AdditiveScore(d, d, d_h)
    context = ab.attention(before[:, None], states, states, score=score)[0][:, 0]
    t = {}
    for c, name in ((last[0], str.lower), (context, str.upper)):
        s = nn.GRUCell(2 * d, d)(torch.cat((embed(written), c), dim=-1), before)
        p = nn.Linear(2 * d, v)(torch.cat((s, c), dim=-1)).softmax(dim=-1)
        t |= {name(f"x{j + 1}"): source[:, j] for j in range(4)}
        t |= {name(f"h{j + 1}"): states[:, j] for j in range(4)}
        t |= {name(n): x for n, x in (("c", c), ("s", s), ("p", p))}
        first = str.title if name is str.upper else str.lower
        t |= {first("before"): before, first("written"): written}
    assert torch.equal(t["c"], t["h4"])
    return t


def decoding_step():
    """The step of the page, by pen: "le" is written, and a noun is due."""
    states, old = torch.tensor([[0.0, 0], [1, 0], [0, 1]]), torch.tensor([0.0, -2])
    score = ab.AdditiveScore(2, 2, 2)
    with torch.no_grad():
        score.W_q.weight.copy_(4 * torch.eye(2))
        score.W_k.weight.copy_(4 * torch.eye(2))
        score.w.weight.fill_(2)
        t = {"query": score.W_q(old)[None], "keys": score.W_k(states), "values": states}
        t["hidden"] = torch.tanh(t["query"] + t["keys"])
        t["scores"] = score(old[None], states).T
        context, weights = ab.attention(old[None], states, states, score=score)
    return t | {"weights": weights.T, "context": context}


def two_orders():
    """A step of each: the small names ask before it, the capital ones after it."""
    states, old, y = torch.randn(b, k, d), torch.randn(b, d), torch.randint(v, (b,))
    score, embed = ab.AdditiveScore(d, d, d_h), nn.Embedding(v, d)
    c = ab.attention(old[:, None], states, states, score=score)[0][:, 0]
    s = nn.GRUCell(2 * d, d)(torch.cat((embed(y), c), dim=-1), old)
    new = nn.GRUCell(d, d)(embed(y), old)
    late = ab.attention(new[:, None], states, states, score=score)[0][:, 0]
    p, P = (nn.Linear(2 * d, v)(torch.cat(x, dim=-1)) for x in ((s, c), (new, late)))
    first = {"before": old, "h": states, "c": c, "y": y, "s": s, "p": p}
    return first | {"Before": old, "H": states, "C": late, "Y": y, "S": new, "P": P}


def luong_step():
    """A step of Bahdanau's (small names) and one of Luong's with feeding, score "general"."""
    t = two_orders()
    states, old, y = t["H"], t["Before"], t["Y"]
    embed, fed = nn.Embedding(v, d), torch.randn(b, d)
    s = nn.GRUCell(2 * d, d)(torch.cat((embed(y), fed), dim=-1), old)
    c = ab.attention(s[:, None], states, states, score=ab.GeneralScore(d, d))[0][:, 0]
    vector = nn.Linear(2 * d, d)(torch.cat((c, s), dim=-1)).tanh()
    return t | {"Fed": fed, "S": s, "C": c, "V": vector, "P": nn.Linear(d, v)(vector)}


def local_window():
    """The page's numbers: place 2 is the centre, the radius 2, and six exponentials."""
    powers, centres = torch.tensor([[1.0, 1, 1, 1, 6, 9]]), torch.tensor([[2.0]])
    one = torch.ones(1, 1, 1)
    keys = powers.log()[..., None]  # a query of 1: the scores are the keys
    rows = {"weights": None, "product": "weights", "rescaled": "scores"}
    t, options = {}, {"radius": 2, "score": ab.dot}
    for name, bell in rows.items():
        t[name] = ab.local_attention(one, keys, keys, centres, bell=bell, **options)[1][0].T
    inside = ab.local_window(centres, 6, radius=2)[0].T
    t["bell"] = ab.gaussian(centres.T, torch.arange(6.0)[:, None]).exp().T
    t["exponentials"] = powers.T
    return {name: x.masked_fill(~inside, NONE) for name, x in t.items()}


def masks_combined():
    """Five places: neighbours, and place 0 for all."""
    t = {"window": ab.window_mask(5, 5, 2), "everyone": ab.global_mask(5, places=[0])}
    t["longformer"] = t["window"] | t["everyone"]
    return {name: mask.float().masked_fill(~mask, NONE) for name, mask in t.items()}


def window_blocks():
    """As the page cuts, scores and joins; each block sees the one before it."""
    w, c = SIZES["w"], SIZES["c"]
    t = {name: torch.randn(n, d) for name in ("queries", "keys", "values")}

    def around(x):
        return F.pad(x, (0, 0, w, c * w - n)).unfold(0, 2 * w, w).mT

    t["blocks"] = F.pad(t["queries"], (0, 0, 0, c * w - n)).reshape(c, w, d)
    t["pieces"], t["Pieces"] = around(t["keys"]), around(t["values"])
    t["scores"] = ab.scaled_dot(t["blocks"], t["pieces"])
    t["window"] = ab.window_mask(w, 2 * w, w, causal=True, offset=w)
    inside = (torch.arange(2 * w) >= w) | (torch.arange(c) > 0)[:, None]
    t["weights"] = ab.masked_softmax(t["scores"], t["window"] & inside[:, None])
    t["output"] = t["weights"] @ t["Pieces"]
    t["joined"] = t["output"].reshape(c * w, d)[:n]
    wanted = window_attention(t["queries"], t["keys"], t["values"], w, causal=True)
    assert torch.allclose(t["joined"], wanted, atol=1e-5)
    return t


def layers_mixed():
    """Four blocks of each plan, under a window or full."""
    t, masks = {}, {True: ab.causal_mask(n), False: ab.window_mask(n, n, 2, causal=True)}
    for plan, full in zip(("window", "mixed", "full"), sparse_ratio.PLANS.values(), strict=True):
        t[f"{plan}_in"] = x = torch.randn(n, d)
        for is_full in full:
            x = EncoderBlock(d, 1)(x[None], mask=masks[is_full]).x[0]
        t[f"{plan}_out"] = x
    return t


def selective_node():
    """A node that scans and keeps two keys of each query; a task has d features, too."""
    t = {"queries": torch.randn(b, q, d), "task": torch.randn(b, d)}
    t |= {name: torch.randn(b, k, d) for name in ("keys", "values")}
    node = ab.SelectiveNode(ab.Relevance(d, d, 2, task_size=d), keep=2)
    found = node(t["queries"], t["keys"], t["values"], t["task"])
    return t | {"logits": found.relevance, "kept": found.kept, "output": found.output}


def hierarchy():
    """Both levels; the last words of each sentence are padding, and so is the last sentence."""
    s, w = SIZES["s"], SIZES["w"]
    t = {"words": torch.randn(b, s, w, d), "mask": torch.rand(b, s, w) > 0.3}
    t["mask"][:, -1] = False
    model = ab.HierarchicalAttention(ab.LearnedQuery(d), ab.LearnedQuery(d))
    found = model(t["words"], t["mask"])
    t |= {"context": model.words.query, "Context": model.sentences.query}
    t["scores"] = torch.tanh(model.words.W(t["words"])) @ t["context"]
    t["Scores"] = torch.tanh(model.sentences.W(found.vectors)) @ t["Context"]
    t["Mask"] = t["mask"].any(-1)
    t["Weights"] = ab.masked_softmax(t["Scores"], t["Mask"])
    assert torch.allclose(t["Weights"], found.sentences)
    return t | {"weights": found.words, "vectors": found.vectors, "document": found.output}


def four_normalisers():
    """The page's three scores."""
    scores = torch.tensor([[1.0, 0.6, -0.8]])
    return {
        "scores": scores,
        "soft": ab.masked_softmax(scores),
        "square": ab.entmax15(scores),
        "flat": ab.sparsemax(scores),
        "two": ab.top_k_softmax(scores, k=2),
    }


def cheap_ways():
    """Six keys of two features and a query, chosen by each way of the page."""
    K = torch.tensor([[0, 2], [-1, 0.5], [2.6, 1], [1.4, 1.6], [0.8, 2], [2.2, -3]])
    Q, H = torch.tensor([[1.0, 0]]), torch.eye(2)[None]
    centres = K[[0, 2, 5]]
    for _ in range(3):
        nearest = torch.cdist(K, centres).argmin(1)
        centres = torch.stack([K[nearest == C].mean(0) for C in range(3)])
    t = {"means": ab.mean_key_scores(Q, K, block=2), "small": (Q @ K.T).round()}
    t |= {"codes": ab.hash_codes(K, H).T, "groups": torch.cdist(K, centres).argmin(1)[None]}
    assert ab.hash_codes(Q, H).item() == 0 and torch.cdist(Q, centres).argmin().item() == 1
    kept = {"of_blocks": ab.mean_key_blocks(Q, K, block=2, keep=1)}
    kept["of_hash"] = ab.same_bucket(ab.hash_codes(Q, H), ab.hash_codes(K, H))
    kept["of_clusters"] = ab.same_cluster(Q, K, centres)
    kept["of_indexer"] = ab.keep_best(t["small"], 2)
    return t | {name: (Q @ K.T).masked_fill(~mask, torch.nan) for name, mask in kept.items()}


def cheap_map():
    """Words alone."""
    return {}


def cheap_blocks():
    """As the page chooses by mean keys and computes what it chose."""
    w, t = SIZES["w"], {name: torch.randn(n, d) for name in QKV}
    t["means"] = ab.block_means(t["keys"], w)
    t["fits"] = ab.mean_key_scores(t["queries"], t["keys"], block=w)
    t["chosen"] = ab.best_blocks(t["fits"], 2)
    return t | {"output": ab.block_attention(*(t[x] for x in QKV), t["chosen"], w)}


def online_blocks():
    """The page's three scores and values, read one by one; the package gives the same."""
    a, values = torch.tensor([1.0, 3, 2]), torch.tensor([10.0, 0, 20])
    t = dict(zip(("first", "second", "third"), torch.stack((a, values), 1)[:, None], strict=True))
    for read, name in enumerate(("one", "two", "three"), start=1):
        largest, e = a[:read].max(), (a[:read] - a[:read].max()).exp()
        t[name] = torch.stack((largest, e.sum(), e @ values[:read]))[None]
    output, logs = ab.online_attention(torch.ones(1, 1), a[:, None], values[:, None], block=1)
    assert torch.allclose(t["three"][0, 0] + t["three"][0, 1].log(), logs)
    return t | {"output": output}


def hops_chain():
    """The page's three facts, in features milk, john, mary, went."""
    t = {"question": torch.tensor([[1.0, 0, 0, 1]])}
    things = torch.tensor([[4.0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]])
    people = torch.tensor([[0.0, 4, 0, 0], [0, 0, 4, 4], [0, 4, 0, 4]])
    read, t["first"] = ab.attention(t["question"], things, people, score=ab.dot)
    t["state"] = t["question"] + read
    places = torch.tensor([[0.0, 0], [1, 0], [0, 1]])
    answer, t["second"] = ab.attention(t["state"], people, places, score=ab.dot)
    return t | {"answer": answer[:, 1:]}


def hops_network():
    """As the page does; the package gives the same."""
    net = ab.MemoryNetwork(v, d, hops=2, longest=n)
    facts, question = torch.ones(b, n, 4, dtype=torch.long), torch.ones(b, 4, dtype=torch.long)
    order, age = ab.word_order(facts, d), torch.arange(n - 1, -1, -1)
    t = {f"M{i}": (net.E[i](facts) * order).sum(2) + net.T[i](age) for i in range(3)}
    t["u0"] = (net.B(question) * ab.word_order(question, d)).sum(1)
    for i in (0, 1):
        read, _ = ab.attention(t[f"u{i}"][:, None], t[f"M{i}"], t[f"M{i + 1}"], score=ab.dot)
        t[f"u{i + 1}"] = t[f"u{i}"] + read[:, 0]
    t["logits"] = net.W(t["u2"])
    read = net(facts, question, torch.ones(b, n, dtype=torch.bool))
    torch.testing.assert_close(t["logits"], read.logits)
    return t


def three_branches():
    """As the page does; the package gives the same."""
    w, t = SIZES["w"], {name: torch.randn(n, d) for name in QKV}
    node = ab.ThreeBranches(d, block=w, keep=2, width=w)
    found = node(*t.values())
    place = torch.arange(n)[:, None]
    t["pooled"], values = node.pool(t["keys"], t["values"])
    whole = torch.arange(w - 1, SIZES["c"] * w, w) <= place
    t["coarse"], t["shares"] = ab.attention(t["queries"], t["pooled"], values, mask=whole)
    fits, before = t["shares"].scatter(1, place // w, torch.inf), ab.causal_mask(n)
    t["selected"] = ab.keep_blocks(fits, 2, w, n, before)
    t["near"] = ab.window_mask(n, n, w, causal=True)
    for name, mask in (("fine", t["selected"]), ("local", t["near"])):
        t[name], _ = ab.attention(t["queries"], t["keys"], t["values"], mask=mask)
    t["gates"] = found.gates
    parts = torch.stack((t["coarse"], t["fine"], t["local"]), dim=1)
    t["output"] = (t["gates"][..., None] * parts).sum(1)
    assert torch.allclose(t["output"], found.output, atol=1e-5)
    assert torch.equal(t["selected"] | t["near"], found.kept)
    del t["queries"], t["values"]
    return t


def many_heads():
    """As the page splits and joins; there h p is d."""
    t = {"queries": torch.randn(b, q, d)} | {n: torch.randn(b, k, d) for n in ("keys", "values")}
    for name in list(t):
        heads = (t[name] @ torch.randn(d, h * p)).unflatten(-1, (h, p)).transpose(1, 2)
        t[{"queries": "query", "keys": "key", "values": "value"}[name] + "_heads"] = heads
    found = ab.attention(t["query_heads"], t["key_heads"], t["value_heads"])
    t["head_outputs"], t["weights"] = found
    t["joined"] = t["head_outputs"].transpose(1, 2).flatten(2)
    return t | {"output": t["joined"] @ torch.randn(h * p, d)}


def learned_queries():
    """The layer of 3a, with as many features behind the matrices as before them."""
    t = {"words": torch.randn(n, d)}
    t |= {name: t["words"] @ torch.randn(d, d) for name in QKV}
    t["output"], t["weights"] = ab.attention(*(t[name] for name in QKV))
    return t


def one_row_two_rows():
    """The page's numbers: does a word stand before the verb, or after it; and who is it?"""
    keys = names = torch.tensor([[1.0, 0], [0, 0], [0, 1]])
    query, t = torch.tensor([4.0, 4.0]), {}
    for end, seen in (("", slice(2)), ("_1", slice(1)), ("_2", slice(1, 2))):
        scores = (keys[:, seen] @ query[seen])[None]
        weights = scores.softmax(dim=1)
        t |= {f"scores{end}": scores, f"weights{end}": weights, f"output{end}": weights @ names}
    return t


def split_join():
    sheet = torch.arange(12.0).reshape(3, 4)
    heads = sheet.unflatten(-1, (2, 2)).transpose(0, 1)  # (h, n, p)
    joined = heads.transpose(0, 1).flatten(1)
    return {"sheet": sheet, "head_1": heads[0], "head_2": heads[1], "joined": joined}


def where_places_enter():
    """Three ways, of which only the first changes what queries and keys are made from."""
    x, z = torch.randn(n, d), ab.sinusoid(n, d)
    project, turn = ab.MultiHeadAttention(d, num_heads=1), ab.RotaryPositions(d - 1)
    t = {"tokens": x, "tokens2": x, "tokens3": x, "places": z}
    for name, given in (("", x + z), ("2", x), ("3", x)):
        Q, K = project.W_q(given), project.W_k(given)
        t |= {f"queries{name}": Q, f"keys{name}": K, f"scores{name}": ab.scaled_dot(Q, K)}
    even = slice(d - 1)  # rotary turns pairs
    Q, K = t["queries2"][:, even], t["keys2"][:, even]
    t["scores2"] = ab.scaled_dot(turn(Q), turn(K))
    t["scores3"] = t["scores3"] + ab.AlibiPositions(2)(n, n)[0]
    assert not torch.allclose(t["scores2"], ab.scaled_dot(Q, K), atol=0.01)
    return t


def sinusoid():
    """By pen, with the frequencies 1 and 1/100."""
    places = torch.arange(4.0)[:, None]
    angles = places * torch.tensor([1.0, 0.01])
    waves = torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(1)
    assert torch.allclose(waves, ab.sinusoid(4, 4))
    return {"places": places, "angles": angles, "sinusoids": waves}


def rotation():
    one, turn = torch.tensor([[1.0, 0.0]]), ab.RotaryPositions(2)
    t = {name: one for name in "qkQK"} | {f"q{i}": turn(one, offset=i) for i in (3, 8)}
    t |= {f"k{j}": turn(one, offset=j) for j in (1, 6)}
    return t | {"score": t["q3"] @ t["k1"].T, "Score": t["q8"] @ t["k6"].T}


def who_waits():
    x, h = torch.randn(b, 3, d), torch.zeros(b, d)
    cell, t = nn.RNNCell(d, d), {}
    o = ab.MultiHeadAttention(d, num_heads=1)(x).output
    for i in range(3):
        h = cell(x[:, i], h)
        t |= {f"x{i + 1}": x[:, i], f"X{i + 1}": x[:, i], f"h{i + 1}": h, f"o{i + 1}": o[:, i]}
    return t


def transformer():
    """The model with d features in one head; inside of the parts there are h heads of p."""
    model = Transformer(v, v, d_model=d, num_heads=1)
    t = {"source": torch.randint(v, (b, k)), "inputs": torch.randint(v, (b, q))}
    t["memory"] = model.encoder(t["source"]).outputs
    t["logits"] = t["output.logits"] = model(t["source"], None, t["inputs"]).logits
    t |= {"embed.ids": t["source"], "embed.vectors": model.encoder.embedding(t["source"])}
    x, y = torch.randn(b, k, d), torch.randn(b, q, d)
    block = EncoderBlock(d, 1)
    t |= {"network.input": x, "network.output": block.feed_forward(x)}
    t |= {"add.input": x, "add.output": block.self_attention(x)[0]}
    t |= {"norm.input": x, "norm.memory": nn.LayerNorm(d)(x), "output.input": y}
    padding = ab.length_mask(torch.tensor([k, 3]), k)
    source, target = torch.randn(b, k, h * p), torch.randn(b, q, h * p)
    for name, one, other, mask in (
        ("own", source, source, padding),
        ("causal", target, target, ab.causal_mask(q, q)),
        ("cross", target, source, padding),
    ):
        attention = ab.MultiHeadAttention(h * p, h)
        kept = attention.project(other)
        weights = attention.attend(one, kept, mask=mask, need_weights=True).weights
        t |= {f"{name}.mask": mask, f"{name}.keys": kept.keys, f"{name}.values": kept.values}
        t |= {f"{name}.queries": attention.project(one).keys, f"{name}.weights": weights}
    return t


def encoder_block():
    """Both parts: what leaves the first enters the second."""
    block, x = EncoderBlock(d, 1), torch.randn(b, k, d)
    mask = ab.length_mask(torch.tensor([k, 3]), k)
    y, _, _ = block.self_attention(x, mask=mask)
    return {"x": x, "mask": mask, "y": y, "Y": y, "z": block.feed_forward(y)}


def decoder_block():
    block, x, memory = DecoderBlock(d, 1), torch.randn(b, q, d), torch.randn(b, k, d)
    t = {"causal": ab.causal_mask(q, q), "padding": ab.length_mask(torch.tensor([k, 3]), k)}
    y, _, _ = block.self_attention(x, mask=t["causal"])
    kept = block.cross_attention.attention.project(memory)
    z, _ = block.cross_attention(y, kept, mask=t["padding"])
    out = block.feed_forward(z)
    return t | {"x": x, "memory": memory, "y": y, "Y": y, "z": z, "Z": z, "out": out}


def cache():
    """Three steps with a cache, and the same all at once."""
    keys = torch.tensor([[1.0, 0], [0, 1], [1, 1]])
    queries = torch.tensor([[2.0, 0], [0, 2], [2, 0]])
    t, kept = {"keys": keys}, keys[:0]
    for n in range(3):
        kept = torch.cat((kept, keys[n : n + 1]))
        t |= {f"new{n + 1}": keys[n : n + 1], f"kept{n + 1}": kept}
        t[f"weights{n + 1}"] = (queries[n] @ kept.T).softmax(dim=0)[None]
    mask = ab.causal_mask(3, 3)
    weights = ab.masked_softmax(queries @ keys.T, mask)
    return t | {"weights": weights.masked_fill(~mask, NONE)}


def pre_post():
    t = {}
    for name, norm in ((str.lower, "post"), (str.upper, "pre")):
        block, x = EncoderBlock(d, 1, norm=norm), torch.randn(b, q, d)
        t |= {name("x"): x, name("y"): block(x).x}
    return t


def block_today():
    """A block of each kind; what leaves its first part enters its second."""
    old, x = EncoderBlock(d, 1, norm="post"), torch.randn(b, n, d)
    y, _, _ = old.self_attention(x)
    t = {"x": x, "y": y, "Y": y, "z": old.feed_forward(y)}
    built = EncoderBlock(d, 1, norm="pre")
    y, _, _ = built.self_attention(x)
    t |= {"x1": x, "y1": y, "Y1": y, "z1": built(x).x}
    assert torch.allclose(built.feed_forward(y), t["z1"], atol=1e-5)
    new, empty = Block(TODAY._replace(kv_heads=1), d, 1, d_h, None), torch.empty(b, 1, 0, d)
    past = ab.KeyValues(empty, empty)
    y = x + new.attention.attend(new.norm_1(x), new.attention.project(new.norm_1(x))).output
    z = y + new.network(new.norm_2(y))
    assert torch.allclose(new(x, None, past, False)[0], z, atol=1e-5)
    return t | {"x2": x, "y2": y, "Y2": y, "z2": z}


def grouped_heads():
    """Heads of queries, and of keys: four, two, one."""
    t, x = {}, torch.randn(1, n, 4 * p)
    for name, kv in (("own", 4), ("grouped", 2), ("multi", 1)):
        attention = ab.MultiHeadAttention(4 * p, 4, num_kv_heads=kv)
        queries = attention.W_q(x).unflatten(-1, (4, p)).transpose(1, 2)[0]
        t |= {f"{name}_q{i}": head for i, head in enumerate(queries)}
        t |= {f"{name}_k{i}": head for i, head in enumerate(attention.project(x).keys[0])}
    return t


def two_readings():
    """Equal scores under both masks; a target for each place, or for the hidden one."""
    places = torch.arange(4.0)
    t = {"words": places[None], "predicted": places[:, None] + 1}
    at = places == 2
    t["Words"] = places.masked_fill(at, NONE)[None]
    t["Predicted"] = places.masked_fill(~at, NONE)[:, None]
    mask = ab.causal_mask(4, 4)
    t["next"] = ab.masked_softmax(torch.zeros(4, 4), mask).masked_fill(~mask, NONE)
    return t | {"hidden": torch.zeros(4, 4).softmax(dim=-1)}


def task_enters():
    """The page's three words; the first feature says person, the second time."""
    keys, query = torch.tensor([[2.0, 0], [0, 0], [0, 2]]), torch.tensor([[1.0, 0]])
    task, t = torch.tensor([[-1.0, 1]]), {}
    for end, q, k in (("", query, keys), ("_1", query, keys + task), ("_2", query + task, keys)):
        t |= {f"scores{end}": q @ k.T, f"weights{end}": (q @ k.T).softmax(dim=1)}
    return t


def two_pointers():
    """The reader of the experiments, to which the page's is equal; d is even there."""
    model = task_spans.Reader("query", 5, d=2 * d)
    t = {"words": torch.randint(5, (b, n)), "question": torch.zeros(b, dtype=torch.long)}
    lengths = torch.full((b,), n)
    t["keys"] = model.keys(t["words"], lengths)[..., :d]
    t["queries"] = model.question(t["question"]).unflatten(-1, (2, -1))[..., :d]
    t["scores"] = model(t["words"], lengths, t["question"])
    return t | {"weights": t["scores"].softmax(dim=-1)}


def induction():
    """The model of the experiments, to which the page's is equal; some of its features."""
    model = copier.Copier(d=h * d, heads=h, length=n)
    ids = torch.randint(copier.TOKENS, (b, n))
    t = {"x": model.embed(ids), "past": torch.ones(n, n).tril().bool()}
    one, two = model.layers
    t["known"], t["first"] = one(t["x"])
    t["queries"], t["keys"] = two.W_q(two.norm(t["known"])), two.W_k(two.norm(t["known"]))
    t["output"], t["second"] = two(t["known"])
    return {name: x[..., :d] if x.ndim == 3 else x for name, x in t.items()}


TRACES = (four_moves, soft_lookup, kernel_attention, leave_one_out, masked_softmax)
TRACES += (batch_attention, two_masks, broadcast_sum, two_scores, bottleneck)
TRACES += (decoding_step, two_orders, many_heads, one_row_two_rows, split_join)
TRACES += (learned_queries,)
TRACES += (where_places_enter, sinusoid, rotation, who_waits)
TRACES += (transformer, encoder_block, decoder_block, cache, pre_post)
TRACES += (block_today, grouped_heads, two_readings)
TRACES += (luong_step, local_window, masks_combined, window_blocks)
TRACES += (layers_mixed,)
TRACES += (selective_node, hierarchy, four_normalisers)
TRACES += (cheap_ways, cheap_map, cheap_blocks, three_branches)
TRACES += (task_enters, two_pointers)
TRACES += (hops_chain, hops_network, online_blocks)
TRACES += (induction,)
TRACES = {trace.__name__: trace for trace in TRACES}


def wrong(node: attn_drawing.Node, tensor: torch.Tensor) -> str:
    """How a node and the tensor of its name differ; "" if they do not."""
    if node.cells:
        places = [[len(text.partition(".")[2]) for text in row] for row in node.cells]
        shown = [
            ["" if x != x else f"{round(x, n) + 0:.{n}f}" for x, n in zip(*pair, strict=True)]
            for pair in zip(tensor.tolist(), places, strict=True)
        ]
        zeros = [[text == "0" for text in row] for row in node.cells]
        if node.kind == "weight" and zeros != (tensor == 0).tolist():
            return f"{node.name}: a weight of zero, and no other, is written 0: {node.cells}"
        return "" if shown == node.cells else f"{node.name}: drawn {node.cells}, is {shown}"
    letters = re.findall(r"\w+", node.shape)
    drawn = tuple(SIZES[x] if x in SIZES else int(x) for x in letters)
    same = drawn == tuple(tensor.shape)
    return "" if same else f"{node.name}: drawn {node.shape}, is {tuple(tensor.shape)}"


def traced(drawing):
    """The nodes that are tensors, with a shape of letters or numbers, and the shapes of parts."""
    nodes = [node for node in drawing.nodes.values() if node.cells or node.shape.startswith("(")]
    for name, part in drawing.parts.items():
        shapes = part["shapes"] | ({"mask": part["masks"]} if "mask" in part else {})
        nodes += [attn_drawing.Node(f"{name}.{x}", "plain", (), shape=s) for x, s in shapes.items()]
    return nodes


def test_every_diagram_has_a_trace_and_is_shown():
    assert {path.stem for path in FILES} == TRACES.keys()
    files = [*BOOK.glob("*.md"), *BOOK.glob("[0-9]*")]
    pages = "".join(path.read_text(encoding="utf-8") for path in files)
    for path in FILES:
        assert f"```{{diagram}} {path.stem}" in pages, path.name


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_diagram_has_the_shapes_and_numbers_of_the_code(path):
    torch.manual_seed(0)
    drawn, tensors = traced(attn_drawing.read(path)), TRACES[path.stem]()
    assert {node.name for node in drawn} == tensors.keys()
    assert [found for node in drawn if (found := wrong(node, tensors[node.name]))] == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_wrong_letter_or_number_is_seen(path):
    """The control: each letter and each number of a description, changed one at a time."""
    tensors = TRACES[path.stem]()
    for node in traced(attn_drawing.read(path)):
        for row in node.cells:
            for j, text in enumerate(row):
                row[j] = "7.77" if text == "" else ""
                assert wrong(node, tensors[node.name])
                row[j] = text
        for found in re.finditer(r"[\w]+", node.shape if not node.cells else ""):
            other = "h" if found[0] != "h" else "k"
            said, start = node.shape, found.start()
            node.shape = said[:start] + other + said[found.end() :]
            assert wrong(node, tensors[node.name])
            node.shape = said


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_diagram_is_light_and_no_box_lies_on_another(path):
    text = ""
    for down in (False, True):
        drawing = attn_drawing.read(path)
        text += attn_drawing.svg(drawing, down=down, link=lambda label: ("(1.1)", f"#{label}"))
        boxes = list(drawing.nodes.values())
        for n, one in enumerate(boxes):
            for other in boxes[n + 1 :]:
                apart = abs(one.x - other.x) >= one.w + other.w + 6
                assert apart or abs(one.y - other.y) >= one.h + other.h + 6, (one.name, other.name)
    assert len(text) < 30_000 and len(gzip.compress(text.encode())) < 4_000
    assert drawing.title and len(drawing.desc) > 60 and not set(drawing.desc) & set("[]")


def test_a_small_weight_is_light_and_zero_is_blank(tmp_path):
    path = tmp_path / "a.toml"
    node = "a = {kind='weight', at=[0, 0], cells=[['0', '0.00', '1.00', '']]}"
    path.write_text(f"title = 'A'\ndesc = 'B'\nedges = []\n[nodes]\n{node}", encoding="utf-8")
    text = attn_drawing.svg(attn_drawing.read(path), down=False, link=lambda label: ("", ""))
    assert re.findall(r'fill-opacity="([.\d]+)"', text) == ["0.08", "0.38"]
    assert re.findall(r"number[^>]*>([^<]+)<", text) == ["0", "&lt;.01", "1.00"]
    assert text.count('class="hatch"') == 1


BAD = {
    "edges = ['a > b']\n[nodes]\na = {kind='op', at=[0, 0]}": "a.toml: no nodes ['b']",
    "edges = []\n[nodes]\na = {kind='oops', at=[0, 0]}": "a.toml: a: unknown oops",
    "edges = []\n[nodes]\na = {kind='op', at=[0, 0], size=3}": "unexpected keyword argument 'size'",
}


@pytest.mark.parametrize("text", BAD, ids=list(BAD.values()))
def test_a_faulty_description_is_named(text, tmp_path):
    path = tmp_path / "a.toml"
    path.write_text(f"title = 'A'\ndesc = 'B'\n{text}", encoding="utf-8")
    with pytest.raises((TypeError, ValueError), match=re.escape(BAD[text])):
        attn_drawing.read(path)


def test_a_parts_lines_are_the_pages(tmp_path):
    cell = {"cell_type": "code", "source": "class A:\n    def f(self):\n        return 1\n"}
    page = tmp_path / "page.ipynb"
    page.write_text(json.dumps({"cells": [cell]}), encoding="utf-8")
    assert (
        attn_parts.lines(page, ["class A", "return"]) == "class A:\n        ...\n        return 1"
    )
    with pytest.raises(ValueError, match="no line of code begins with 'class B'"):
        attn_parts.lines(page, ["class B"])
