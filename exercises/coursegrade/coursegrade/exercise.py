"""One exercise's folder: what is in it, read without running it."""

from __future__ import annotations

import ast
import re
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

BY_HAND = re.compile(r"^# \| (Q\d+) [^|\n]*\| (\d+), by hand \|", re.MULTILINE)
TITLE = re.compile(r"^# # (.+)$", re.MULTILINE)
RUBRIC = re.compile(
    r"^# ##+ (Q\d+)\b|^# \*Rubric\b[^*\n]*:\*((?:.*\n# ?(?=[^\s#]))*.*)", re.MULTILINE
)
ITEM = re.compile(r"\s*(?:[-*] )?(.+?) \((\d+(?:\.5)?)(?:, ([^()]+))?\)\s*(?:[;.,]|$|(?=[-*] ))")


class Tests(NamedTuple):
    """The two files of an exercise, as text: a worker on another machine needs no files of ours."""

    public: str
    hidden: str


FORM = "variant.txt"
EXAMPLES = "mutants.toml"


class Exercise:
    """A folder ``NN_name`` with ``NN_name.py``, ``test_public.py`` and ``test_hidden.py``.

    Raises:
        ValueError: a file is missing, or a test has no points.
    """

    def __init__(self, folder):
        self.folder = Path(folder).resolve()
        self.name = self.folder.name
        self.source = self._read(f"{self.name}.py")
        self.tests = Tests(self._read("test_public.py"), self._read("test_hidden.py"))
        form = self.folder / FORM  # a variant's word; the first form has none
        self.form = form.read_text(encoding="utf-8").strip() if form.is_file() else ""

    def _read(self, name: str) -> str:
        path = self.folder / name
        if not path.is_file():
            raise ValueError(f"{self.folder} is no exercise: it has no {name}")
        return path.read_text(encoding="utf-8")

    def examples(self) -> dict[str, dict]:
        """The answers of `mutants.toml`, on which the tests are tried.

        `mutants` by name: the test that must fail, then old and new texts of the solution in turn.
        `lazy` by question and name, and `correct` by question: code in the solution's place.
        """
        import tomllib  # Python 3.11

        path = self.folder / EXAMPLES
        found = tomllib.loads(path.read_text(encoding="utf-8") if path.is_file() else "")
        return {name: found.get(name, {}) for name in ("mutants", "lazy", "correct")}

    def points(self) -> dict[str, int]:
        """The most that each coded question can give."""
        total: dict[str, int] = {}
        for source in self.tests:
            for test in tests_in(ast.parse(source)):
                n, question, number = _marks(test)
                total[question] = total.get(question, 0) + n * number
        return dict(sorted(total.items()))

    def by_hand(self) -> dict[str, int]:
        """The most that each written question can give, as the table of questions says."""
        return {question.lower(): int(n) for question, n in BY_HAND.findall(self.source)}

    def rubrics(self) -> dict[str, list[list[str]]]:
        """Of each written question that has a rubric: what each item asks for, and its points.

        Raises:
            ValueError: the points of a rubric are not those of the table of questions.
        """
        found, question = {}, ""
        for heading, text in RUBRIC.findall(self.source):
            question = heading.lower() or question
            if not heading and question in self.by_hand():
                items = ITEM.findall(re.sub(r"\n# *", " ", text))
                found[question] = [[f"{x} ({note})" if note else x, n] for x, n, note in items]
        for question, items in found.items():
            total, most = sum(Decimal(n) for _, n in items), self.by_hand()[question]
            if total != most:
                raise ValueError(
                    f"{self.name}: the items of the rubric of {question} give {total} points, "
                    f"the table of questions says {most}"
                )
        return found

    def title(self) -> str:
        """The notebook's first heading."""
        found = TITLE.search(self.source)
        return found[1].strip() if found else self.name

    def forbidden(self) -> dict[str, list[str]]:
        """What each question forbids to name: ``FORBIDDEN`` in the hidden tests."""
        for node in ast.parse(self.tests.hidden).body:
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "FORBIDDEN":
                return ast.literal_eval(node.value)
        return {}


def tests_in(tree: ast.Module) -> list[ast.FunctionDef]:
    """The test functions of a parsed file."""
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    return [node for node in functions if node.name.startswith("test_")]


def question_of(test: ast.FunctionDef) -> str:
    """The question that a test belongs to."""
    return _marks(test)[1]


def _marks(test: ast.FunctionDef) -> tuple[int, str, int]:
    """Points, question and number of cases."""
    calls = {d.func.id: d for d in test.decorator_list if isinstance(d, ast.Call)}
    if "points" not in calls:
        raise ValueError(f"{test.name} has no points")
    n, question = (ast.literal_eval(argument) for argument in calls["points"].args)
    number = len(ast.literal_eval(calls["cases"].keywords[0].value)) if "cases" in calls else 1
    return n, question, number
