"""What goes back after marking: totals.csv, complete feedback, and archives that are taken back.

Moodle reads the number behind the name of a file in the archive (`importziplib.php` of its
feedback files). Canvas reads the numbers of the user and of the file that was handed in from a
file's name, and shows what it gets under that file's own name (`abstract_assignment.rb`, where it
infers a comment's context). So Canvas gets a notebook for a notebook.
"""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import Path

from . import feedback, handins, late, reports, written
from .safe import cell
from .totals import Total, most

HEADER = ["student", "points", "of", "before_lateness", "extension", "late", "taken_off"]
HEADER += ["why_not"]
BORN = (1980, 1, 1, 0, 0, 0)  # the same archive from the same marks


def stories(folder, content: dict, found: list[Total], only_auto: bool) -> list[feedback.Story]:
    """What each student is told when the marks are final."""
    about = content | ({"by_hand": {}} if only_auto else {})
    told = reports.stories(about, [total.result for total in found], _by_hand(folder, content))
    final = []
    for story, total in zip(told, found, strict=True):
        if total.points is not None:
            words = late.in_words(total.late) if total.raw != total.points else ""
            lost = total.raw - total.points
            of = most(content, only_auto)
            whole = feedback.Outcome(total.points, of, lost, words, total.extension)
            story = story._replace(total=whole)
        final.append(story)
    return final


def _by_hand(folder, content: dict) -> dict:
    rows = written.read(Path(folder) / "written.csv")
    return written.hands(rows, content["by_hand"], content.get("rubrics", {}))[0]


def with_comments(found: list[Total], told: list[feedback.Story]) -> list[Total]:
    """The totals with what Moodle's column of comments gets."""
    return [
        total._replace(comment="" if story.total is None else feedback.comment(story))
        for total, story in zip(found, told, strict=True)
    ]


def write(folder, content: dict, found: list[Total], told: list[feedback.Story]) -> list[str]:
    """Write all of it into the folder of results, and gradebook.csv anew.

    Returned is what could not go into an archive, and which edits of gradebook.csv count nothing.
    """
    folder = Path(folder)
    of = most(content, only_auto=bool(told) and not told[0].by_hand)
    reports.table(folder / "totals.csv", HEADER, [_row(total, of) for total in found])
    reports.tell(folder / "feedback", told)
    by_hand = _by_hand(folder, content)
    notes = reports.gradebook(folder, content, content["results"], by_hand)
    for system, place in (("moodle", moodle_place), ("canvas", canvas_place)):
        some = [story for story in told if story.record["source"] == system]
        path = folder / f"feedback-{system}.zip"
        if some:
            notes += _archive(path, some, place)
        else:
            path.unlink(missing_ok=True)
    return notes


def _row(total: Total, of: int) -> list[str]:
    name = cell(total.result["student"])
    if total.points is None:
        known = ["", str(of), "", total.extension, late.in_words(total.late), ""]
        return [name, *known, cell(total.why_not)]
    lost = total.raw - total.points
    numbers = [feedback.number(total.points), str(of), feedback.number(total.raw)]
    known = [total.extension, late.in_words(total.late), feedback.number(lost)]
    return [name, *numbers, *known, ""]


def moodle_place(record: dict) -> tuple[str, str]:
    """A file's name in Moodle's archive, and the form that fits there.

    In a folder of its own Moodle would take it, too, and not find it again at the next upload.
    """
    name = re.sub(r"[^\w .-]|_", " ", record["name"]).strip(" .") or "Participant"
    return f"{name}_{int(record['id'])}_assignsubmission_file_feedback.html", "page"


def canvas_place(record: dict) -> tuple[str, str]:
    """The same for Canvas; "" where what was handed in is no notebook."""
    file = record.get("file", "")
    wrote = handins.canvas(file)
    if not wrote or handins.kind(file) != "notebook":
        return "", ""
    name, number, upload, _ = wrote[0]
    if number:
        letters = re.sub(r"[^a-z]", "", name.lower())
        letters = "student" if letters in ("", "anon") else letters  # "anon" is Canvas's word
        name = f"{letters}_{number}"
    return f"{name}_{upload}_feedback.ipynb", "notebook"


def _archive(path: Path, some: list[feedback.Story], place) -> list[str]:
    notes, raw = [], io.BytesIO()
    with zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED) as archive:
        for story in some:
            inside, form = place(story.record)
            if not inside:
                notes.append(f"not in {path.name}: {story.record['student']}, send it yourself")
                continue
            info = zipfile.ZipInfo(inside, BORN)
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, getattr(feedback, form)(story))
    reports.put(path, raw.getvalue())
    return notes
