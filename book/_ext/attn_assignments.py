"""The graded assignment of a chapter: its released notebook goes with the site.

`` {assignment}`01_cues` `` becomes a link to the students' notebook of `exercises/01_cues`, with
the minutes and points that its own table of questions says. It is released anew in every build:
a solution that would be seen stops the build.
"""

import re
from pathlib import Path

from docutils import nodes
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxRole

from coursegrade import release
from coursegrade.exercise import Exercise

FOLDER = "assignments"  # of the site
QUESTION = re.compile(r"^# \| Q\d[^|]*\| (\d+)[^|]*\| (\d+) \|", re.MULTILINE)


def describe(exercise: Exercise) -> str:
    """Questions, minutes and points of an assignment, in words."""
    rows = [
        (int(points), int(minutes))
        for points, minutes in QUESTION.findall(exercise.source)
    ]
    points, minutes = (sum(column) for column in zip(*rows, strict=True))
    return f"{len(rows)} questions, about {minutes} minutes, {points} points"


class Assignment(SphinxRole):
    """A link to the students' notebook of an exercise."""

    def run(self):
        root = Path(self.env.srcdir) / "exercises" / self.text
        try:
            exercise = Exercise(root)
            self.env.attn_assignments[self.text] = release.build(exercise)
        except (release.Leak, ValueError) as error:
            raise ExtensionError(f"attn_assignments: {error}") from error
        self.env.note_dependency(root / f"{self.text}.py")
        up = "../" * self.env.docname.count("/")
        link = nodes.reference(
            "",
            "the assignment's notebook",
            refuri=f"{up}{FOLDER}/{self.text}.ipynb",
            internal=True,
        )
        return [link, nodes.Text(f" ({describe(exercise)})")], []


def prepare(app) -> None:
    """A place for what the roles release."""
    app.env.attn_assignments = {}


def write(app, error) -> None:
    """Put the released notebooks beside the pages."""
    if error or app.builder.format != "html":
        return
    for name, text in app.env.attn_assignments.items():
        path = Path(app.outdir) / FOLDER / f"{name}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def setup(app):
    app.add_role("assignment", Assignment())
    app.connect("builder-inited", prepare)
    app.connect("build-finished", write)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
