"""The stored result as a table in Markdown, for the terminal and for the book's appendix."""

from __future__ import annotations

import json
from pathlib import Path

STORED = Path(__file__).parent / "results" / "bench.json"
HEAD = (
    "subject, setting",
    "pass",
    "against",
    "ms, ours / peer",
    "ratio",
    "goal",
    "on a cold heap",
    "MB, ours / peer",
    "ratio",
    "goal",
)


def load() -> dict:
    """The result that `make bench` stored last."""
    return json.loads(STORED.read_text(encoding="utf-8"))


def goals(result: dict):
    """Every goal as (row, measure, ratio, limit)."""
    for row in result["rows"]:
        for measure, limit in row["goals"].items():
            yield row, measure, row[measure]["ratio"], limit


def missed(result: dict) -> list[str]:
    """A sentence for each goal that the result misses."""
    return [
        f"{row['subject']}, {row['setting']}: {measure} {ratio:.2f}, goal {limit:.2f}"
        for row, measure, ratio, limit in goals(result)
        if ratio > limit
    ]


def table(result: dict) -> str:
    """One line a row; a goal that is met is followed by ✓, one that is missed by ✗."""
    lines = [HEAD, ["---"] * 3 + ["---:"] * (len(HEAD) - 3), *map(_cells, result["rows"])]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def conditions(result: dict) -> str:
    """Where, with what and when it was measured."""
    machine, versions = result["machine"], result["versions"]
    named = ", ".join(f"{name} {version}" for name, version in versions.items())
    return (
        f"{machine['cpu']}, {machine['cores']} cores, {result['threads']} thread used; "
        f"{machine['system']}; {named}; {result['date']}"
    )


def _cells(row: dict) -> list[str]:
    time, memory = row["time"], row["memory"]
    return [
        f"{row['subject']}, {row['setting']}",
        row["pass"],
        row["peer"],
        f"{_number(time['ours_ms'])} / {_number(time['peer_ms'])}",
        f"{time['ratio']:.2f}",
        _goal(row, "time"),
        f"{row['cold_ratio']:.2f}",
        f"{memory['ours_mb']:.1f} / {memory['peer_mb']:.1f}",
        f"{memory['ratio']:.2f}",
        _goal(row, "memory"),
    ]


def _number(x: float) -> str:
    return f"{x:.0f}" if x >= 100 else f"{x:.3g}"


def _goal(row: dict, measure: str) -> str:
    if measure not in row["goals"]:
        return ""
    limit = row["goals"][measure]
    return f"≤ {limit:.2f} {'✓' if row[measure]['ratio'] <= limit else '✗'}"
