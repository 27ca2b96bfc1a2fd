"""The boxes "Predict, then run" of a notebook: what a reader may answer, and what stays closed.

A box is an admonition of the class `attn-predict`. It ends with a list of choices; which of them
is right stands in the metadata of its cell, where nobody reads it by accident:

    {"attnbook": {"predict": {"right": 2, "shows": "0.834"}}}

`right` counts from 1. `shows` is a piece of the output on which that rests; a test looks for it. A
box that asks for a number has no list, and says `{"number": "0.96", "within": 0.05}`: the number as
the output shows it, and how far an answer may be from it.

Closed are the outputs of the code cells that follow, as far as the next text, the diagrams on the
way, and that text's first paragraph, whose first sentence says why. Where the answer stands further
down, `until` names the last cell of code. `why` names another sentence, `[2, 1]` the first of the
second block of text, and what is before it is closed, too; `[]` says that no text tells the answer.
"""

import re
from dataclasses import dataclass

CLASS = "attn-predict"
BOX = re.compile(rf"^:::\{{admonition\}}[^\n]*\n:class: {CLASS}\n(.*?)\n:::$", re.M | re.S)
CHOICE = re.compile(r"^- (.*(?:\n  .*)*)", re.M)


@dataclass(frozen=True)
class Box:
    """A question; most take an answer. Cells are counted as in the notebook."""

    cell: str  # its id
    choices: tuple[str, ...]
    right: int | None  # counted from 1
    number: str | None  # where there are no choices
    within: float
    shows: str  # a piece of the output that makes the right one right
    code: tuple[int, ...]  # cells whose outputs are closed
    why: tuple[int, ...]  # block and sentence of the text below, counted from 1

    @property
    def answers(self) -> bool:
        """Whether it takes an answer: one that does not closes nothing."""
        return bool(self.choices or self.number)


def boxes(notebook) -> list[Box]:
    """Every box of a notebook, in order."""
    cells, found = notebook["cells"], []
    for place, cell in enumerate(cells):
        for text in BOX.findall("".join(cell["source"])):
            said = cell["metadata"].get("attnbook", {}).get("predict", {})
            choices = tuple(" ".join(choice.split()) for choice in CHOICE.findall(text))
            code = below(cells, place + 1, said.get("until"))
            found.append(
                Box(
                    cell["id"],
                    choices,
                    said.get("right"),
                    said.get("number"),
                    said.get("within", 0.0),
                    said.get("shows", said.get("number", "")),
                    code,
                    tuple(said.get("why", (1, 1))),
                )
            )
    return found


def below(cells, place: int, until: str | None) -> tuple[int, ...]:
    """The cells of code from `place` to the next text; a diagram is none."""
    code = []
    for number, cell in enumerate(cells[place:], start=place):
        if cell["cell_type"] == "code":
            code += [] if shows_source(cell) else [number]
            until = None if cell["id"] == until else until
        elif until is None and not "".join(cell["source"]).startswith("```{diagram}"):
            break
    return tuple(code)


def shows_source(cell) -> bool:
    """Whether a cell shows code of the package: that is no result."""
    return any("text/markdown" in output.get("data", {}) for output in cell["outputs"])


def printed(notebook, box: Box) -> str:
    """What the closed outputs say in words, with single spaces."""
    texts = []
    for number in box.code:
        for output in notebook["cells"][number]["outputs"]:
            data = output.get("data", {})
            texts += ["".join(output.get("text", "")), "".join(data.get("text/plain", ""))]
    return " ".join(" ".join(texts).split())
