"""The widgets are quick: the limits of `make bench`, with threefold slack."""

import importlib
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))

NAMES = ["widget_speed", "kernel_speed", "alignment_speed", "playground_speed"]


@pytest.mark.parametrize("name", NAMES)
def test_speed_with_threefold_slack(browser, name):
    benchmark = importlib.import_module(name)
    if not getattr(benchmark, "PACKED", Path(__file__)).is_file():
        pytest.skip("no model is packed: `python code/tools/playground.py` packs the stored ones")
    measured = benchmark.measure(browser)
    assert measured.keys() == benchmark.LIMITS.keys()
    for what, limit in benchmark.LIMITS.items():
        assert measured[what] < 3 * limit, f"{what}: {measured[what]:.1f} ms"
