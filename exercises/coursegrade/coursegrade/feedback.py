"""What a student reads of their hand-in, as Markdown, as a page, and as a notebook.

Two kinds of text meet here. What the instructor wrote (hints, rubrics, comments, reasons) is
Markdown: it stays as it is, and is rendered on a page. What a student may have written is shown as
code, where nothing is markup. Neither can start an HTML tag or show an image.
"""

from __future__ import annotations

import html
import json
import re
from decimal import Decimal
from typing import NamedTuple

from . import markup
from .safe import clean, every
from .task import FAULT, UNREADABLE

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<style>body{{font:16px/1.5 sans-serif;max-width:45em;margin:2em auto;padding:0 1em}}
code{{background:#eee;padding:0 .2em}}pre{{background:#eee;padding:.5em;overflow:auto}}
blockquote{{border-left:.2em solid #999;margin:0 0 1em;
padding-left:1em}}</style></head>
<body>
{body}
</body></html>
"""
TAG = re.compile(r"<(?=[A-Za-z/!?])|!(?=\[)")  # a tag, an image
PLAIN_NAME = re.compile(r"(?!.*www\.)[^\W_]+(?:[ ,.'_-]{1,2}[^\W_]+)*\.?", re.IGNORECASE)


class Item(NamedTuple):
    """An item of a rubric."""

    words: str
    most: str
    got: Decimal


class Hand(NamedTuple):
    """What a person gave a written answer; `mark` is None as long as nobody has marked it."""

    mark: Decimal | None
    most: int
    comment: str
    items: tuple[Item, ...] = ()  # empty where the mark was given as a whole


class Outcome(NamedTuple):
    """What a hand-in is worth in all, and what it lost by being late."""

    points: Decimal
    most: int
    lost: Decimal = Decimal(0)
    late: str = ""  # how late, in words
    extension: str = ""  # how much more time there was, in words


class Story(NamedTuple):
    """All that one student is told."""

    record: dict
    exercise: str
    got: dict[str, Decimal | int | str]  # points by question; "" where they are not known
    most: dict[str, int]
    by_hand: dict[str, Hand]
    total: Outcome | None = None  # None before the marks by hand are in
    raw: dict[str, int | str] = {}  # noqa: RUF012 (a tuple): what the tests gave


def number(value: Decimal | int) -> str:
    """Points as a person writes them: 3, 2.5."""
    return format(Decimal(value).normalize(), "f")


def summary(story: Story) -> list[tuple[str, str]]:
    """The first lines: what it comes to, and what a person changed or said of written answers."""
    record, total, given = story.record, story.total, story.record.get("override", {})
    known = "" not in story.got.values()
    if record["status"] == UNREADABLE and not known:
        return [("p", "Your hand-in could not be read. Please hand it in again."), _why(record)]
    if record["status"] == FAULT and not known:
        return [("p", "Our grader had a fault. You have no marks yet; you need do nothing.")]
    auto = f"{number(sum(story.got.values()))} of {sum(story.most.values())} points"
    if given and "" not in story.raw.values():
        auto += f", {sum(story.raw.values())} by the tests"
    lines = [("p", f"Automatic part: {auto}.")]
    if total is not None:
        words = f"Total: {number(total.points)} of {total.most} points"
        if total.late:
            raw = number(total.points + total.lost)
            words += f", which is {raw} less {number(total.lost)}: it came {total.late} late"
            words += f", after an extension ({total.extension})" if total.extension else ""
        lines.insert(0, ("p", f"{words}."))
    for question, override in given.items():
        got = f"{question.upper()}: {number(override.points)} of {story.most[question]}"
        lines.append(("h", f"{got}, changed by your instructor"))
        lines += [("comment", override.reason)] if override.reason else []
    for question, hand in story.by_hand.items():
        got = "not marked yet" if hand.mark is None else f"{number(hand.mark)} of {hand.most}"
        lines.append(("h", f"{question.upper()}: {got}"))
        lines += [("item", item(one)) for one in hand.items]
        lines += [("comment", hand.comment)] if hand.comment else []
    return lines


def item(one: Item) -> str:
    """An item of a rubric and what it gave, in Markdown."""
    return f"{number(one.got)} of {one.most}: {one.words}"


def _why(record: dict) -> tuple[str, str]:
    return "said", record["problem"]


def lines(story: Story):
    """A hand-in's story as (kind, text): "said" may hold a student's words, the rest is ours."""
    record = story.record
    yield from summary(story)
    if record["status"] in (UNREADABLE, FAULT):
        return
    for place, words in record["cells"].items():
        yield "said", f"cell {place}: {words}"
    for flag in record["flags"]:
        yield "said", f"for your marker: {flag}"
    for question, most in story.most.items():
        by = " by the tests" if question in record.get("override", {}) else ""
        yield (
            "h",
            f"{question.upper()}: {story.raw.get(question, story.got[question])} of {most}{by}",
        )
        for row in record["rows"]:
            if row["question"] == question:
                yield "row", row


def _row(row: dict) -> tuple[str, str]:
    """A test's line, and what the test said."""
    worth = f"{row['points'] * row['ok']} of {row['points']} point{'s' * (row['points'] != 1)}"
    hint = row["hint"] or f"{row['test']}."
    return f"{'✓' if row['ok'] else '✗'} {hint} {worth}.", "" if row["ok"] else row["message"]


def markdown(story: Story) -> str:
    """Feedback in Markdown."""
    found = [f"# {clean(story.exercise)}: {_name(story.record['student'])}\n"]
    for kind, text in lines(story):
        if kind == "row":
            ours, said = _row(text)
            found.append(f"- {_ours(ours)} {code(said)}".rstrip())
        elif kind in ("said", "item"):
            found.append(f"- {code(text) if kind == 'said' else _ours(text)}")
        elif kind == "comment":
            quoted = "\n".join(f"> {line}" for line in _ours(text).split("\n"))
            found.append("\n" * found[-1].startswith("- ") + quoted + "\n")
        else:
            found.append(f"\n## {text}\n" if kind == "h" else f"{text}\n")
    return "\n".join(found) + "\n"


def _ours(text: str) -> str:
    """Markdown that the instructor wrote; `a<b` of a formula gets a space, and is no tag.

    An image, which a reader of the file would load from a host, gets one too, and is a link.
    """
    return TAG.sub(r"\g<0> ", every(text))


def code(text: str) -> str:
    """Any text as a code span of Markdown, in which nothing is markup."""
    line = TAG.sub("< ", " ".join(clean(text).split()))
    ticks = "`" * (1 + max(map(len, re.findall("`+", line)), default=0))
    pad = " " * line.startswith("`") or " " * line.endswith("`")
    return f"{ticks}{pad}{line}{pad}{ticks}" if line else ""


def _name(student: str) -> str:
    line = clean(student).replace("\n", " ")
    return line if PLAIN_NAME.fullmatch(line) else code(line)


def body(some) -> str:
    """(kind, text) as HTML: no script, no address, no tag that is not ours."""
    found = []
    for kind, text in some:
        if kind == "row":
            ours, said = _row(text)
            found.append(f"<p>{markup.line(ours)} {_code(said)}</p>")
        elif kind in ("said", "item"):
            found.append(f"<p>{_code(text) if kind == 'said' else markup.line(text)}</p>")
        elif kind == "comment":
            found.append(f"<blockquote>{markup.html(text)}</blockquote>")
        else:
            tag = "h2" if kind == "h" else "p"
            found.append(f"<{tag}>{html.escape(text)}</{tag}>")
    return "\n".join(found)


def _code(text: str) -> str:
    return f"<code>{html.escape(clean(text))}</code>" if text else ""


def page(story: Story) -> str:
    """Feedback as a page of its own."""
    title = html.escape(f"{clean(story.exercise)}: {clean(story.record['student'])}")
    return PAGE.format(title=title, body=f"<h1>{title}</h1>\n{body(lines(story))}")


def comment(story: Story) -> str:
    """The summary in one line of HTML, for a column of comments."""
    return body(summary(story)).replace("\n<", "<").replace("\n", "&#10;")


def notebook(story: Story) -> str:
    """Feedback as a notebook of one cell of text: what opened the hand-in opens it."""
    cell = {"cell_type": "markdown", "id": "feedback", "metadata": {}, "source": markdown(story)}
    content = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(content, indent=1)
