"""Run the experiments over many seeds and store their tables and weights in the package.

    python code/tools/train.py [NAME ...]

An experiment is a module of `attnbook.experiments` with

- `SEEDS`, and `SOURCES`, the package files that its numbers depend on;
- `run(seed)`, which gives a row, {column: number}, or several. If `run` has a second argument,
  `keep(name, model)` stores the weights of a model;
- `corpus()`, if it learns from data: the data's hash.
"""

import argparse
import importlib
import inspect
import json
import pkgutil
import sys

import torch
from tqdm import tqdm

import attnbook.experiments
from attnbook.stored import FOLDER, fingerprint, save_weights

DIGITS = 5  # significant ones: what another machine repeats


def names() -> list[str]:
    """Every experiment there is."""
    return [module.name for module in pkgutil.iter_modules(attnbook.experiments.__path__)]


def rounded(value):
    """The value with its floats cut to what another machine repeats, at any depth."""
    if isinstance(value, dict):
        return {name: rounded(inside) for name, inside in value.items()}
    if isinstance(value, list):
        return [rounded(inside) for inside in value]
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


def train(name: str) -> dict:
    """The record of one experiment: its rows and what made them."""
    experiment = importlib.import_module(f"attnbook.experiments.{name}")
    record = {
        "command": f"make train EXP={name}",
        "code": fingerprint(experiment.SOURCES),
        "sources": sorted(experiment.SOURCES),
        "torch": torch.__version__.split("+")[0],
    }
    if hasattr(experiment, "corpus"):
        record["corpus"] = experiment.corpus()
    keeps = len(inspect.signature(experiment.run).parameters) > 1
    weights, rows = {}, []

    def keep(model_name: str, model: torch.nn.Module) -> None:
        note = {key: record[key] for key in ("command", "corpus", "torch") if key in record}
        weights[model_name] = save_weights(model_name, model.state_dict(), note=note)

    for seed in tqdm(experiment.SEEDS, desc=name, file=sys.stderr):
        result = experiment.run(seed, keep) if keeps else experiment.run(seed)
        rows += result if isinstance(result, list) else [result]
    if weights:
        record["weights"] = weights
    return {**record, "rows": rounded(rows)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", choices=[*names(), []], help="all, if none is named")
    torch.set_num_threads(1)
    for name in parser.parse_args().names or names():
        path = FOLDER / f"{name}.json"
        path.write_text(json.dumps(train(name), indent=1) + "\n", encoding="utf-8")
        print(f"stored {path.relative_to(FOLDER.parent)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
