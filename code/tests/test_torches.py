"""The package beside other torches than the pinned one, each in an environment of its own.

    ATTNBOOK_TORCHES="2.5.1 2.15.0" python -m pytest code/tests/test_torches.py

A value may also be the path of a Python that has its torch already. A package index is needed,
and some gigabytes: the tests of every day skip this.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

CODE = Path(__file__).resolve().parents[1]
TORCHES = os.environ.get("ATTNBOOK_TORCHES", "").split()
# What a chapter does first: import, the four moves, a model that trains, a widget.
USE = """
import json, torch
before = torch.__version__
import attnbook as ab
q, k = torch.randn(2, 3, 8), torch.randn(2, 5, 8)
mask = ab.length_mask([2, 5], 5)
with_weights, w = ab.attention(q, k, k, mask=mask)
fused, _ = ab.attention(q, k, k, mask=mask, need_weights=False)
assert torch.allclose(with_weights, fused, atol=1e-5) and (w[0, :, 2:] == 0).all()
heads = ab.MultiHeadAttention(8, 2, positions=ab.RotaryPositions(4))
heads(q).output.sum().backward()
assert heads.W_q.weight.grad.isfinite().all()
model = ab.recurrent_translator(20, 22, attention="before", embed_size=8, hidden_size=8)
assert ab.AttentionHeatmap(torch.randn(3, 3), alt="three by three")
public = [name for name in ab.__all__ if getattr(ab, name, None) is None]
print(json.dumps([before, torch.__version__, ab.__file__, public]))
"""


def run(*command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, cwd="/")
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    return done.stdout


@pytest.mark.parametrize("torch", TORCHES or ["none"])
def test_the_package_installs_without_dependencies_and_works(torch, tmp_path):
    if torch == "none":
        pytest.skip("ATTNBOOK_TORCHES names no version of torch to try, such as '2.5.1 2.15.0'")
    declared = (CODE / "pyproject.toml").read_text(encoding="utf-8")
    needs = re.findall(r'^    "([a-z]+[^"]*)",$', declared, re.MULTILINE)
    folder = tmp_path / "venv"
    if Path(torch).exists():  # an environment that has torch: ours goes into a folder beside it
        python = Path(torch)
    else:
        venv.create(folder, with_pip=True)
        python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
        others = [need for need in needs if not need.startswith("torch")]
        run(python, "-m", "pip", "install", "-q", f"torch=={torch}", *others)
    target = tmp_path / "package"
    source = shutil.copytree(CODE, tmp_path / "code", ignore=shutil.ignore_patterns("tests"))
    run(python, "-m", "pip", "install", "-q", "--no-deps", "--target", target, source)
    code = f"import sys; sys.path.insert(0, {str(target)!r})\n{USE}"
    before, after, place, missing = json.loads(run(python, "-c", code).splitlines()[-1])
    assert before == after and missing == []
    assert place.startswith(str(target))
    if not Path(torch).exists():
        assert after.split("+")[0] == torch


RUN = """
import sys, nbformat
from nbclient import NotebookClient
for path in sys.argv[1:]:
    NotebookClient(nbformat.read(path, as_version=4), timeout=900, kernel_name="python3").execute()
    print(path)
"""


@pytest.mark.parametrize("torch", TORCHES or ["none"])
def test_the_readers_notebooks_run_beside_it(torch, tmp_path):
    """From a folder of their own, with what Colab has and what their first cell installs there."""
    site = os.environ.get("ATTNBOOK_SITE")
    if torch == "none" or Path(torch).exists() or not site:
        pytest.skip("ATTNBOOK_TORCHES and ATTNBOOK_SITE (a built site) say what to run where")
    edition = (CODE.parent / "book/_ext/attn_edition.py").read_text(encoding="utf-8")
    missing = re.search(r'^MISSING_ON_COLAB = "(.*)"', edition, re.MULTILINE)[1].split()
    pins = (CODE.parent / "requirements.txt").read_text(encoding="utf-8").splitlines()
    peer = next(line for line in pins if line.startswith("d2l=="))
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    install = [python, "-m", "pip", "install", "-q"]
    run(*install, f"torch=={torch}", "numpy", "matplotlib", "ipywidgets", "tqdm", "pandas", "scipy")
    run(*install, "requests", "nbclient", "ipykernel", *missing)
    run(*install, "--no-deps", peer, CODE, CODE / "experiments")
    notebooks = sorted((Path(site).resolve() / "notebooks").glob("*.ipynb"))
    assert run(python, "-c", RUN, *notebooks).split() == list(map(str, notebooks))


def test_the_oldest_torch_of_the_range_is_the_one_that_nightly_tries():
    declared = (CODE / "pyproject.toml").read_text(encoding="utf-8")
    (oldest,) = re.findall(r'"torch>=([\d.]+)"', declared)
    nightly = (CODE.parent / ".github/workflows/nightly.yml").read_text(encoding="utf-8")
    (tried,) = re.findall(r'ATTNBOOK_TORCHES: "([\d.]+)"', nightly)
    assert tried.startswith(f"{oldest}."), sys.version
