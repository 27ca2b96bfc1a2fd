"""What this machine lacks for a tagged cell: one answer for the runner and for the tests."""

import ast
import functools
import os

# Kernels run on one thread, so that sums are split alike everywhere and runs do not fight over
# cores; the fixed hash seed keeps the order of a printed set.
KERNEL_ENV = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
KERNEL_ENV["ATTNBOOK_PROGRESS"] = "0"  # no bars in what is saved or compared
# Kernels start in the notebook's folder, where a relative path would mean another place.
KERNEL_ENV |= {
    name: os.path.abspath(os.path.expanduser(os.environ[name]))
    for name in ("ATTNBOOK_DATA", "ATTNBOOK_CACHE")
    if os.environ.get(name)
}


@functools.cache
def has_cuda() -> bool:
    """Whether torch sees a CUDA device; torch is imported only when a cell asks."""
    try:
        import torch
    except ImportError:
        return False
    return torch.cuda.is_available()


@functools.cache
def why_no_corpora() -> str | None:
    """Why the corpora of others cannot be had here, or None; asked once, answered in seconds.

    They can be had if all are in the folder of ATTNBOOK_DATA or in the cache, or can be fetched.
    """
    from attnbook.data import why_missing  # not before a cell asks

    return why_missing()


def why_skipped(tags) -> str | None:
    """The reason to skip a cell with these tags on this machine, or None to run it."""
    if "gpu" in tags and not has_cuda():
        return "cell tagged `gpu`: torch.cuda.is_available() is false here"
    if "data" in tags and (reason := why_no_corpora()):
        return f"cell tagged `data`: {reason}; ATTNBOOK_DATA can name a folder with the corpora"
    return None


def at_small_sizes(source: str, small: dict) -> ast.Module:
    """The code of a `gpu` cell as a test runs it: on the CPU, with small values for its names.

    The cell begins with assignments to plain names, one of which is `device = "cuda"`; nothing
    after them says where it runs. `small` is the entry of that name in the cell's metadata, a value
    for each name at the top that is too large for a CPU.

    Raises:
        ValueError: the cell is in another form; the message says what it must have.
    """
    tree, left = ast.parse(source), {"device": "cpu"} | small
    device = None
    for statement in tree.body:
        if not isinstance(statement, ast.Assign) or not left:
            break
        (target, *others), value = statement.targets, statement.value
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            names, values = target.elts, value.elts
            value.elts = [_small(name, old, left) for name, old in zip(names, values, strict=True)]
        else:
            names, values = [target], [value]
            statement.value = _small(target, value, left)
        if others or not all(isinstance(name, ast.Name) for name in names):
            break
        at = {name.id: old for name, old in zip(names, values, strict=True)}
        device = at.get("device", device)
    if not (isinstance(device, ast.Constant) and device.value == "cuda"):
        raise ValueError('a gpu cell must begin with names, among them device = "cuda"')
    if left:
        raise ValueError(f"`small` names what the cell has not at its top: {', '.join(left)}")
    for node in ast.walk(tree):
        said = isinstance(node, ast.Constant) and str(node.value).startswith("cuda")
        if said or (isinstance(node, ast.Attribute) and node.attr == "cuda"):
            raise ValueError("a gpu cell says where it runs once, in `device`: no other `cuda`")
    return ast.fix_missing_locations(tree)


def _small(name: ast.expr, value: ast.expr, left: dict) -> ast.expr:
    """The small value of a name, taken out of what is left; else the value it has."""
    if not isinstance(name, ast.Name) or name.id not in left:
        return value
    return ast.copy_location(ast.parse(repr(left.pop(name.id)), mode="eval").body, value)
