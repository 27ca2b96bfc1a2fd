"""Hand-ins that are alike beyond what the template explains. A report for a person, never a mark.

The method is winnowing (Schleimer, Wilkerson and Aiken, 2003, doi:10.1145/872757.872770), as MOSS
has it: of the hashes of all runs of `RUN` tokens the least in each window of `WINDOW` is kept, so a
common run of RUN + WINDOW - 1 tokens is always found. Names that a hand-in itself gives are one
and the same token; comments and layout are none.
"""

from __future__ import annotations

import hashlib
import html
import io
import itertools
import json
import keyword
import os
import pickle
import re
import subprocess
import sys
import tokenize
from pathlib import Path
from typing import NamedTuple

from . import answers, feedback, handins, limits, notebook, safe, unpack
from .exercise import Exercise
from .limits import Limits
from .notebook import Unreadable

RUN, WINDOW = 12, 5
LEAST = 8  # fingerprints of its own that two hand-ins must share
SHARE = 0.4  # of what the smaller one has of its own; two independent solutions share 0.1 at most
COMMON = 10  # what more hand-ins than this and a tenth of the class have is common knowledge
MOST_TOKENS = 50_000
WHOLE = 300  # seconds for a process with one hand-in: it waits where the machine is busy
LAYOUT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
LAYOUT |= {tokenize.ENCODING, tokenize.ENDMARKER}


class Prints(NamedTuple):
    """A hand-in's fingerprints, each with its line, and the lines."""

    places: dict[str, int]
    lines: list[str]


class Pair(NamedTuple):
    """Two hand-ins that are alike; `other` may be a public solution."""

    one: str
    other: str
    share: float  # of the smaller one's own fingerprints
    common: frozenset[str]


def tokens(source: str, given: set[str]) -> list[tuple[str, int]]:
    """(token, line) of Python code; names in `given` become one and the same."""
    found = []
    try:
        for one in tokenize.generate_tokens(io.StringIO(source).readline):
            if one.type in LAYOUT:
                continue
            if one.type == tokenize.STRING:
                word = "'"
            elif one.type == tokenize.NAME and one.string in given:
                word = "x"
            else:
                word = one.string
            found.append((word, one.start[0]))
    except (tokenize.TokenError, SyntaxError, RecursionError):
        pass  # what stands before the fault is compared
    return found


def own_names(sources: list[str]) -> set[str]:
    """The names that code itself gives: to variables, arguments, functions, attributes."""
    import ast

    found = set()
    for source in sources:
        tree = notebook.tree_of(source)
        for node in ast.walk(tree) if tree is not None else ():
            if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
                found.add(node.id if isinstance(node, ast.Name) else node.attr)
            elif isinstance(node, ast.FunctionDef | ast.ClassDef):
                found.add(node.name)
            elif isinstance(node, ast.arg):
                found.add(node.arg)
    return found - set(keyword.kwlist)


def winnow(words: list[tuple[str, int]], window: int = WINDOW) -> dict[str, int]:
    """Of all runs of `RUN` tokens the chosen hashes, each with the line where it first stands."""
    runs = [
        (_hash(" ".join(word for word, _ in words[i : i + RUN])), words[i][1])
        for i in range(len(words) - RUN + 1)
    ]
    found: dict[str, int] = {}
    for i in range(max(0, len(runs) - window + 1)):
        # The last of equal ones, as the authors advise: fewer are chosen.
        least = min(reversed(runs[i : i + window]), key=lambda run: run[0])
        found.setdefault(*least)
    return found


def _hash(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def prints(cells, by_hand=(), window: int = WINDOW) -> Prints:
    """The fingerprints of a notebook: of its code, and of its written answers word by word.

    Raises:
        Unreadable: it has far more code than an answer needs.
    """
    sources = [source for _, source in notebook.code_cells(cells)]
    code = "\n".join(sources)
    written = answers.answers(cells, by_hand=by_hand)
    text = "\n".join(written.values())
    lines = code.split("\n")
    words = tokens(code, own_names(sources))
    said = [
        (f"“{word.lower()}", len(lines) + number)
        for number, line in enumerate(text.split("\n"), start=1)
        for word in re.findall(r"\w+", line)
    ]
    if len(words) + len(said) > MOST_TOKENS:
        raise Unreadable(f"it has more than {MOST_TOKENS} words of code")
    return Prints(winnow(words, window) | winnow(said, window), lines + text.split("\n"))


def read(name: str, raw: bytes, by_hand: tuple[str, ...]) -> Prints:
    """A hand-in's fingerprints, read in a process of its own with a deadline and little memory.

    Raises:
        Unreadable: it can't be read, or not so.
    """
    here = str(Path(__file__).resolve().parents[1])
    paths = os.pathsep.join([here, *filter(None, [os.environ.get("PYTHONPATH")])])
    try:
        done = subprocess.run(
            [sys.executable, "-m", "coursegrade.similar"],
            input=pickle.dumps((name, raw, by_hand)),
            capture_output=True,
            timeout=WHOLE,
            env={**os.environ, "PYTHONPATH": paths},
        )
        answer = json.loads(done.stdout)
    except (subprocess.TimeoutExpired, ValueError):
        raise Unreadable(limits.too_much(Limits())[0]) from None
    if isinstance(answer, str):
        raise Unreadable(answer)
    return Prints(*answer)


def _work() -> None:
    name, raw, by_hand = pickle.load(sys.stdin.buffer)
    try:
        with limits.reading(Limits()):
            answer = prints(unpack.cells(name, raw), by_hand)
    except Unreadable as problem:
        answer = str(problem)
    except MemoryError:
        answer = limits.too_much(Limits())[1]
    json.dump(answer, sys.stdout)


def public(exercise: Exercise) -> dict[str, Prints]:
    """What this repository shows to everybody: solutions, and what its tests compare with.

    Each function of the tests is a text: whoever takes one of many has little of them all.
    """
    import ast

    from . import release  # it imports torch, which a process for each hand-in shall not do

    by_hand = tuple(exercise.by_hand())
    solution = notebook.parse(release.build(exercise, solution=True).encode())
    found = {"the solution": prints(solution, by_hand)}
    released = notebook.parse(release.build(exercise).encode())  # names mean the same in both
    other = "\n\n".join(exercise.examples()["correct"].values())
    found |= {"mutants.toml": prints([("code", other), *released])} if other else {}
    for name, source in exercise.tests._asdict().items():
        for node in ast.parse(source).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name[:5] != "test_":
                cell = "code", ast.get_source_segment(source, node)
                found[f"test_{name}.py, {node.name!r}"] = prints([cell, *released])
    return found


def template(exercise: Exercise) -> set[str]:
    """All hashes of what students were given, so that no run of it counts."""
    from . import release

    cells = notebook.parse(release.build(exercise).encode())
    return set(prints(cells, tuple(exercise.by_hand()), window=1).places)


def pairs(found: dict[str, Prints], given: set[str], shown: dict[str, Prints]) -> list[Pair]:
    """What is alike, the most alike first.

    Args:
        found: the hand-ins by student.
        given: hashes of the template.
        shown: public solutions by name; runs of these are compared with them alone.
    """
    own = {who: set(one.places) - given for who, one in found.items()}
    secret = {name: set(one.places) - given for name, one in shown.items()}
    count: dict[str, int] = {}
    for one in itertools.chain.from_iterable(own.values()):
        count[one] = count.get(one, 0) + 1
    known = {one for one, n in count.items() if n > max(COMMON, len(own) / 10)}
    known = known.union(*secret.values())
    alike = [_pair(who, name, own[who], secret[name]) for who in own for name in secret]
    rest = {who: some - known for who, some in own.items()}
    alike += [_pair(a, b, rest[a], rest[b]) for a, b in itertools.combinations(rest, 2)]
    enough = [one for one in alike if len(one.common) >= LEAST and one.share >= SHARE]
    return sorted(enough, key=lambda one: (-one.share, -len(one.common), one.one, one.other))


def _pair(one: str, other: str, a: set[str], b: set[str]) -> Pair:
    common = frozenset(a & b)
    return Pair(one, other, len(common) / max(1, min(len(a), len(b))), common)


def write(exercise: Exercise, submissions, out: Path) -> tuple[list[Pair], list[str]]:
    """Write the report, a page; returns the pairs, and what could not be compared."""
    found, missed = {}, []
    by_hand = tuple(exercise.by_hand())
    for one in handins.find(submissions)[0]:
        try:
            if not one.files:
                raise Unreadable(one.problem or "no notebook")
            path = one.files[0]
            found[one.student] = read(path.name, handins.read_bytes(path), by_hand)
        except Unreadable as problem:
            missed.append(f"{one.student}: {problem}")
    shown = public(exercise)
    alike = pairs(found, template(exercise), shown)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(_page(exercise, alike, found | shown, missed), encoding="utf-8")
    return alike, missed


def _page(exercise: Exercise, alike: list[Pair], found: dict[str, Prints], missed) -> str:
    parts = [
        f"<h1>{html.escape(exercise.title())}: what is alike</h1>",
        f"<p>{len(alike)} pairs of {len(found)} texts share {SHARE:.0%} or more of what the "
        "smaller one has beyond the template. Short questions have few good answers: read the "
        "marked lines before you think of anybody what is not so.</p>",
    ]
    for number, pair in enumerate(alike, start=1):
        title = f"{number}. {pair.one} and {pair.other}: {pair.share:.0%}"
        parts.append(f"<h2>{html.escape(safe.clean(title))}</h2><table><tr>")
        for who in (pair.one, pair.other):
            parts.append(f"<td><pre>{_marked(found[who], pair.common)}</pre></td>")
        parts.append("</tr></table>")
    parts += ["<h2>Not compared</h2>"] if missed else []
    parts += [f"<p>{html.escape(safe.clean(words))}</p>" for words in missed]
    return feedback.PAGE.format(title="What is alike", body="\n".join(parts))


def _marked(one: Prints, common: frozenset[str]) -> str:
    """The lines in which a common run begins, and one before and after, the former in bold."""
    hits = {line for mark, line in one.places.items() if mark in common}
    near = sorted({line + step for line in hits for step in (-1, 0, 1)})
    shown = []
    for line in near:
        if 1 <= line <= len(one.lines):
            text = html.escape(safe.clean(one.lines[line - 1])[:200])
            shown.append(f"{line:4} " + (f"<b>{text}</b>" if line in hits else text))
    return "\n".join(shown)


if __name__ == "__main__":
    _work()
