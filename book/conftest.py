"""Gates for the notebooks, so that a plain `pytest --nbval book/FILE.ipynb` passes from the root.

A cell tagged `gpu` or `data` is skipped, with a reason, where this machine cannot run it.
Kernels are those of the running interpreter, on one thread.
"""

import os

import pytest

from devkit.gates import KERNEL_ENV, why_skipped

os.environ.update(KERNEL_ENV)


def pytest_collection_modifyitems(config, items):
    if not getattr(config.option, "nbval_kernel_name", None):
        config.option.nbval_current_env = (
            True  # not a kernelspec that the user has installed
        )
    for item in items:
        cell = getattr(item, "cell", None)  # only nbval's items have one
        reason = cell is not None and why_skipped(cell.metadata.get("tags", []))
        if reason:
            item.add_marker(pytest.mark.skip(reason=reason))
