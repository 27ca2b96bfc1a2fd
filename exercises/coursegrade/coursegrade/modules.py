"""What a hand-in may import in grading: every box has it, beside Python's own modules."""

import sys

MODULES = (
    *("torch", "numpy", "scipy", "einops", "matplotlib", "pandas", "tqdm"),
    *("IPython", "ipywidgets"),  # what Jupyter itself has
)


def missing(name: str, own=()) -> bool:
    """Whether a module, as an import names it, is not there; `own`: files the hand-in writes."""
    top = name.partition(".")[0]
    return top not in {*MODULES, *sys.stdlib_module_names, "__main__", *own}
