"""show_source prints the package's own code, whole but for docstrings."""

import ast
import inspect
import textwrap

import pytest
import torch

import attnbook as ab

PUBLIC = [ab.masked_softmax, ab.attention, ab.AdditiveScore, ab.length_mask, ab.scaled_dot]


def without_docstrings(code):
    """The tree of `code` with docstrings removed, as text: comments and layout do not count."""
    tree = ast.parse(textwrap.dedent(code))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            if ast.get_docstring(node) is not None:
                node.body = node.body[1:] or [ast.Expr(ast.Constant(...))]
    return ast.dump(tree)


@pytest.mark.parametrize("thing", PUBLIC, ids=lambda thing: thing.__name__)
def test_the_code_is_the_packages_own(thing):
    code = inspect.getsource(thing)
    assert repr(ab.show_source(thing, docstring=True)) == code.rstrip()
    shown = repr(ab.show_source(thing))
    assert '"""' not in shown
    assert without_docstrings(shown) == without_docstrings(code)
    own = [line for line in code.splitlines() if "#" in line]
    assert all(line in shown.splitlines() for line in own if "`" not in line)  # comments stay


def test_several_objects_are_shown_one_after_the_other():
    shown = repr(ab.show_source(ab.dot, ab.scaled_dot))
    assert shown == f"{ab.show_source(ab.dot)!r}\n\n{ab.show_source(ab.scaled_dot)!r}"


class OnlyText(Exception):
    """A class with a docstring and nothing else."""


class Layered:
    """A class with methods."""

    rate = 0.5

    def method(self):
        """Several lines.

        With a blank one.
        """
        return """not a docstring"""

    async def later(self):
        """Only text."""


def test_what_is_left_is_still_python():
    assert repr(ab.show_source(OnlyText)) == "class OnlyText(Exception):\n    ..."
    assert repr(ab.show_source(Layered)) == textwrap.dedent('''\
        class Layered:
            rate = 0.5

            def method(self):
                return """not a docstring"""

            async def later(self):
                ...''')
    assert "def method" in repr(ab.show_source(Layered.method))
    assert "Several" not in repr(ab.show_source(Layered.method))


def test_objects_without_python_source_are_refused():
    space = {}
    exec("def typed(): pass", space)
    for thing in (torch.exp, 3, ab.AdditiveScore(1, 1, 1), space["typed"]):
        with pytest.raises(TypeError):
            ab.show_source(thing)
    with pytest.raises(
        TypeError, match=r"objects must come from Python files, got <function typed"
    ):
        ab.show_source(space["typed"])
