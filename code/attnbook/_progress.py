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


class BelowTheCell:
    """A file for tqdm: what is written last stands below the cell, and at the end nothing.

    tqdm's own bar for notebooks is a widget, which leaves a view of nothing in the saved outputs.
    """

    encoding = "utf-8"

    def __init__(self):
        self.shown = None

    def write(self, text: str) -> None:
        from IPython.display import display

        text = text.strip()
        data = {"text/plain": text} if text else {}
        if self.shown is not None:
            self.shown.update(data, raw=True)
        elif text:
            self.shown = display(data, raw=True, display_id=True)

    def flush(self) -> None:
        """Nothing waits."""


def progress_bar(total: int, progress: bool | Callable = True, *, terminal=None, **options):
    """A tqdm bar that goes when it is done, so that a notebook's saved outputs stay clean.

    Args:
        total: steps, or bytes, in all.
        progress: False shows none; a callable, such as `tqdm.tqdm`, makes the bar.
        terminal: the stream whose being a terminal decides; by default `sys.stderr`.
        options: of tqdm, such as ``desc`` and ``unit``.
    """
    from tqdm import tqdm  # not needed to import the package

    if callable(progress):
        return progress(total=total, leave=False, **options)
    if progress and in_notebook():
        return tqdm(total=total, leave=False, file=BelowTheCell(), ncols=80, **options)
    # in a log, or where outputs are saved, nobody looks
    shown = progress and (terminal or sys.stderr).isatty()
    return tqdm(total=total, leave=False, disable=not shown, **options)
