"""The commands: ``python -m coursegrade release|grade|gradebook|statistics``; `make` calls them."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from .safe import clean


def _release(options) -> None:
    from .exercise import Exercise
    from .release import write

    for path in write(Exercise(options.exercise), options.out):
        print(path)


def _grade(options) -> None:
    from . import batch
    from .exercise import Exercise

    records = batch.grade(
        Exercise(options.exercise),
        options.submissions,
        options.out,
        salt=options.salt,
        jobs=options.jobs,
        scheduler=options.scheduler,
        quiet=options.quiet,
    )
    print(f"{len(records)} hand-ins: {batch.summary(records)}")
    print(f"{options.out / 'gradebook.csv'}, written.csv, results.json and feedback/ beside it")


def _gradebook(options) -> None:
    from . import gradebook, gradescope, late

    if (options.roster is None) == (options.gradescope is None):
        raise ValueError("gradebook needs either a roster (ROSTER=) or a folder (GRADESCOPE=)")
    policy = late.read(options.late) if options.late else None
    if options.gradescope is not None:
        files, notes = gradescope.write(
            options.results, options.gradescope, options.only_auto, policy
        )
        said = f"{len(files)} results for Gradescope in {options.gradescope}"
    else:
        path, filled = gradebook.write(
            options.results,
            options.roster,
            options.out,
            options.column,
            options.only_auto,
            policy,
            options.groups,
        )
        notes = filled.notes
        said = f"{path}: {filled.marks} marks in the column {filled.column!r}"
    for note in notes:
        print(clean(note).replace("\n", " "))
    print(said)
    print(f"{options.results / 'totals.csv'}, and feedback/ with what is known now beside it")


def _statistics(options) -> None:
    from . import class_page
    from .exercise import Exercise

    print(class_page.write(Exercise(options.exercise), options.results))


def _split(options) -> None:
    from . import markers

    names = [name.strip() for name in options.markers.split(",") if name.strip()]
    for words in markers.split(options.results, names, options.by, options.common):
        print(words)


def _merge(options) -> None:
    from . import markers

    for words in markers.merge(options.results):
        print(clean(words).replace("\n", " "))
    print(f"{options.results / 'written.csv'} has all of it")


def _variant(options) -> None:
    from . import variant
    from .exercise import Exercise

    print(variant.write(Exercise(options.exercise), options.word, options.out))


def _autograder(options) -> None:
    from . import autograder
    from .exercise import Exercise

    print(autograder.write(Exercise(options.exercise), options.out, options.salt))


def _autograde(options) -> None:
    from . import autograder

    print(autograder.run(options.folder))


def _similar(options) -> None:
    from . import similar
    from .exercise import Exercise

    alike, missed = similar.write(Exercise(options.exercise), options.submissions, options.out)
    for words in missed:
        print(clean(f"not compared: {words}"), file=sys.stderr)
    for one in alike[:20]:
        print(clean(f"{one.share:4.0%}  {one.one} | {one.other}"))
    print(f"{options.out}: {len(alike)} pairs to look at")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("coursegrade", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    release = commands.add_parser("release", help="write the students' notebook and the solution")
    release.add_argument("exercise", type=Path)
    release.add_argument("out", type=Path)
    release.set_defaults(run=_release)
    grade = commands.add_parser("grade", help="grade a folder of hand-ins")
    for name in ("exercise", "submissions", "out"):
        grade.add_argument(name, type=Path)
    grade.add_argument("-j", "--jobs", type=int, default=os.cpu_count() or 1)
    grade.add_argument("--salt", help="decides the tests' numbers; default: the last run's")
    grade.add_argument("--scheduler", default="", help="a Dask scheduler, tcp://…")
    grade.add_argument("--quiet", action="store_true", help="no progress bar")
    grade.set_defaults(run=_grade)
    page = commands.add_parser("statistics", help="write a page on the class, class.html")
    page.add_argument("exercise", type=Path)
    page.add_argument("results", type=Path, help="the folder that grade wrote")
    page.set_defaults(run=_statistics)
    book = commands.add_parser("gradebook", help="fill an export of Canvas or Moodle")
    book.add_argument("results", type=Path, help="the folder that grade wrote")
    book.add_argument("--roster", type=Path, help="your export; it is not changed")
    book.add_argument("--out", type=Path, help="the file to write; default: beside the export")
    book.add_argument("--column", default="", help="which column; default: called as the exercise")
    book.add_argument("--only-auto", action="store_true", help="leave written questions out")
    book.add_argument("--gradescope", type=Path, help="a folder for results.json files instead")
    book.add_argument("--groups", type=Path, help="Canvas's group set, if groups handed in")
    book.add_argument("--late", type=Path, help="late.toml: what a late hand-in loses")
    book.set_defaults(run=_gradebook)
    split = commands.add_parser("split", help="written.csv for several markers, a table each")
    split.add_argument("results", type=Path, help="the folder that grade wrote")
    split.add_argument("--markers", required=True, help="their names: ann,ben")
    split.add_argument("--by", choices=("student", "question"), default="student")
    split.add_argument("--common", type=int, default=0, help="how many answers all of them mark")
    split.set_defaults(run=_split)
    merge = commands.add_parser("merge", help="the markers' tables back into written.csv")
    merge.add_argument("results", type=Path, help="the folder that grade wrote")
    merge.set_defaults(run=_merge)
    similar = commands.add_parser("similar", help="which hand-ins are alike, for a person to read")
    for name in ("exercise", "submissions", "out"):
        similar.add_argument(name, type=Path)
    similar.set_defaults(run=_similar)
    other = commands.add_parser("variant", help="write an exercise with other names and numbers")
    other.add_argument("exercise", type=Path)
    other.add_argument("word", help="what draws it: a year, a group, a student")
    other.add_argument("out", type=Path)
    other.set_defaults(run=_variant)
    archive = commands.add_parser("autograder", help="write the zip that Gradescope runs")
    archive.add_argument("exercise", type=Path)
    archive.add_argument("out", type=Path, help="a file that ends in .zip")
    archive.add_argument("--salt", default="", help="decides the tests' numbers; default: new")
    archive.set_defaults(run=_autograder)
    inside = commands.add_parser("autograde", help="what the zip calls in Gradescope's container")
    inside.add_argument("folder", type=Path)
    inside.set_defaults(run=_autograde)
    return parser


def main(argv=None) -> int:
    """Run a command; what the user can mend is said in a line, not in a traceback."""
    options = _parser().parse_args(argv)
    try:
        options.run(options)
    except (ValueError, RuntimeError, OSError) as problem:
        print(clean(problem), file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
