"""The stored ratios as one picture, for the book's appendix: a dot each, its goal as a tick."""

from __future__ import annotations

from matplotlib.figure import Figure

from devkit.bench.report import groups

TICKS = (0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 4)


def chart(result: dict) -> Figure:
    """Time and memory of every row, ours to peer, on a logarithmic axis with a line at 1."""
    found = groups(result)
    figure = Figure(figsize=(6.4, 0.36 * len(found) + 0.6))
    axes = figure.subplots(1, 2, sharey=True)
    for ax, measure in zip(axes, ("time", "memory"), strict=True):
        ax.axvline(1, color="C5", linestyle="-", linewidth=1)
        for place, rows in enumerate(found.values()):
            for n, row in enumerate(rows):
                y = place + 0.6 * ((n + 0.5) / len(rows) - 0.5)
                ratio, goal = row[measure]["ratio"], row["goals"].get(measure)
                missed = goal is not None and ratio > goal
                ax.plot(ratio, y, "o", color="C1" if missed else "C0", markersize=3.5)
                if goal is not None:
                    ax.plot([goal, goal], [y - 0.09, y + 0.09], "-", color="C5", linewidth=1.2)
        ax.set_xscale("log")
        ax.set_xticks(TICKS, [f"{tick:g}" for tick in TICKS])
        ax.minorticks_off()
        ax.set_xlabel(f"{measure}, ours to peer")
        ax.grid(axis="y", color="#d5dbe3", linewidth=0.6)
    names = [f"{subject}\n{_short(peer)}" for subject, peer in found]
    axes[0].set_yticks(range(len(names)), names)
    axes[0].set_ylim(len(names) - 0.4, -0.6)
    axes[0].tick_params(axis="y", length=0)
    axes[1].tick_params(axis="y", length=0)
    return figure


def _short(peer: str) -> str:
    """A peer in few words."""
    return f"to {peer.replace('the decoder on ', '').replace(', positions mended', '')}"
