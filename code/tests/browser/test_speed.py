"""The widgets are quick: the limits of `make bench`, with threefold slack."""

import importlib
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))


@pytest.mark.parametrize("name", ["widget_speed", "kernel_speed", "alignment_speed"])
def test_speed_with_threefold_slack(browser, name):
    benchmark = importlib.import_module(name)
    measured = benchmark.measure(browser)
    assert measured.keys() == benchmark.LIMITS.keys()
    for what, limit in benchmark.LIMITS.items():
        assert measured[what] < 3 * limit, f"{what}: {measured[what]:.1f} ms"
