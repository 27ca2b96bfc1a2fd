"""The stored result as a table in Markdown, for the terminal and for the book's appendix."""

from __future__ import annotations

import json
from pathlib import Path

STORED = Path(__file__).parent / "results" / "bench.json"
HEAD = (
    "setting",
    "pass",
    "ms, ours / peer",
    "time, ratio",
    "on a cold heap",
    "MB, ours / peer",
    "memory, ratio",
)


def load() -> dict:
    """The result that `make bench` stored last."""
    return json.loads(STORED.read_text(encoding="utf-8"))


def goals(result: dict):
    """Every goal as (row, measure, value, limit): a ratio of time or memory, or our "ms"."""
    for row in result["rows"]:
        for measure, limit in row["goals"].items():
            value = row["time"]["ours_ms"] if measure == "ms" else row[measure]["ratio"]
            yield row, measure, value, limit


def missed(result: dict) -> list[str]:
    """A sentence for each goal that the result misses."""
    return [
        f"{row['subject']}, {row['setting']}: {measure} {value:.2f}, goal {limit:.2f}"
        for row, measure, value, limit in goals(result)
        if value > limit
    ]


def groups(result: dict) -> dict[tuple[str, str], list[dict]]:
    """The rows of each subject and peer."""
    found: dict[tuple[str, str], list[dict]] = {}
    for row in result["rows"]:
        found.setdefault((row["subject"], row["peer"]), []).append(row)
    return found


def table(result: dict) -> str:
    """A table for each subject and peer; a goal that is met is marked ✓, one that is missed ✗."""
    rule = ["---"] * 2 + ["---:"] * (len(HEAD) - 2)
    blocks = []
    for (subject, peer), rows in groups(result).items():
        lines = [HEAD, rule, *map(_cells, rows)]
        cells = "\n".join("| " + " | ".join(line) + " |" for line in lines)
        blocks.append(f"**{subject[0].upper()}{subject[1:]}**, against {peer}\n\n{cells}")
    return "\n\n".join(blocks)


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
    cells = [
        row["setting"],
        row["pass"],
        f"{_number(time['ours_ms'])}{_limit(row)} / {_number(time['peer_ms'])}",
        _ratio(row, "time"),
        f"{row['cold_ratio']:.2f}",
        f"{memory['ours_mb']:.1f} / {memory['peer_mb']:.1f}",
        _ratio(row, "memory"),
    ]
    return [cell.replace(" ", "\N{NO-BREAK SPACE}") for cell in cells]


def _number(x: float) -> str:
    return f"{x:.0f}" if x >= 100 else f"{x:.3g}"


def _limit(row: dict) -> str:
    """What our milliseconds may be, where there is a goal."""
    if "ms" not in row["goals"]:
        return ""
    limit = row["goals"]["ms"]
    return f" ≤ {limit} ✓" if row["time"]["ours_ms"] <= limit else f" > {limit} ✗"


def _ratio(row: dict, measure: str) -> str:
    ratio = row[measure]["ratio"]
    if measure not in row["goals"]:
        return f"{ratio:.2f}"
    limit = row["goals"][measure]
    return f"{ratio:.2f} ≤ {limit:.2f} ✓" if ratio <= limit else f"{ratio:.2f} > {limit:.2f} ✗"
