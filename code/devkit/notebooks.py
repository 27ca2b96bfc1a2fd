"""Run the book's notebooks in place, or check them.

    python -m devkit.notebooks [NB ...]           run, then check
    python -m devkit.notebooks --check [NB ...]   check only
    python -m devkit.notebooks --pictures [NB ...]
        run nothing; draw those widgets anew whose code changed, then check

Without names: every notebook in book/. A second run changes no byte. Cells tagged `gpu` or
`data` keep their stored outputs where this machine cannot run them. Cells tagged
`nbval-ignore-output` keep theirs when only times changed, and other numbers by less than 5%;
--fresh takes the new ones.
The pictures of widgets are drawn by Chromium. Without it stored ones stay where the widget is the
same; a widget that is not the same is named, has no picture, and does not pass the check.
"""

import argparse
import os
import sys
import time
from pathlib import Path

import nbformat
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from devkit import ROOT, pictures
from devkit.chapters import code_hash
from devkit.check import problems
from devkit.clean import clean, keep_ignored, tags
from devkit.gates import KERNEL_ENV, why_skipped

SKIP = "skipped-on-this-machine"
TIMEOUT = 900  # seconds a cell


class ThisPython(AsyncKernelManager):
    """A kernel of the running interpreter, whatever kernelspecs the user has installed."""

    @property
    def kernel_spec(self):
        command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        command.append("--log-level=ERROR")
        return KernelSpec(argv=command, display_name="Python 3", language="python")


def execute(nb, folder: Path) -> None:
    """Run the cells in a new kernel in `folder`; gated cells are left as they are."""
    skipped = [c for c in nb.cells if c.cell_type == "code" and why_skipped(tags(c))]
    for cell in skipped:
        cell.metadata.setdefault("tags", []).append(SKIP)
    NotebookClient(
        nb,
        timeout=TIMEOUT,
        kernel_manager_class=ThisPython,
        record_timing=False,
        skip_cells_with_tag=SKIP,
        resources={"metadata": {"path": str(folder)}},
    ).execute(env=os.environ | KERNEL_ENV)
    for cell in skipped:
        cell.metadata["tags"].remove(SKIP)


def run(path: Path, *, fresh: bool = False, cells: bool = True) -> bool:
    """Execute one notebook in place, or only draw its widgets; returns whether bytes changed."""
    before = path.read_bytes()
    old, nb = (nbformat.reads(before.decode("utf-8"), as_version=4) for _ in range(2))
    if cells:
        nb = executed(path, old, nb, fresh)
    for complaint in pictures.refresh(nb, old):
        print(f"{path}: {complaint}", file=sys.stderr)
    nbformat.validate(nb)
    after = (nbformat.writes(nb).rstrip("\n") + "\n").encode("utf-8")
    if after != before:
        path.write_bytes(after)
    return after != before


def executed(path: Path, old, nb, fresh: bool):
    """The notebook after a run, in its committed form but for the pictures of its widgets."""
    start = processor_seconds()
    execute(nb, path.parent)
    edited = start is not None and note_time(nb, processor_seconds() - start)
    if not fresh and not edited:  # stored outputs may be those of the code before the edit
        keep_ignored(old, nb)
    return clean(nb, path.stem)


def processor_seconds() -> float | None:
    """Processor time of the finished child processes, kernels among them; None on Windows."""
    if sys.platform == "win32":
        return None
    import resource

    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def note_time(nb, seconds: float) -> bool:
    """Keep the time that a chapter's page took, unless this very code has one; whether it was kept.

    The site shows it as long as the code is the same, and a second run changes nothing.
    """
    about, code = nb.metadata.get("attnbook", {}), code_hash(nb)
    if "chapter" not in about or about.get("run", {}).get("code") == code:
        return False
    about["run"] = {"code": code, "seconds": round(seconds, 1)}
    return True


def check(paths) -> int:
    """Print what is wrong with these notebooks; returns how many complaints there are."""
    count = 0
    for path in paths:
        nb = nbformat.read(path, as_version=4)
        for complaint in problems(nb):
            print(f"{path}: {complaint}", file=sys.stderr)
            count += 1
    return count


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("notebooks", nargs="*", type=Path, metavar="NB")
    parser.add_argument("--check", action="store_true", help="check only, run nothing")
    parser.add_argument("--pictures", action="store_true", help="run nothing, draw the widgets")
    parser.add_argument("--fresh", action="store_true", help="take new outputs of ignored cells")
    args = parser.parse_args(argv)
    paths = args.notebooks or sorted((ROOT / "book").glob("*.ipynb"))
    if missing := [p for p in paths if not p.is_file()]:
        print(f"no such notebook: {', '.join(map(str, missing))}", file=sys.stderr)
        return 2
    for path in paths if not args.check else []:
        start = time.perf_counter()
        try:
            changed = run(path, fresh=args.fresh, cells=not args.pictures)
        except CellExecutionError as error:
            print(f"{path}: {error}", file=sys.stderr)
            return 1
        seconds = time.perf_counter() - start
        print(f"{path}  {seconds:.1f} s  {'changed' if changed else 'unchanged'}", flush=True)
    if check(paths):
        return 1
    print(f"in form: {len(paths)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
