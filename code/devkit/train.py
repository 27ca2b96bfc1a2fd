"""Run the experiments over many seeds and store their tables and weights.

    python -m devkit.train [NAME ...] [--jobs N] [--threads N]

An experiment is a module of `experiments` with

- `SEEDS`;
- `run(seed)`, which gives a row, {column: number}, or several. If `run` has a second argument,
  `keep(name, model)` stores the weights of a model;
- `trace()`: {name: numbers}, a brief training from seed 0 by the same code. A stored run is stale
  when this comes out otherwise;
- `reread()`, if it stores weights: {file: {metric: number}}, what they do on a few test pairs;
- `tried()`, if something was chosen on validation pairs: the rows it was chosen by;
- `corpus()`, if it learns from data: the data's hash.
"""

import argparse
import datetime
import importlib
import inspect
import json
import pkgutil
import re
import sys
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from multiprocessing import get_context

import torch
from tqdm import tqdm

import experiments
from experiments.stored import FOLDER, save_weights

DIGITS = 5  # significant ones: what another machine repeats
NUMBERS = re.compile(r"\[\s+([-+.\de]+(?:,\s+[-+.\de]+)*)\s+\]")


def names() -> list[str]:
    """Every experiment there is; a module without `run` is what experiments share."""
    found = [module.name for module in pkgutil.iter_modules(experiments.__path__)]
    return [name for name in found if hasattr(module_of(name), "run")]


def module_of(name: str):
    """The module of an experiment."""
    return importlib.import_module(f"experiments.{name}")


def rounded(value, digits: int = DIGITS):
    """The value with its floats cut to what another machine repeats, at any depth."""
    if isinstance(value, dict):
        return {name: rounded(inside, digits) for name, inside in value.items()}
    if isinstance(value, list):
        return [rounded(inside, digits) for inside in value]
    return float(f"{value:.{digits}g}") if isinstance(value, float) else value


def header(experiment, name: str, threads: int = 1) -> dict:
    """What makes the rows of an experiment; threads are in it, for the late digits hang on them."""
    given = f' ARGS="--threads {threads}"' if threads != 1 else ""
    record = {
        "command": f"make train EXP={name}{given}",
        "torch": torch.__version__.split("+")[0],
        "date": datetime.date.today().isoformat(),
    }
    if hasattr(experiment, "corpus"):
        record["corpus"] = experiment.corpus()
    return record


def behaviour(experiment) -> dict:
    """What today's code does, by which the tests find a stale record."""
    asked = [name for name in ("trace", "reread") if hasattr(experiment, name)]
    return {name: rounded(getattr(experiment, name)(), 7) for name in asked}


def write(name: str, record: dict) -> None:
    """Store a record, each list of numbers on a line."""
    text = json.dumps(record, indent=1)
    text = NUMBERS.sub(lambda found: f"[{' '.join(found[1].split())}]", text)
    (FOLDER / f"{name}.json").write_text(text + "\n", encoding="utf-8")


def one(
    name: str, seed: int, note: dict[str, str], threads: int = 1
) -> tuple[list[dict], dict[str, str]]:
    """Rows of one seed, and the hashes of the weights that it stored."""
    torch.set_num_threads(threads)  # in a process of its own this has to be said again
    experiment = module_of(name)
    weights = {}

    def keep(model_name: str, model: torch.nn.Module) -> None:
        weights[model_name] = save_weights(model_name, model.state_dict(), note=note)

    keeps = len(inspect.signature(experiment.run).parameters) > 1
    rows = experiment.run(seed, keep) if keeps else experiment.run(seed)
    return (rows if isinstance(rows, list) else [rows]), weights


def train(name: str, jobs: int, threads: int = 1) -> dict:
    """The record of one experiment: its rows and what made them."""
    experiment = module_of(name)
    record = header(experiment, name, threads)
    note = {key: record[key] for key in ("command", "corpus", "torch") if key in record}
    rows, weights = [], {}
    bar = tqdm(total=len(experiment.SEEDS), desc=name, file=sys.stderr)
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as workers:
        each = workers.map(one, repeat(name), experiment.SEEDS, repeat(note), repeat(threads))
        for more, kept in each:
            rows += more
            weights |= kept
            bar.update()
    bar.close()
    if weights:
        record["weights"] = weights
    if hasattr(experiment, "tried"):
        record["tried"] = rounded(experiment.tried())
    return {**record, **behaviour(experiment), "rows": rounded(rows)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", choices=[*names(), []], help="all, if none is named")
    parser.add_argument("--jobs", type=int, default=1, help="seeds at a time")
    parser.add_argument("--threads", type=int, default=1, help="threads of each seed")
    given = parser.parse_args()
    torch.set_num_threads(1)
    for name in given.names or names():
        write(name, train(name, given.jobs, given.threads))
        print(f"stored {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
