"""A progress bar where somebody looks: on a terminal, or below the cell of a notebook."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable


def in_notebook() -> bool:
    """Whether a notebook's kernel runs this, for a reader.

    Notebooks that are run to be saved or tested set ``ATTNBOOK_PROGRESS=0``.
    """
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return hasattr(shell, "kernel") and os.environ.get("ATTNBOOK_PROGRESS") != "0"


def progress_bar(total: int, progress: bool | Callable = True, *, terminal=None, **options):
    """A tqdm bar that goes when it is done, so that a notebook's saved outputs stay clean.

    Args:
        total: steps, or bytes, in all.
        progress: False shows none; a callable, such as `tqdm.tqdm`, makes the bar.
        terminal: the stream whose being a terminal decides; by default `sys.stderr`.
        options: of tqdm, such as ``desc`` and ``unit``.
    """
    if callable(progress):
        return progress(total=total, leave=False, **options)
    if notebook := in_notebook():
        from tqdm.notebook import tqdm
    else:
        from tqdm import tqdm  # neither is needed to import the package
    # in a log, or where outputs are saved, nobody looks
    shown = progress and (notebook or (terminal or sys.stderr).isatty())
    return tqdm(total=total, leave=False, disable=not shown, **options)
