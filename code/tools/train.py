"""Run the experiments over many seeds and store their tables in the package.

    python code/tools/train.py [NAME ...]

An experiment is a module of `attnbook.experiments` with `SEEDS`, `SOURCES` (the package files that
its numbers depend on) and `run(seed) -> {column: number}`.
"""

import argparse
import importlib
import json
import pkgutil
import sys

import torch
from tqdm import tqdm

import attnbook.experiments
from attnbook.stored import FOLDER, fingerprint

DIGITS = 5  # significant ones: what another machine repeats


def names() -> list[str]:
    """Every experiment there is."""
    return [module.name for module in pkgutil.iter_modules(attnbook.experiments.__path__)]


def rounded(row: dict) -> dict:
    """The row with its floats cut to what another machine repeats."""
    return {
        name: float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value
        for name, value in row.items()
    }


def train(name: str) -> dict:
    """The record of one experiment: its rows and what made them."""
    experiment = importlib.import_module(f"attnbook.experiments.{name}")
    seeds = tqdm(experiment.SEEDS, desc=name, file=sys.stderr)
    return {
        "command": f"make train EXP={name}",
        "code": fingerprint(experiment.SOURCES),
        "sources": sorted(experiment.SOURCES),
        "torch": torch.__version__.split("+")[0],
        "rows": [rounded(experiment.run(seed)) for seed in seeds],
    }


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
