"""Pack stored translators for the playground, and measure what eight bits cost.

    python -m devkit.playground [NAME ...]

writes book/_site/playground/NAME.js for each model whose weights are stored, and opening.json.
"""

import argparse
import importlib
from pathlib import Path
from typing import NamedTuple

import torch
from torch import nn

from attnbook.metrics import bleu, exact_match
from devkit import ROOT
from experiments import stored
from experiments.translators import Corpus, read
from grammar import PROPER

from . import opening
from .packing import pack, restore
from .script import write

FOLDER = ROOT / "book" / "_site" / "playground"
EXAMPLES = 12
LONGEST = 12  # source tokens of an example


class Kind(NamedTuple):
    """A model of the playground: the experiment that trained it, and its plan there, if several."""

    experiment: str  # the name of the module, of the record and of the weights
    plan: str | None
    data: str  # what it learnt from, in words


MODELS = {
    "grammar": Kind(
        "transformer_translation",
        "more",
        "sentences of the course's own English-French grammar",
    ),
    "everyday": Kind(
        "transformer_everyday",
        None,
        "short everyday sentences of the Tatoeba project (tatoeba.org, CC BY 2.0 FR)",
    ),
}


def experiment(name: str):
    """The module that trained a model."""
    return importlib.import_module(f"experiments.{MODELS[name].experiment}")


def load(name: str) -> tuple[nn.Module, Corpus]:
    """A stored model, its weights as they were in half precision, and its corpus."""
    return experiment(name).stored(stored.load_weights(MODELS[name].experiment))


def is_stored(name: str) -> bool:
    """Whether the weights and the record of a model are there."""
    file = MODELS[name].experiment
    return all((stored.FOLDER / f"{file}.{end}").is_file() for end in ("safetensors", "json"))


def row(name: str) -> dict:
    """The row of the stored record that says how the stored weights did on the test set."""
    kind = MODELS[name]
    rows = stored.load_table(kind.experiment)
    return next(r for r in rows if r["seed"] == 0 and kind.plan in (None, r.get("plan")))


def examples(of: Corpus) -> list[dict]:
    """Short test pairs to begin with: the first of each kind, whatever the model makes of them."""
    chosen = {}
    for pair in of.splits.test:
        if len(pair.source) <= LONGEST:
            chosen.setdefault(pair.template or pair.source, pair)
    return [
        {
            "source": pair.source,
            "target": pair.target,
            "sure": sorted(pair.sure),
            "possible": sorted(pair.possible),
        }
        for pair in list(chosen.values())[:EXAMPLES]
    ]


def about(name: str, of: Corpus) -> dict:
    """What the page says of a model, from the stored record."""
    kind, record = MODELS[name], stored.load_record(MODELS[name].experiment)
    judged = getattr(experiment(name), "JUDGED", None)
    found = row(name)
    return {
        "data": kind.data,
        "pairs": found.get("pairs", len(of.splits.train)),
        "judged": len(of.splits.test[:judged]),
        "weights": record["weights"][kind.experiment],
        "command": record["command"],
        **{key: found[key] for key in ("exact", "bleu", "accuracy") if key in found},
    }


def packed(name: str, model: nn.Module, of: Corpus) -> tuple[dict, bytes]:
    """Head and bytes of a model's file, but for what is measured on it."""
    more = {
        "about": about(name, of),
        "examples": examples(of),
        "longest": max(len(pair.source) for pair in of.splits.train),
        "bare": hasattr(experiment(name), "BARE"),  # sentences without a final mark, too
        "names": sorted(PROPER) if name == "grammar" else experiment(name).names(),
    }
    return pack(model, of.source_vocab, of.target_vocab, **more)


def measure(model: nn.Module, of: Corpus) -> dict[str, float]:
    """Token accuracy (target forced), BLEU and exact match (written freely) on the test set."""
    reading = read(model, of.splits.test, of)
    targets = [pair.target for pair in of.splits.test]
    return {
        "accuracy": torch.cat(reading.correct).float().mean().item(),
        "bleu": bleu(reading.written, targets),
        "exact": exact_match(reading.written, targets),
    }


def make(name: str, path: Path) -> None:
    """Pack one model; say its size, and what it lost."""
    model, of = load(name)
    half = measure(model, of)
    head, content = packed(name, model, of)
    model.load_state_dict(restore(head, content))
    head["about"]["rounded"] = rounded = measure(model, of)
    print(f"{path.name}: {write(path, name, head, content):,} bytes")
    for what in half:
        print(f"  {what}: {half[what]:.4f} in half precision, {rounded[what]:.4f} in eight bits")


def main() -> None:
    """Pack the models that are named, or all."""
    parser = argparse.ArgumentParser(prog="playground", description=__doc__.splitlines()[0])
    parser.add_argument(
        "names", nargs="*", choices=[*MODELS, "opening", []], help="all, if none is named"
    )
    torch.set_num_threads(1)
    for name in parser.parse_args().names or [*MODELS, "opening"]:
        if name == "opening":  # last: of the packed model
            opening.make(FOLDER / "grammar.js", FOLDER / "opening.json")
        elif is_stored(name):
            make(name, FOLDER / f"{name}.js")
        else:
            print(
                f"{name}: no weights stored; `make train EXP={MODELS[name].experiment}` stores them"
            )
