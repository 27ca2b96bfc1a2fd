"""The written answers of a notebook, found by their question and not by their place."""

from __future__ import annotations

import re

from .notebook import PLACEHOLDER, Given

MOST = 5000  # characters of an answer
HEADING = re.compile(r"\s*#{1,6}[ \t]+(Q\d+)\b", re.IGNORECASE)
ANSWER = re.compile(r"\s*\*\*Answer (Q\d+):\*\*(.*)", re.DOTALL | re.IGNORECASE)


def answers(cells, given: Given = Given(), by_hand=()) -> dict[str, str]:  # noqa: B008 (a tuple)
    """The answers to written questions: what is labelled, and what stands below the heading.

    Args:
        given: what is not the student's.
        by_hand: the written questions; each has an answer, which may be "".
    """
    found: dict[str, list[str]] = {question: [] for question in by_hand}
    code: dict[str, list[str]] = {question: [] for question in by_hand}
    question = ""
    for kind, source in cells:
        label = ANSWER.match(source) if kind != "code" else None
        heading = HEADING.match(source) if kind == "markdown" else None
        if label:
            question = label[1].lower()
            if question in by_hand:
                found[question].append(label[2])
            continue
        if heading:
            question = heading[1].lower()
        if question not in by_hand or not source.strip():
            continue
        own = source
        for text in given.texts:
            if text and source.lstrip().startswith(text):
                own = source.lstrip()[len(text) :]
        if kind == "code":
            code[question].append(own)
        elif own.strip():
            found[question].append(own)
    texts = {question: _joined(parts) for question, parts in found.items()}
    parts = {question: (text, _joined(code.get(question, []))) for question, text in texts.items()}
    return {question: "\n\n".join(filter(None, both)) for question, both in parts.items()}


def _joined(parts: list[str]) -> str:
    texts = [_without_comments(part).strip() for part in parts]
    return "\n".join(text for text in texts if text not in ("", PLACEHOLDER))[:MOST]


def _without_comments(text: str) -> str:
    """Without HTML's comments; one that never ends is text."""
    kept, place = [], 0
    while (start := text.find("<!--", place)) >= 0 and (end := text.find("-->", start)) >= 0:
        kept.append(text[place:start])
        place = end + len("-->")
    return "".join([*kept, text[place:]])
