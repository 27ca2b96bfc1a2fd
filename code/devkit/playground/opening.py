"""What the playground shows before a model is loaded: one translation, stored with its weights.

    python -m devkit.playground opening

writes book/_site/playground/opening.json from the packed model. Of the model's examples whose
reference it writes word for word, and in which one cross-attention head has the largest weight of
every linked word on a sure link, it takes the one whose links cross most often.
"""

import base64
import json
from pathlib import Path

import torch
from torch import Tensor

from attnbook.data import BOS, EOS, UNK, Vocabulary
from attnbook.decoding import greedy
from attnbook.transformer import Transformer, TransformerWeights

from .packing import read

STEPS, TOP, MOST = 255, 5, 60  # as in play_translate.js


def model_of(path: Path) -> tuple[dict, Transformer, Vocabulary, Vocabulary]:
    """A packed model as torch computes it: its head, the model, its two vocabularies."""
    head, tensors = read(path)
    vocabularies = [Vocabulary.from_tokens(head[side]) for side in ("source", "target")]
    sizes = {key: head["config"][key] for key in ("d_model", "num_heads", "num_layers", "d_ff")}
    model = Transformer(*map(len, vocabularies), tie=head["tied"] or "none", **sizes).eval()
    model.load_state_dict(tensors)
    return head, model, *vocabularies


@torch.no_grad()
def translated(model: Transformer, ids: list[int]) -> tuple[list[int], TransformerWeights, Tensor]:
    """The ids written, the end's too; all weights; the probabilities (q, v) of each step."""
    source = torch.tensor([ids])
    written = greedy(model, source, torch.tensor([len(ids)]), max_len=MOST).tokens[0].tolist()
    inputs = torch.tensor([[BOS, *written[:-1]]])
    probabilities = model(source, None, inputs).logits[0].softmax(dim=-1)
    return written, model.weights(source, None, inputs), probabilities


def sure_hits(weights: Tensor, sure: list) -> tuple[int, int]:
    """Rows of (q, k) whose largest weight is on a sure link, and rows that have one."""
    linked = {row for row, _ in sure}
    best = weights.argmax(dim=-1).tolist()
    return sum([row, best[row]] in sure for row in linked), len(linked)


def agreement(weights: Tensor, sure: list) -> tuple[int, float]:
    """How well a head agrees with the sure links: hits, then weight on them."""
    return sure_hits(weights, sure)[0], sum(weights[q, k].item() for q, k in sure)


def in_bytes(weights: Tensor) -> str:
    """Weights (1, l, h, q, k) as the page holds them, in base 64; what is not zero stays so."""
    parts = (STEPS * weights).round().clamp(min=1).where(weights > 0, 0)
    return base64.b64encode(bytes(parts.flatten().int().tolist())).decode()


def crossings(links: list) -> int:
    """Pairs of links that cross: the words of the one sentence stand in another order."""
    return sum(i < k and j > m for i, j in links for k, m in links)


def opening(path: Path) -> dict:
    """The state of the page after the chosen example, without the model.

    Raises:
        ValueError: no example is such a one.
    """
    head, model, source_vocab, target_vocab = model_of(path)
    best, state = -1, None
    for example in head["examples"]:
        ids = [*source_vocab.encode(example["source"]), EOS]
        written, weights, probabilities = translated(model, ids)
        tokens = [target_vocab.tokens[i] for i in written]
        if UNK in ids or tokens[:-1] != example["target"] or written[-1] != EOS:
            continue
        cross = weights.cross[0]  # (l, h, q, k)
        heads = cross.flatten(end_dim=1)  # (l * h, q, k)
        place = max(range(len(heads)), key=lambda n: agreement(heads[n], example["sure"]))
        hits, of = sure_hits(heads[place], example["sure"])
        if hits < of or crossings(example["sure"]) <= best:
            continue
        best, top = crossings(example["sure"]), probabilities.topk(TOP)
        rows = zip(top.indices.tolist(), top.values.tolist(), strict=True)
        state = {
            "model": path.stem,
            "example": example,
            "ids": ids,
            "written": tokens,
            "top": [
                [[target_vocab.tokens[i], round(p, 4)] for i, p in zip(*row, strict=True)]
                for row in rows
            ],
            "layer": place // cross.shape[1],
            "head": place % cross.shape[1],
            "config": {key: head["config"][key] for key in ("num_layers", "num_heads")},
            "names": head["names"],
            "maps": {kind: in_bytes(getattr(weights, kind)) for kind in weights._fields},
        }
    if state is None:
        raise ValueError(f"path must be a model with an example that it aligns, got {path.name}")
    return state


def make(model: Path, path: Path) -> None:
    """Write the state of the packed `model`."""
    text = json.dumps(opening(model), ensure_ascii=False, separators=(",", ":"))
    path.write_text(text + "\n", encoding="utf-8")
    print(f"{path.name}: {path.stat().st_size:,} bytes")
