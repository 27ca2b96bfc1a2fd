"""The stored ratios as one picture, for the book's appendix: a dot each, its goal as a tick."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from attnbook.plots import GRID, figure
from attnbook.plots.forms import Forms
from devkit.bench.report import groups

MEASURES = ("time", "memory")
GROUP = 3.3  # lines of a group on a phone, its name and a gap among them
TICKS = (0.01, 0.1, 0.3, 1, 3, 10)


def chart(result: dict) -> Forms:
    """Time and memory of every row, ours to peer, on a logarithmic axis with a line at 1.

    Side by side, and one below the other for a phone.
    """
    found = groups(result)
    return figure(lambda columns, width: (beside if columns == 2 else below)(found, width), 2)


def beside(found: dict, width: float) -> Figure:
    """Two panels, with the names at their left."""
    made = Figure(figsize=(width, 0.36 * len(found) + 0.6))
    axes = made.subplots(1, 2, sharey=True)
    for ax, measure in zip(axes, MEASURES, strict=True):
        for place, rows in enumerate(found.values()):
            dots(ax, rows, measure, place, 0.6)
        dress(ax, found, f"{measure}, ours to peer")
    names = [f"{subject}\n{_short(peer)}" for subject, peer in found]
    axes[0].set_yticks(range(len(names)), names)
    axes[0].set_ylim(len(names) - 0.4, -0.6)
    return made


def below(found: dict, width: float) -> Figure:
    """One panel: below each name a line for time and one for memory."""
    made = Figure(figsize=(width, 0.7 * len(found) + 0.7))
    ax = made.subplots()
    places = [GROUP * n + line for n in range(len(found)) for line in (0, 1)]
    for n, ((subject, peer), rows) in enumerate(found.items()):
        for line, measure in enumerate(MEASURES):
            dots(ax, rows, measure, GROUP * n + line, 0.5)
        name = f"{subject},\n{_short(peer)}"
        at = ax.get_yaxis_transform()
        ax.text(0, GROUP * n - 0.5, name, transform=at, va="bottom", fontsize=8.5, linespacing=1.05)
    dress(ax, found, "ours to peer")
    ax.set_yticks(places, MEASURES * len(found), fontsize=8.5)
    ax.set_ylim(max(places) + 0.6, -1.9)
    return made


def dots(ax: Axes, rows: list, measure: str, place: float, high: float) -> None:
    """A group's ratios and goals, spread over so much height."""
    for n, row in enumerate(rows):
        y = place + high * ((n + 0.5) / len(rows) - 0.5)
        ratio, goal = row[measure]["ratio"], row["goals"].get(measure)
        missed = goal is not None and ratio > goal
        look = {"marker": "X", "color": "C1", "markersize": 7} if missed else {"marker": "o"}
        ax.plot(ratio, y, **{"color": "C0", "markersize": 3.5, "zorder": 2 + missed} | look)
        if goal is not None:
            ax.plot([goal, goal], [y - 0.09, y + 0.09], "-", color="C5", linewidth=1.2)


def dress(ax: Axes, found: dict, label: str) -> None:
    """The line at 1, and one scale for both measures."""
    ratios = [
        row[measure]["ratio"] for rows in found.values() for row in rows for measure in MEASURES
    ]
    ax.axvline(1, color="C5", linestyle="-", linewidth=1)
    ax.set_xscale("log")
    ax.set_xlim(0.8 * min(ratios), 1.25 * max(ratios))
    ticks = [tick for tick in TICKS if min(ratios) <= tick <= max(ratios)]
    ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.minorticks_off()
    ax.set_xlabel(label)
    ax.grid(axis="y", color=GRID, linewidth=0.6)
    ax.tick_params(axis="y", length=0)


def _short(peer: str) -> str:
    """A peer in few words."""
    return f"to {peer.replace('the decoder on ', '').replace(', positions mended', '')}"
