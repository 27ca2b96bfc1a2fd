"""The graded assignment of a chapter: its released notebook goes with the site.

`` {assignment}`01_cues` `` becomes a link to the students' notebook of `exercises/01_cues`, with
the minutes and points that its own table of questions says. A solution that would be seen stops
the build.
"""

import re
from pathlib import Path

from docutils import nodes
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxRole

from devkit.chapters import chapter_of

FOLDER = "assignments"  # of the site
QUESTION = re.compile(r"^# \| Q\d[^|]*\| (\d+)[^|]*\| (\d+) \|", re.MULTILINE)


def describe(source: str) -> str:
    """Questions, minutes and points of an assignment, in words."""
    rows = [(int(points), int(minutes)) for points, minutes in QUESTION.findall(source)]
    points, minutes = (sum(column) for column in zip(*rows, strict=True))
    return f"{len(rows)} questions, about {minutes} minutes, {points} points"


class Assignment(SphinxRole):
    """A link to the students' notebook of an exercise."""

    def run(self):
        chapter = chapter_of(self.env.srcdir, self.env.docname)
        if chapter is None or chapter.assignment != self.text:
            raise ExtensionError(
                f"attn_assignments: {self.env.docname}: its metadata names another assignment than "
                f"its text: {chapter and chapter.assignment!r}, {self.text!r}"
            )
        root = Path(self.env.srcdir) / "exercises" / self.text
        path = Path(self.env.app.outdir) / FOLDER / f"{self.text}.ipynb"
        if self.env.app.builder.format == "html" and not path.is_file():  # of another page
            self.release(root, path)
        up = "../" * self.env.docname.count("/")
        link = nodes.reference(
            "", "the assignment's notebook", refuri=f"{up}{FOLDER}/{self.text}.ipynb", internal=True
        )
        source = (root / f"{self.text}.py").read_text(encoding="utf-8")
        return [link, nodes.Text(f" ({describe(source)})")], []

    def release(self, root: Path, path: Path) -> None:
        """Put the released notebook beside the pages."""
        from coursegrade import (
            release,
        )  # torch comes with it
        from coursegrade.exercise import Exercise

        try:
            text = release.build(Exercise(root))
        except (release.Leak, ValueError) as error:
            raise ExtensionError(f"attn_assignments: {error}") from error
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def setup(app):
    app.add_role("assignment", Assignment())
    return {"parallel_read_safe": False, "parallel_write_safe": True}
