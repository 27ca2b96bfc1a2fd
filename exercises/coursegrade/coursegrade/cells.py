"""Runs INSIDE the box: a notebook's cells, statement by statement, as Jupyter runs them."""

import ast
import asyncio
import codeop
import importlib
import inspect
import linecache
import os
import re
import sys
import types

import absent

SLOW = re.compile(r"\b(optim|func|vmap)\b")


class Shell:
    """Stands in for IPython: magics do nothing, but for those that make code."""

    def __getattr__(self, name):
        return lambda *args, **kwargs: None

    def getoutput(self, *args, **kwargs):
        return []

    def run_cell_magic(self, magic, line, cell):
        if magic not in ("writefile", "file"):
            return
        *options, path = line.split()
        path = path.strip("'\"")
        path = os.path.basename(path) if os.path.isabs(path) else path  # Colab's folder is /content
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        with open(path, "a" if {"-a", "--append"} & set(options) else "w") as file:
            file.write(cell)
        importlib.invalidate_caches()

    def run_line_magic(self, magic, line, *args):
        for path in [word for word in line.split() if magic == "run" and word.endswith(".py")][:1]:
            with open(path) as file:
                exec(compile(file.read(), path, "exec"), sys.modules["__main__"].__dict__)


class Notebook:
    """The namespace of a notebook, and its compiler: a `from __future__` holds from there on."""

    def __init__(self):
        module = types.ModuleType("__main__")
        sys.modules["__main__"], self.names = module, module.__dict__
        self.names.update(display=lambda *a, **k: None, input=None, __builtins__=__builtins__)
        self._compile = codeop.Compile()
        self._compile.flags |= ast.PyCF_ALLOW_TOP_LEVEL_AWAIT

    def failures(self, number, source, skip, tell):
        """Run a cell, and what raised in it, one exception after the other.

        Args:
            skip: places of statements that are not run.
            tell: is told a statement's place before it runs.
        """
        file = f"<cell {number}>"
        lines = [line + "\n" for line in source.split("\n")]
        linecache.cache[file] = len(source), None, lines, file  # for inspect and torch.jit
        if SLOW.search(source):  # its first use imports for seconds: not while a test waits
            importlib.import_module("torch._dynamo")
        for place, node in enumerate(ast.parse(source, file).body):
            if place not in skip:
                tell({"at": place})
                try:
                    absent.on_cpu(self._run, node, file)
                except BaseException as problem:
                    yield problem

    def _run(self, node, file):
        self.names["get_ipython"] = Shell  # whatever a cell imports: there is no other here
        code = self._compile(ast.Module([node], []), file, "exec")
        result = eval(code, self.names)
        if code.co_flags & inspect.CO_COROUTINE:
            asyncio.run(result)
