"""What a cell holds, as Python: IPython's syntax by IPython's own transformer, and where a
statement is no Python, all the others. Nothing is run, and the work is bounded.
"""

from __future__ import annotations

import ast
import codeop
import functools
import re
import warnings

CELL_MAGIC = re.compile(r"\s*%%(\w+)[ \t]*([^\n]*)\n?")
DEEPEST = 8  # cell magics, one in the other
FILES = ("writefile", "file")  # the magics that write a cell into a file
FOREIGN = (  # and those whose cells are not for this process: in another language, or elsewhere
    *("bash", "sh", "shell", "script", "system", "sx", "cmd", "python", "python2", "python3"),
    *("pypy", "perl", "ruby", "html", "HTML", "javascript", "js", "latex", "markdown", "svg"),
    *("SVG", "sql", "bigquery", "R", "julia", "octave", "matlab", "cython", "cu", "cpp"),
)
TIMED = re.compile(r"(^|=)([ \t]*)%time[ \t]+(?!-)", re.MULTILINE)  # what it times counts
# No statement begins with such a line: it belongs to the one before.
GOES_ON = re.compile(r"\s|#|$|[)\]}]|(?:else|elif|except|finally)\b")
LEAST_WORK = 2_000_000  # characters that may be read for the smallest cell


@functools.lru_cache(maxsize=64)  # a hand-in's cells are asked for several times
def python(cell: str) -> str | None:
    """A cell as Python that can be parsed, None where it is for another language.

    Magics become calls of `get_ipython()`. Of statements that are no Python the first becomes its
    SyntaxError, to be raised when the cell runs, the others go. Statements keep their lines.
    """
    text = _without_cell_magic(cell.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n"))
    if text is None or fault(text) is None:
        return text
    work = Work(text)
    mended, whole = work.mended(text)
    return mended if whole else work.python(text) or mended


def fault(text: str) -> Exception | None:
    """Why a text is no Python, None where it is."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "\d" is the student's own affair
            ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as problem:
        return problem
    return None


def _without_cell_magic(text: str) -> str | None:
    """What a cell does for this process, without the magics that are for all of it."""
    for _ in range(DEEPEST):
        match = CELL_MAGIC.match(text)
        if not match:
            break
        name, words, body = match[1], match[2], text[match.end() :]
        if name in FOREIGN:
            return None
        if name in FILES:
            body = body.removesuffix("\n") + "\n"
            return f"get_ipython().run_cell_magic({name!r}, {words!r}, {body!r})\n"
        kept = [word for word in words.split() if word.isidentifier() and name == "capture"]
        first = f"{kept[0]} = get_ipython()" if kept else ""  # stands in for what was printed
        text = "\n" * (match[0].count("\n") - 1) + first + "\n" + body
    return text


class Work:
    """The mending of one cell; how much of it there may be, in characters that are read."""

    def __init__(self, text: str):
        self._left = LEAST_WORK + len(text)

    def _fault(self, text: str) -> Exception | None:
        self._left -= 50 + len(text)
        return fault(text)

    def python(self, text: str) -> str | None:
        """A text that is no Python, as IPython understands it; None where that is none either."""
        from IPython.core.inputtransformer2 import TransformerManager

        marks = sum(map(text.count, "%!?"))  # it reads all of it once more for each that it finds
        cost = (100 + len(text)) * (1 + marks)
        if cost > self._left:
            return None
        self._left -= cost
        try:
            text = TransformerManager().transform_cell(TIMED.sub(r"\1\2", text))
        except Exception:  # whatever the text does to it: then it is none of IPython's
            return None
        return None if self._fault(text) else text

    def mended(self, text: str) -> tuple[str, bool]:
        """Statement by statement, as far as the work goes; and whether all of it could be read."""
        pieces, place, line, found, whole = _pieces(text), 0, 1, [], True
        while place < len(pieces):
            statement, end = self._statement(pieces, place)
            if statement is None and whole:
                whole, problem = False, fault("\n" * (line - 1) + pieces[place])
                at = getattr(problem, "lineno", None) or line
                words = getattr(problem, "msg", problem or "too much before is no Python")
                words = f"{str(words).partition(' (detected')[0]} (line {at})"
                statement = f"raise SyntaxError({words!r})"
            room = sum(piece.count("\n") for piece in pieces[place:end])
            statement = statement or ""
            found.append(statement + "\n" * (room - statement.count("\n")))
            place, line = end, line + room
        return "".join(found), whole

    def _statement(self, pieces: list[str], place: int) -> tuple[str | None, int]:
        """The statement that begins with a piece, None where it is no Python; and where it ends."""
        end = place
        while end < len(pieces):
            if self._left < 0:
                return None, len(pieces)
            end += 1
            text = "".join(pieces[place:end])
            problem = self._fault(text)
            if problem is None:
                return text, end
            if not self._incomplete(text):
                break
            while (
                "triple-quoted" in str(problem) and end < len(pieces) and not _quotes(pieces[end])
            ):
                end += 1
        return self.python(pieces[place]), place + 1

    def _incomplete(self, text: str) -> bool:
        """Whether more lines could make Python of it."""
        self._left -= 3 * len(text)
        try:
            return codeop.compile_command(text, symbol="exec") is None
        except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError):
            return False


def _pieces(text: str) -> list[str]:
    """A text cut before each line that may begin a statement."""
    pieces, goes_on = [[]], True
    for line in text.split("\n"):
        if not goes_on and not GOES_ON.match(line):
            pieces.append([])
        pieces[-1].append(line + "\n")
        goes_on = line.endswith("\\")
    return ["".join(piece) for piece in pieces]


def _quotes(piece: str) -> bool:
    return '"""' in piece or "'''" in piece
