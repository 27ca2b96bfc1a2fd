"""A hand-in on its way: what a worker needs of it, and the record that comes back."""

from __future__ import annotations

from typing import NamedTuple

from .exercise import Tests
from .limits import Limits
from .notebook import Given

GRADED, LOOK, UNREADABLE, FAULT = "graded", "graded: look", "unreadable", "fault"
MOST, LONGEST = 50, 300  # flags and failed cells that are told, and characters of one


class Task(NamedTuple):
    """All that a worker needs. Another machine needs only this distribution and a box."""

    student: str
    name: str  # of the file
    raw: bytes | None  # the file, or None where there is not exactly one that can be read
    problem: str  # why there is none
    flags: tuple[str, ...]  # what is known before: lateness, other files
    tests: Tests
    references: tuple[tuple[str, tuple[str, ...], str], ...]  # of each question, for later ones
    by_hand: tuple[str, ...]  # the written questions
    forbidden: dict[str, list[str]]
    given: Given
    salt: str
    limits: Limits


def blank(task: Task) -> dict:
    """The record of a hand-in before anything is known of it."""
    record = {"student": task.student, "status": UNREADABLE, "problem": task.problem[:LONGEST]}
    return record | {"flags": few(task.flags), "cells": {}, "rows": [], "answers": {}}


def few(words) -> list[str]:
    """As many of them, and as much of each, as a person reads."""
    more = [f"and {len(words) - MOST} more"] if len(words) > MOST else []
    return [one[:LONGEST] for one in words[:MOST]] + more
