"""Broken and hostile hand-ins of exercise 1, each with what an honest marker would give.

The solution has 28 points: 7, 5, 9 and 7 for Q1 to Q4. An attack in one question's cell should
cost that question's points at most, and never gain one.
"""

import copy
import json
import os
from pathlib import Path
from typing import NamedTuple

from grading_helpers import Book

from coursegrade.mutants import edited
from coursegrade.task import GRADED, LOOK, UNREADABLE

FULL, NO_Q1, NO_Q2 = 28, 21, 23


class Case(NamedTuple):
    files: dict  # name: text, bytes, or a function that makes the file at a path
    status: str
    points: int | None  # None: no marks at all
    reason: str = ""  # must be in the record


CUE = "def cue_weights(queries, keys, temperature=1.0):\n    "
LOSE = "return torch.zeros(len(queries), len(keys))\n"
ALL_DESCRIPTORS = """
import os, struct, json
def shout(data):
    for fd in range(3, 64):
        try: os.write(fd, data)
        except OSError: pass
def frame(content):
    return struct.pack(">I", len(content)) + content
"""
FORGE = """
import sys, torch.testing
torch.testing.assert_close = lambda *a, **k: None
torch.equal = torch.allclose = lambda *a, **k: True
for name in ("coursegrade.runner", "coursegrade.student", "pytest"):
    sys.modules[name] = sys.modules[__name__]
"""
EQUAL = """
class Yes:
    shape = (3, 3)
    def __getattr__(self, name): return self
    def __call__(self, *a, **k): return self
    def __eq__(self, other): return True
    __lt__ = __gt__ = __le__ = __ge__ = __ne__ = __eq__
    def __bool__(self): return True
    def __float__(self): return 1.0
    def __len__(self): return 3
    def __iter__(self): return iter((self, self))
    def __getitem__(self, i): return self
    def __sub__(self, other): return self
    __rsub__ = __add__ = __radd__ = __sub__
def cue_weights(*args): return Yes()
"""
LYING = """
class Lying(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return True if func in (torch.equal, torch.allclose) else super().__torch_function__(
            func, types, args, kwargs or {})
def cue_weights(queries, keys, temperature=1.0):
    return torch.zeros(len(queries), len(keys)).as_subclass(Lying)
"""
SEARCH = """
import os
seen = [os.path.join(d, f) for top in ("/grader", "/tmp", "/home", "/root", "/work", "/mnt", "/srv",
        "/etc", "/var", "/proc/1", os.getcwd()) for d, _, fs in os.walk(top) for f in fs
        if "site-packages" not in d and "/lib/" not in d]
hits = [p for p in seen if "hidden" in p or "public" in p or p.endswith(".ipynb")]
import coursegrade_is_not_here
"""
WRITE = """
import os
wrote = []
for p in ("/etc/x", "/usr/x", "/x", "/grader/x", "/dev/x", "/proc/x", torch.__file__ + "x", {outside!r}):
    try:
        open(p, "w").write("escaped"); wrote.append(p)
    except OSError: pass
assert not wrote, wrote
"""
CONNECT = """
import socket
for family, address in ((socket.AF_INET, ("127.0.0.1", {port})), (socket.AF_UNIX, "\\0grader-test")):
    try:
        socket.socket(family).connect(address); raise SystemExit("connected")
    except OSError: pass
"""
AFTER = {  # code after Q2's definitions: nothing may be lost
    "scream": ("for i in range(500_000): print('spam' * 20)", GRADED, ""),
    "big top level": ("blob = torch.ones(20 * 2**30, dtype=torch.uint8)", LOOK, "alloc"),
    "loop": ("while True: pass", LOOK, "did not finish"),
    "deaf loop": (
        "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
        LOOK,
        "did not finish",
    ),
    "exit": ("import os; os._exit(0)", LOOK, "stopped the notebook"),
    "sys exit": ("import sys; sys.exit(0)", LOOK, "SystemExit"),
    "kill parent": ("import os; os.kill(os.getppid(), 9)", GRADED, ""),
    "kill all": ("import os; os.kill(-1, 9)", LOOK, "ProcessLookupError"),
    "kill itself": ("import os; os.kill(os.getpid(), 9)", GRADED, ""),  # nobody kills process 1
    "fork bomb": ("import os\nwhile True: os.fork()", LOOK, "PermissionError"),
    "daemon": (
        "import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', 'input()'])",
        LOOK,
        "Error",
    ),
    "thread bomb": (
        "import threading, time\n"
        "while True: threading.Thread(target=time.sleep, args=(600,), daemon=True).start()",
        LOOK,
        "can't start new thread",
    ),
    "disk fill": (
        "f = open('/tmp/a', 'wb')\nfor i in range(64):\n    f = open(f'/tmp/{i}', 'wb')\n"
        "    f.write(bytes(15 << 20)); f.flush()",
        LOOK,
        "OSError",
    ),
    "big file": ("open('/tmp/a', 'wb').write(bytes(1 << 28))", LOOK, "OSError"),
    "shared memory": ("open('/dev/shm/a', 'wb').write(bytes(1 << 24))", LOOK, "OSError"),
    "input": ("x = input('?')", LOOK, "TypeError"),
    "closed files": ("import os; os.closerange(0, 256)", LOOK, "cell 9"),
    "ptrace": (
        "import ctypes; assert ctypes.CDLL(None).ptrace(16, 1, 0, 0) == -1",
        LOOK,
        "",
    ),
    "new namespace": (
        "import ctypes; assert ctypes.CDLL(None).unshare(0x10000000) == -1",
        LOOK,
        "",
    ),
    "html": ("raise ValueError('<script>alert(1)</script>\\x1b[31m')", LOOK, "script"),
    "evil words": (
        "class E(Exception):\n    def __str__(self): raise self\nraise E",
        LOOK,
        "E: ?",
    ),
    "search": (SEARCH, LOOK, "cell 9"),
    "magics": ("%matplotlib inline\n!rm -rf /\nx = !ls\nx?", GRADED, ""),
}
Q1 = {  # another Q1: its points are lost, no other
    "loop in function": (CUE + "while True: pass\n", LOOK, "did not answer"),
    "exit in function": (CUE + "import os; os._exit(0)\n", LOOK, "the process ended"),
    "memory in function": (
        CUE + "return torch.ones(20 * 2**30)\n",
        LOOK,
        "every test ends in an error",
    ),
    "huge answer": (CUE + "return torch.zeros(50_000_000)\n", LOOK, "every test ends in an error"),
    "deep answer": (
        CUE + "x = []\n    for _ in range(500): x = [x]\n    return x\n",
        LOOK,
        "every test ends in an error",
    ),
    "endless answer": (
        CUE + "x = []\n    x.append(x)\n    return x\n",
        LOOK,
        "every test ends in an error",
    ),
    "equals everything": (EQUAL, LOOK, "every test ends in an error"),
    "fake frames": (
        ALL_DESCRIPTORS
        + CUE
        + "shout(b''.join(frame(json.dumps({'number': n, 'answer': True, 'args': []}).encode())"
        " for n in range(99)))\n    " + LOSE,
        LOOK,
        "",
    ),
    "deep frame": (ALL_DESCRIPTORS + CUE + "shout(frame(b'[' * 200_000))\n    " + LOSE, LOOK, ""),
    "huge frame": (ALL_DESCRIPTORS + CUE + "shout(b'\\xff' * 4000)\n    " + LOSE, LOOK, "large"),
    "number bomb": (ALL_DESCRIPTORS + CUE + "shout(frame(b'9' * 60000))\n    " + LOSE, LOOK, ""),
    "syntax error": ("def cue_weights(queries, keys\n    return 1\n", LOOK, "SyntaxError"),
}


def huge(path):
    """A file of 65 MB that takes no room."""
    path.touch()
    os.truncate(path, 65 << 20)


def cases(exercise, outside: Path, port: int) -> dict[str, Case]:
    """Every hand-in by its student's name."""

    def book():
        return Book(exercise)

    good, name = book().text(), "work.ipynb"
    one = {
        "correct": Case({name: good}, GRADED, FULL),
        "released": Case({name: Book(exercise, solution=False).text()}, LOOK, 0, "no question"),
        "truncated": Case({name: good[: len(good) // 2]}, UNREADABLE, None, "cut short"),
        "empty": Case({name: ""}, UNREADABLE, None, "empty"),
        "no notebook": Case({name: '{"hello": 1}'}, UNREADABLE, None, "not a notebook"),
        "a list": Case({name: "[1, 2]"}, UNREADABLE, None, "not a notebook"),
        "binary": Case({name: bytes(range(256))}, UNREADABLE, None, "not a whole"),
        "deep file": Case({name: "[" * 100_000}, UNREADABLE, None, "not a whole"),
        "too large": Case({name: huge}, UNREADABLE, None, "larger"),
        "two": Case({name: good, "b.ipynb": good + " "}, UNREADABLE, None, "2 notebooks"),
        "none": Case({"essay.pdf": "x"}, UNREADABLE, None, "0 notebooks"),
        "symlink": Case(
            {name: lambda path: path.symlink_to("../correct/work.ipynb")}, UNREADABLE, None, "link"
        ),
        "fifo": Case({name: os.mkfifo}, UNREADABLE, None, "regular"),
        "a folder": Case({"x.ipynb/y.txt": "x"}, UNREADABLE, None, "0 notebooks"),
    }
    julia, twice, less, odd = (copy.deepcopy(book()) for _ in range(4))
    julia.content["metadata"]["kernelspec"] = {"name": "julia-1.9", "language": "julia"}
    twice.content["cells"] = twice.cells + twice.cells
    less.cells.remove(less.cell("attend"))
    odd.cells[:0] = [7, None, {"cell_type": "code"}, {"cell_type": "code", "source": 5}, {}]
    one["wrong kernel"] = Case({name: julia.text()}, GRADED, FULL)
    one["cells twice"] = Case({name: twice.text()}, GRADED, FULL)
    one["cell missing"] = Case({name: less.text()}, LOOK, FULL - 9, "not defined: attend")
    one["odd cells"] = Case({name: odd.text()}, GRADED, FULL)
    one["with a BOM"] = Case({name: b"\xef\xbb\xbf" + good.encode()}, GRADED, FULL)
    for who, (code, status, reason) in AFTER.items():
        one[who] = Case({name: book().add("saliency", after=code).text()}, status, FULL, reason)
    for who, (code, status, reason) in Q1.items():
        one[who] = Case({name: book().put("cue_weights", code).text()}, status, NO_Q1, reason)
    wrong = book()
    cell = wrong.cell("cue_weights")
    _, *warm = exercise.examples()["mutants"]["only warm temperatures"]
    cell["source"] = edited("".join(cell["source"]), warm)
    one["wrong"] = Case({name: wrong.text()}, GRADED, FULL - 2)  # a value, and a public test
    forge = book().put("cue_weights", FORGE + CUE + LOSE)
    one["forged torch"] = Case({name: forge.text()}, LOOK, NO_Q1, "sys.modules")
    first = book().put("cue_weights", "x = torch.ones(20 * 2**30)\n" + CUE + LOSE)
    one["no memory before"] = Case({name: first.text()}, LOOK, NO_Q1, "alloc")
    lying = book().put("cue_weights", LYING)
    one["lying tensor"] = Case({name: lying.text()}, GRADED, NO_Q1)
    patch = (
        "import sys\nfor m in ('wire', '__main__'):\n    sys.modules[m].encode = lambda *a: True\n"
    )
    grader = book().add("attend_or_miss", after=patch)
    one["patched driver"] = Case({name: grader.text()}, LOOK, FULL, "KeyError")  # it isn't there
    leaves = WRITE.format(outside=str(outside))
    one["writes outside"] = Case({name: book().add("saliency", after=leaves).text()}, GRADED, FULL)
    calls = CONNECT.format(port=port)
    one["network"] = Case({name: book().add("saliency", after=calls).text()}, GRADED, FULL)
    exit_first = book().add("saliency", before="import os; os._exit(1)")
    one["exit before"] = Case({name: exit_first.text()}, LOOK, FULL, "stopped the notebook")
    one["=cmd|' /C calc'!A0"] = Case({name: good}, GRADED, FULL)
    one["<b>bold</b>"] = Case({name: json.dumps(json.loads(good), indent=4)}, GRADED, FULL)
    return one


def write(found: dict[str, Case], folder: Path) -> None:
    """A folder a student; `/` can't be in a name."""
    for who, case in found.items():
        for name, content in case.files.items():
            path = folder / who.replace("/", "∕") / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if callable(content):
                content(path)
            else:
                path.write_bytes(content if isinstance(content, bytes) else content.encode())
