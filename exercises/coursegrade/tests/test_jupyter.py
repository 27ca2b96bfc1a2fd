"""What works in Jupyter works in grading: one hand-in, each cell with what must count of it."""

import ast
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from grading_helpers import ALL, EXERCISES, built

from coursegrade import docker, modules, notebook, release, repair, watched
from coursegrade.box import Box
from coursegrade.limits import Limits
from coursegrade.student import Student, StudentError

# name: (source, an expression that is true afterwards in the notebook, what is said of the cell)
CELLS = {
    "below a failing import": (
        "import google.colab\nRATE = 3\nclass A:\n    x = RATE",
        "RATE == A.x == 3",
        "ModuleNotFoundError",
    ),
    "uploaded": (
        "from google.colab import files\nup = files.upload()\nimport math\nE1 = math.pi",
        "E1 > 3",
        "ModuleNotFoundError",
    ),
    "a class with decorators": (
        "1 / 0\nimport dataclasses, functools\n@dataclasses.dataclass\nclass B:\n    x: int = 4\n"
        "    @functools.cached_property\n    def y(self):\n        return self.x + 1",
        "B().y == 5",
        "ZeroDivisionError",
    ),
    "an assert in the middle": (
        "a1 = 1\nassert a1 == 2, 'no'\na2 = 2",
        "a2 == 2",
        "AssertionError: no",
    ),
    "run once": ("runs = globals().get('runs', 0) + 1\n1 / 0\ndef f1(): pass", "runs == 1", "Zero"),
    "main": ("if __name__ == '__main__':\n    main = 1\nnope\n", "main == 1", "NameError"),
    "an unclosed bracket": (
        "def ok(): return 1\n\ndef bad(x\n    return 2\n\nC1 = [\n1,\n2]\n@staticmethod\ndef ok2():\n    return 3",
        "ok() + C1[1] + ok2() == 6",
        "SyntaxError: '(' was never closed (line 3)",
    ),
    "prose": ("I think that\nP1 = 1", "P1 == 1", "SyntaxError: invalid syntax (line 1)"),
    "no Python before what fails": ("1 / 0\nx x\nP2 = 1", "P2 == 1", "SyntaxError"),
    "an open string": ("T1 = '''\nabc\nT2 = 2", "T2 == 2", "SyntaxError: unterminated"),
    "a string of lines": (
        's1 = """\nx = (\n!ls\n"""\n!ls\nfoo bar',
        "s1 == '\\nx = (\\n!ls\\n'",
        "SyntaxError: invalid syntax (line 6)",
    ),
    "return outside": (
        "def g1():\nreturn 1\nr1 = 1",
        "r1 == 1",
        "SyntaxError: expected an indented",
    ),
    "compiled later": ("break\nr2 = 1", "r2 == 1", "SyntaxError: 'break' outside loop"),
    "tabs": (
        "def t1():\n\tx = 1\n        y = 2\nt2 = 1\nif t2:\n\tt3 = 2",
        "t3 == 2",
        "SyntaxError",
    ),
    "else of what fails": (
        "if x y:\n    z1 = 1\nelse:\n    z1 = 2\nz2 = 3",
        "z2 == 3",
        "SyntaxError",
    ),
    "future": (
        "from __future__ import annotations\ndef h1(x: Nothing) -> Nowhere: return x",
        "h1(1) == 1 and h1.__annotations__['x'] == 'Nothing'",
        "",
    ),
    "future in a later cell": ("def h2(x: Nothing): return x", "h2(1) == 1", ""),
    "await": (
        "import asyncio\nasync def w1():\n    await asyncio.sleep(0)\n    return 7\nW = await w1()",
        "W == 7",
        "",
    ),
    "windows": ("u1 = 1\r\n!pip \\\r\n  install x\r\nu2 = 2\r\n", "u1 + u2 == 3", ""),
    "a mark of order": ("\ufeffbom = 1", "bom == 1", ""),
    "pip continued": (
        "!pip install -q \\\n    einops \\\n  seaborn\n!pip install \\\nfoo\n%pip install a \\\nb\np1 = 1",
        "p1 == 1",
        "",
    ),
    "magics": (
        "%matplotlib inline\n%load_ext autoreload\n%autoreload 2\n!cd x && python y\nl1 = !ls\nlen?\nlen??\n?len\n"
        "get_ipython().system('ls')\n%config x.y = 1\n!!ls\n%timeit -n 1 len([])\nm1 = 1",
        "m1 == 1 and l1 == []",
        "",
    ),
    "magics inside": (
        "def i1():\n    if True:\n        !ls\n        %cd x\n        x = !ls\n    return x\nfor _ in 'a':\n    %time i2 = 2",
        "i1() == [] and i2 == 2",
        "",
    ),
    "%time": (
        "%time q1 = sum([1,\\\n    2])\nq2 = %time q1 + 1\n%time\n%time -x\nq3 = 5 \\\n %3",
        "q2 == 4 and q3 == 2",
        "",
    ),
    "%%time": (
        "\n\n%%time\n%%capture said --no-stderr\n\nd1 = 1\n!ls\nprint(said.stdout)\n",
        "d1 == 1 and said.show() is None",
        "",
    ),
    "%%timeit": ("%%timeit -n 1\nd2 = 1", "d2 == 1", ""),
    "%%prun": ("%%prun\ndef d3(): return 1", "d3() == 1", ""),
    "a comment before": ("# my cell\n%%time\nd4 = 1", "d4 == 1", ""),
    "%%bash": ("%%bash\nbash1 = 1", "'bash1' not in globals()", ""),
    "%%html": ("\n  %%html\n<b>hello</b>", "True", ""),
    "%%writefile": (
        "%%writefile mine.py\nimport torch\ndef of_file():\n    return torch.ones(1)",
        "True",
        "",
    ),
    "%%writefile -a": ("%%writefile -a mine.py\nAPPENDED = 3", "True", ""),
    "%%writefile into a folder": ("%%file /content/other.py\nOTHER = 4", "True", ""),
    "import what was written": (
        "from mine import of_file, APPENDED\nimport other\n%run mine.py",
        "of_file() == 1 and APPENDED + other.OTHER == 7",
        "",
    ),
    "IPython's own": (
        "from IPython import get_ipython\n%matplotlib inline\nl2 = !ls",
        "l2 == []",
        "",
    ),
    "a prompt": (">>> pr = 1\n>>> for i in range(2):\n...     pr += i\n", "pr == 2", ""),
    "indented": ("  in1 = 1\n  !ls\n  in2 = 2", "in1 + in2 == 3", ""),
    "colab in its shell": ("on_colab = 'google.colab' in str(get_ipython())", "not on_colab", ""),
    "getsource": (
        "import inspect\ndef gs(x):\n    return x  # my words\n\nfoo bar\n",
        "inspect.getsource(gs) == 'def gs(x):\\n    return x  # my words\\n'",
        "SyntaxError",
    ),
    "getsource of a method": (
        "class G:\n    def m(self): return 1  # m",
        "'# m' in inspect.getsource(G.m)",
        "",
    ),
    "jit.script": (
        "import torch\n!ls\n@torch.jit.script\ndef js(x: torch.Tensor) -> torch.Tensor:\n    y = x * 2\n    return y\n"
        "class JS(torch.nn.Module):\n    def forward(self, x):\n        return js(x)\njm = torch.jit.script(JS())",
        "float(js(torch.ones(()))) == float(jm(torch.ones(()))) == 2",
        "",
    ),
    "jit.script, repaired": (
        "nope\nx y\n@torch.jit.script\ndef js2(x):\n    return x + 1",
        "float(js2(torch.ones(()))) == 2",
        "SyntaxError",
    ),
    "doctest of a function": (
        "def dt():\n    '''\n    >>> dt()\n    1\n    '''\n    return 1\nimport doctest\ndoctest.testmod()",
        "dt() == 1",
        "",
    ),
    "modules": (
        "\n".join(f"import {name}" for name in modules.MODULES),
        "einops.__name__ == 'einops'",
        "",
    ),
    "plots": (
        "import matplotlib.pyplot as plt\nfrom IPython.display import display, clear_output\nfrom tqdm.notebook import tqdm\n"
        "from tqdm.auto import trange\nplt.plot([1, 2])\nplt.show()\nclear_output()\ndisplay(1)\npl = sum(tqdm(trange(3)))",
        "pl == 3",
        "",
    ),
}
COMPILED = {
    "compile": ("@torch.compile\ndef c1(x): return x + 1", "float(c1(torch.ones(()))) == 2", ""),
    "compile with arguments": (
        "@torch.compile(fullgraph=True, mode='max-autotune')\ndef c2(x): return x + 1",
        "float(c2(torch.ones(()))) == 2",
        "",
    ),
    "a compiled model": (
        "cm = torch.compile(torch.nn.Linear(2, 2))\ncm2 = torch.nn.Linear(2, 2)\ncm2.compile()",
        "cm(torch.ones(2)).shape == cm2(torch.ones(2)).shape",
        "",
    ),
}


class InBox:
    """A hand-in of many cells, run in one box."""

    def __init__(self, cells, **limits):
        asked = "def true(source): return bool(eval(source, globals()))"
        texts = [source for source, _, _ in cells.values()]
        self.cells = [("code", text) for text in [*texts, asked]]
        self.student = Student(notebook.code_cells(self.cells), Limits(**limits))
        self.student.true("1")
        self.report = self.student.report()

    def about(self, number):
        flags = [flag for flag in self.report["flags"] if flag.startswith(f"cell {number} ")]
        return f"{self.report['cells'].get(number, '')} {flags}"


@pytest.fixture(scope="module")
def jupyter(box):
    found = InBox({**CELLS, **COMPILED}, cell=60)
    yield found
    found.student.close()


@pytest.mark.parametrize("name", [*CELLS, *COMPILED])
def test_what_works_in_jupyter_counts(jupyter, name):
    number = [*CELLS, *COMPILED].index(name) + 1
    _, true, said = {**CELLS, **COMPILED}[name]
    about = jupyter.about(number)
    assert jupyter.student.true(true), about
    assert said in about and ("failed" in about) == bool(said), about
    assert ("runs uncompiled" in about) == (name in COMPILED), about
    assert jupyter.report["boxes"] == 1


# Each in a process of its own: the first that fails takes the CPU for all that follow.
FOR_A_GPU = """\
torch.ones(2).cuda(0)
torch.ones(2).to("cuda:0", torch.float64)
torch.ones(2).to(0)
torch.ones(2).to(torch.device("cuda"))
torch.zeros(3, device="mps")
torch.zeros(3, device=0)
torch.tensor([1.], device="xpu")
torch.ones(3).new_zeros(2, device="cuda")
torch.nn.Linear(2, 2).cuda()(torch.ones(2).cuda())
torch.nn.Linear(2, 2).to("mps")(torch.ones(2, device="mps"))
torch.nn.MultiheadAttention(4, 2, device="cuda")(*[torch.ones(1, 2, 4, device="cuda")] * 3)
torch.cuda.synchronize()
torch.mps.synchronize()
torch.accelerator.synchronize()
f"{torch.cuda.Event(enable_timing=True).elapsed_time(torch.cuda.Event()) / 1000:.2f}"
torch.cuda.set_device(0)
torch.cuda.get_device_properties(0).total_memory / 2**30
torch.cuda.stream(torch.cuda.Stream()).__enter__()
torch.cuda.reset_peak_memory_stats()
torch.rand(3, generator=torch.Generator(device="cuda").manual_seed(1), device="cuda")
torch.ones(2).pin_memory()
torch.set_default_device("cuda"), torch.zeros(3) + torch.tensor([1.])
torch.device("cuda").__enter__(), torch.ones(3)
torch.ones(2, requires_grad=True).cuda().sum().backward()
torch.vmap(lambda x: x.to("cuda"))(torch.ones(2, 2))
""".splitlines()
FORKS = """
import os, sys, warnings
warnings.simplefilter("ignore")
import absent, torch
for line in sys.argv[1:]:
    if not os.fork():
        try:
            absent.on_cpu(eval, line)
            os.write(1, b"ok" if absent.noted == {"cpu"} else b"not noted")
        except BaseException as problem:
            os.write(1, repr(problem).encode())
        os.write(1, b"\\0")
        os._exit(0)
    os.wait()
"""


@pytest.fixture(scope="module")
def on_cpu():
    if not hasattr(os, "fork"):
        pytest.skip("it needs fork")
    program, folder = [sys.executable, "-c", FORKS, *FOR_A_GPU], Path(docker.__file__).parent
    done = subprocess.run(program, capture_output=True, text=True, cwd=folder)
    return dict(zip(FOR_A_GPU, done.stdout.split("\0"), strict=False))


@pytest.mark.parametrize("line", FOR_A_GPU)
def test_what_asks_for_a_gpu_runs_on_the_cpu(on_cpu, line):
    assert on_cpu[line] == "ok"


GPU = {
    "in a cell": (
        "import torch\ndevice = 'cuda'\ngpu1 = torch.ones(2, device=device)",
        "gpu1.sum() == 2",
        "",
    ),
    "at once": (
        "torch.cuda.synchronize()\ngpu2 = torch.nn.Linear(2, 2).cuda()",
        "gpu2(gpu1.to('mps')).shape == (2,)",
        "",
    ),
}


def test_a_gpu_costs_no_marks_and_is_flagged(box):
    """In a cell, or not before a function is called."""
    found = InBox(GPU)
    assert all(found.student.true(true) for _, true, _ in GPU.values())
    said = "asks for a GPU: here it runs on the CPU"
    assert found.student.report()["flags"] == [f"cell 1 {said}"]  # from there on nothing fails
    found.student.close()
    late = InBox(
        {"a function": ("import torch\ndef f(): return torch.ones(3).cuda().sum()", "", "")}
    )
    assert late.report["flags"] == [] and late.student.f() == 3 and late.student.true("f() == 3")
    assert late.student.report() == {"flags": [f"f {said}"], "cells": {}, "boxes": 1}
    late.student.close()


ENDS = {  # cells that end the box, and what counts of them
    "once": ("e1 = 1\nwhile True: pass\ne2 = 2", "e1 + e2 == 3", "did not finish"),
    "twice": (
        "import os\ne4 = 4\nos._exit(0)\nos._exit(0)\ndef f4(): return 4",
        "f4() == 4 and 'e4' not in globals()",
        "stopped the notebook",
    ),
    "whatever it defines": (
        "@lambda f: os._exit(0)\ndef f5(): pass\n@lambda f: os._exit(0)\ndef f6(): pass\ne5 = 5",
        "'f5' not in globals() and 'e5' not in globals()",
        "stopped the notebook",
    ),
    "after these": ("e6 = 6", "e6 == 6", ""),
}


def test_a_statement_that_ends_the_box_is_left_out_and_no_other(box):
    found = InBox(ENDS, cell=3)
    for number, (name, (_, true, said)) in enumerate(ENDS.items(), start=1):
        assert said in found.about(number) and found.student.true(true), name
    assert found.report["boxes"] == 7  # 1 + 2 + 3, and the one that lives
    found.student.close()


FORGED = """
import os, struct
def frame(content):
    for fd in range(3, 64):
        try: os.write(fd, struct.pack(">I", len(content)) + content)
        except OSError: pass
"""


def test_a_forged_place_costs_its_own_cell(box):
    sent = "frame(b'{\"at\": 99}') or frame(b'{\"at\": 1}') or os._exit(0)\ne7 = 7\ndef f7(): pass"
    found = InBox({"frames": (FORGED, "", ""), "sent": (sent, "", ""), "e8": ("e8 = 8", "", "")})
    assert found.student.true("'e7' not in globals() and callable(f7) and e8 == 8")
    found.student.close()


@pytest.mark.parametrize(
    "rest", ['"error": 5, "noted": {"cpu": [1]}', '"error": [[], {}]', '"at": []']
)
def test_a_forged_answer_is_no_fault(box, rest):
    sent = f"frame(b'{{\"number\": 2, {rest}}}')"
    cells = [("code", FORGED), ("code", sent), ("code", "x = 1")]
    student = Student(notebook.code_cells(cells), Limits(restarts=1))
    with pytest.raises(StudentError):
        student.x()
    assert student.report()["boxes"] == 1


@pytest.mark.parametrize("frame", ['{"at": 1}', '{"asks": 1}'])
def test_whoever_never_stops_sending_is_late(box, frame):
    running = Box(Limits())
    source, start = FORGED + f"while True: frame(b'{frame}')", time.monotonic()
    request = {"do": "cell", "number": 1, "source": source, "seed": 0}
    with pytest.raises(TimeoutError):
        running.ask(request, 2, lambda asked: {"answer": None})
    assert time.monotonic() - start < 4
    running.kill()


def code(source):
    return notebook.code_cells([("code", source)])


@pytest.mark.parametrize(
    "source, names",
    [
        ("%%writefile a.py\ndef f(): pass\nX = 1", {"f", "X"}),
        ("%%time\ndef f(): pass\n!ls", {"f"}),
        ("%time x = 1\ny = !ls", {"x", "y"}),
        ("def f(\n\nx: int = 1\nasync def g(): pass", {"x", "g"}),
        (
            "if True:\n    def f(): pass\nelse:\n    y = 1\ntry:\n    z = 1\nexcept: pass",
            {"f", "y", "z"},
        ),
        ("%%bash\nx=1", set()),
    ],
)
def test_names_are_found_wherever_a_cell_defines_them(source, names):
    assert notebook.names_in(code(source)) == names


@pytest.mark.parametrize(
    "source, line",
    [
        ("%%writefile a.py\n\nF.softmax(1)", 3),
        ("%%time\nF.softmax(1)", 2),
        ("x (\n!ls\n%time y = F.softmax(1)", 3),
        ("!pip install \\\n  x\nx x\nF.softmax(1)", 4),
        ("!pip install \\\n  x\nF.softmax(1)", 3),
    ],
)
def test_forbidden_calls_are_found_with_their_line(source, line):
    found = watched.forbidden_calls([("code", source)], {"q1": ["F.softmax"]})
    assert found and all(f"cell 1, line {line} names" in flag for flag in found), found


def test_what_parses_is_left_as_it_is():
    for exercise in ALL[:2]:
        cells = notebook.parse(built(exercise, True).encode())
        for kind, text in cells:
            assert kind != "code" or repair.python(text) == text
    assert repair.python("x = (5\n%3)") == "x = (5\n%3)"


@pytest.mark.parametrize(
    "line",
    [
        "!",
        "?",
        "x x",
        "x = (",
        "x\n)",
        "'" * 3,
        "@a",
        "if x:",
        "%%time",
        "x = !ls",
        "x = f(a?",
        "",
        "def f(:\n  %x",
    ],
)
def test_a_large_cell_is_mended_in_seconds(line):
    text = (line + "\n") * ((1 << 18) // (len(line) + 1)) + "1 1"
    start = time.process_time()
    ast.parse(repair.python(text))
    assert time.process_time() - start < 15


def test_modules_are_one_list():
    """Dockerfile, autograder and requirements.txt have each, in one version."""
    pins = (EXERCISES.parent / "requirements.txt").read_text(encoding="utf-8").lower().splitlines()
    image = (Path(docker.__file__).parent / "Dockerfile").read_text(encoding="utf-8").split()
    for name in modules.MODULES:
        [pin] = [pin for pin in pins if pin.startswith(f"{name.lower()}==")]
        assert pin in image


@pytest.mark.parametrize(
    "source, named",
    [
        ("import seaborn as sns, torch, os.path", ["seaborn"]),
        ("def f():\n    from sklearn.linear_model import Ridge", ["sklearn.linear_model"]),
        ("try:\n    import google.colab\nexcept ImportError:\n    import seaborn", ["seaborn"]),
        ("from __future__ import annotations\nfrom . import a\nimport mine\n!ls\nimport pkg.b", []),
        ("\n".join(f"import {name}" for name in modules.MODULES), []),
    ],
)
def test_a_module_that_is_not_there_is_named(source, named):
    cells = [("code", source), ("code", "%%writefile -a mine.py\n"), ("code", "%%file pkg/b.py\n1")]
    said = [f"cell 1 imports {name}, which is not there in grading" for name in named]
    assert watched.forbidden_calls(cells, {}) == said


def test_no_released_notebook_imports_what_is_not_there():
    for exercise in ALL:
        cells = notebook.parse(built(exercise, True).encode())
        flags = watched.forbidden_calls(cells, {}, release.given_parts(exercise))
        assert not [flag for flag in flags if "imports" in flag]
