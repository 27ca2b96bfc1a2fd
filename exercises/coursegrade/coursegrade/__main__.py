"""The commands: ``python -m coursegrade release|grade|gradebook|statistics``; `make` calls them."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from .exercise import Exercise
from .safe import clean


def _release(options) -> None:
    from .release import write

    for path in write(options.exercise, options.out):
        print(path)


def _grade(options) -> None:
    from . import batch

    records = batch.grade(
        options.exercise,
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

    print(class_page.write(options.exercise, options.results))


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

    print(variant.write(options.exercise, options.word, options.out))


def _autograder(options) -> None:
    from . import autograder

    print(autograder.write(options.exercise, options.out, options.salt))


def _autograde(options) -> None:
    from . import autograder

    print(autograder.run(options.folder))


def _similar(options) -> None:
    from . import similar

    alike, missed = similar.write(options.exercise, options.submissions, options.out)
    for words in missed:
        print(clean(f"not compared: {words}"), file=sys.stderr)
    for one in alike[:20]:
        print(clean(f"{one.share:4.0%}  {one.one} | {one.other}"))
    print(f"{options.out}: {len(alike)} pairs to look at")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("coursegrade", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(run, words: str, *paths: str):
        one = commands.add_parser(run.__name__[1:], help=words)
        one.set_defaults(run=run)
        for name in paths:
            help_ = "the folder that grade wrote" if name == "results" else None
            one.add_argument(name, type=Path, help=help_)
        return one.add_argument

    command(_release, "write the students' notebook and the solution", "exercise", "out")
    add = command(_grade, "grade a folder of hand-ins", "exercise", "submissions", "out")
    add("-j", "--jobs", type=int, default=os.cpu_count() or 1)
    add("--salt", help="decides the tests' numbers; default: the last run's")
    add("--scheduler", default="", help="a Dask scheduler, tcp://…")
    add("--quiet", action="store_true", help="no progress bar")
    command(_statistics, "write a page on the class, class.html", "exercise", "results")
    add = command(_gradebook, "fill an export of Canvas or Moodle", "results")
    add("--roster", type=Path, help="your export; it is not changed")
    add("--out", type=Path, help="the file to write; default: beside the export")
    add("--column", default="", help="which column; default: called as the exercise")
    add("--only-auto", action="store_true", help="leave written questions out")
    add("--gradescope", type=Path, help="a folder for results.json files instead")
    add("--groups", type=Path, help="Canvas's group set, if groups handed in")
    add("--late", type=Path, help="late.toml: what a late hand-in loses")
    add = command(_split, "written.csv for several markers, a table each", "results")
    add("--markers", required=True, help="their names: ann,ben")
    add("--by", choices=("student", "question"), default="student")
    add("--common", type=int, default=0, help="how many answers all of them mark")
    command(_merge, "the markers' tables back into written.csv", "results")
    alike = "which hand-ins are alike, for a person to read"
    command(_similar, alike, "exercise", "submissions", "out")
    add = command(_variant, "write an exercise with other names and numbers", "exercise")
    add("word", help="what draws it: a year, a group, a student")
    add("out", type=Path)
    add = command(_autograder, "write the zip that Gradescope runs", "exercise")
    add("out", type=Path, help="a file that ends in .zip")
    add("--salt", default="", help="decides the tests' numbers; default: new")
    command(_autograde, "what the zip calls in Gradescope's container", "folder")
    return parser


def main(argv=None) -> int:
    """Run a command; what the user can mend is said in a line, not in a traceback."""
    options = _parser().parse_args(argv)
    try:
        if "exercise" in options:
            options.exercise = Exercise(options.exercise)
        options.run(options)
    except (ValueError, RuntimeError, OSError) as problem:
        print(clean(problem), file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
