"""Cells of the committed chapters, to be run with other names than the chapter gives them."""

import json
import math
from pathlib import Path

import pandas as pd
import pytest
import torch

import attnbook as ab

BOOK = Path(__file__).parents[3] / "book"


def cell_runner(chapter):
    """A function that runs the one code cell of `chapter` that holds a text, with these names."""
    cells = json.loads((BOOK / f"{chapter}.ipynb").read_text("utf-8"))["cells"]
    sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]

    def run_cell(holding, **names):
        (source,) = [source for source in sources if holding in source]
        given = {"ab": ab, "torch": torch, "math": math, "nn": torch.nn, "pd": pd, "display": str}
        names = given | names
        exec(compile(source, holding, "exec"), names)
        return names

    return run_cell


def fails(run_cell, holding, **names):
    """Check that what the cell asserts is false with these names: a control of its claim."""
    with pytest.raises(AssertionError):
        run_cell(holding, **names)
