"""Static pictures of attention weights: masked is hatched, zero is blank, small is light."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence

import matplotlib as mpl
import numpy as np
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

#: Colours of growing weight, one hue from light to dark; the widget's style sheet has the same.
RAMP = ("#dcebfb", "#a9cdf6", "#6fa6ea", "#4480d0", "#2a5fac", "#194383", "#0d2a5c")
INK, MUTED, GRID, HATCH, HATCH_GROUND = "#1f2933", "#55606e", "#d5dbe3", "#9aa4b1", "#f3f4f6"
CELL = 0.36  # inches
WIDTH = 6.4  # inches, the width of the text
DPI = 100

_STYLE = {
    "figure.dpi": DPI,
    "savefig.dpi": DPI,
    "figure.figsize": (WIDTH, 3.2),
    "figure.constrained_layout.use": True,
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.labelsize": 9,
    "axes.labelcolor": INK,
    "axes.edgecolor": MUTED,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.prop_cycle": mpl.cycler(
        color=["#2a5fac", "#b4410e", "#1b7f6b", "#8a5aa8", "#7a6a00", "#55606e"],
        linestyle=["-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1))],
    ),
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 8.5,
    "legend.fontsize": 8.5,
    "legend.frameon": False,
    "hatch.color": HATCH,
    "hatch.linewidth": 0.7,
    "svg.hashsalt": "attnbook",
}


def style() -> None:
    """Give every figure of the book the same fonts, sizes and line styles.

    Lines differ by dash as well as by colour, and figures stay within the width of the text. In
    a notebook, figures are shown as small, sharp PNGs of a fixed size.
    """
    mpl.rcParams.update(_STYLE)
    _show_in_notebook()


def _show_in_notebook() -> None:
    """In IPython, show every figure by `figure_png`; elsewhere do nothing."""
    if "IPython" not in sys.modules or (shell := sys.modules["IPython"].get_ipython()) is None:
        return
    import matplotlib.pyplot  # noqa: F401  (first, for it registers a format of its own)

    def show(figure):
        png, width, height = figure_png(figure)
        return png, {"width": width, "height": height}

    shell.display_formatter.formatters["image/png"].for_type(Figure, show)


def figure_png(figure: Figure) -> tuple[bytes, int, int]:
    """A figure as PNG bytes with its width and height in CSS pixels; the same bytes each time.

    Drawn at one and a half times its size, for sharp screens, and stored with at most 96 colours.
    """
    from PIL import Image

    width, height = (round(96 * inches) for inches in figure.get_size_inches())
    drawn, stored = io.BytesIO(), io.BytesIO()
    figure.savefig(drawn, format="png", dpi=1.5 * 96, bbox_inches=None)
    image = Image.open(drawn).convert("RGB")
    image.quantize(96, dither=Image.Dither.NONE).save(stored, format="PNG", optimize=True)
    return stored.getvalue(), width, height


def colormap() -> LinearSegmentedColormap:
    """The one scale of weights: light to dark blue, even in lightness, blank below."""
    return LinearSegmentedColormap.from_list("attnbook", RAMP).with_extremes(under="white")


def _matrix(name: str, value, dtype=None) -> np.ndarray:
    if hasattr(value, "detach"):
        value = value.detach().cpu()
        value = (value.float() if value.dtype.is_floating_point else value).numpy()
    matrix = np.asarray(value)
    if matrix.ndim != 2:
        raise ValueError(f"{name} must be 2-D, (q, k), got shape {matrix.shape}")
    if dtype is bool and matrix.dtype != bool:
        raise ValueError(f"{name} must be boolean, True = may attend, got {matrix.dtype}")
    return matrix


def _weights(value) -> np.ndarray:
    weights = _matrix("weights", value).astype(float)
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError("weights must be finite and at least 0: scores are not weights")
    return weights


def _mask(value, shape: tuple[int, int]) -> np.ndarray:
    if value is None:
        return np.ones(shape, dtype=bool)
    mask = _matrix("mask", value, bool)
    if any(m not in (1, n) for m, n in zip(mask.shape, shape, strict=True)):
        raise ValueError(f"mask of shape {mask.shape} does not fit weights of shape {shape}")
    return np.broadcast_to(mask, shape)


def _labels(name: str, labels, count: int) -> list[str]:
    labels = [str(n) for n in range(count)] if labels is None else [str(text) for text in labels]
    if len(labels) != count:
        raise ValueError(f"{name} must hold {count} labels to fit the weights, got {len(labels)}")
    return labels


def _round_up(weight: float) -> float:
    """The top of a scale: the least of 0.05, 0.1, 0.2, 0.5, 1 that holds `weight`."""
    return next((top for top in (0.05, 0.1, 0.2, 0.5, 1.0) if weight <= top + 1e-9), float(weight))


def _hatch(axes, mask: np.ndarray, clear: np.ndarray) -> None:
    """Hatch each run of masked cells; `clear` cells get a grey ground, others keep their colour."""
    for i, row in enumerate(mask):
        edges = np.flatnonzero(np.diff(np.concatenate([[True], row, [True]]).astype(int)))
        for start, end in zip(edges[::2], edges[1::2], strict=True):
            ground = HATCH_GROUND if clear[i, start:end].all() else "none"
            axes.add_patch(
                Rectangle(
                    (start - 0.5, i - 0.5),
                    end - start,
                    1,
                    facecolor=ground,
                    edgecolor=HATCH,
                    hatch="/////",
                    linewidth=0,
                    zorder=1.5,
                )
            )


def _ticks(axis, labels: list[str], room: float) -> None:
    """Write every n-th label, so that lines of text do not touch."""
    step = max(1, int(np.ceil(len(labels) * 0.14 / room)))
    axis.set_ticks(range(0, len(labels), step), labels[::step])


def _panel(axes, weights, mask, query_labels, key_labels, title, norm, annotate) -> None:
    q, k = weights.shape
    axes.imshow(
        np.where(weights > 0, weights, -1.0),
        cmap=colormap(),
        norm=norm,
        aspect="auto",
        interpolation="nearest",
    )
    _hatch(axes, mask, weights == 0)
    if max(q, k) <= 32:
        axes.set_xticks(np.arange(k + 1) - 0.5, minor=True)
        axes.set_yticks(np.arange(q + 1) - 0.5, minor=True)
        axes.grid(which="minor", color=GRID, linewidth=0.6)
    axes.tick_params(which="both", length=0)
    axes.spines[:].set(visible=True, color=GRID)
    for (i, j), weight in np.ndenumerate(weights if annotate else np.empty((0, 0))):
        if weight > 0:
            axes.text(
                j,
                i,
                "<.01" if weight < 0.005 else f"{weight:.2f}",
                ha="center",
                va="center",
                fontsize=7.5,
                color="white" if weight / norm.vmax > 0.45 else INK,
            )
    box = axes.get_position()
    size = axes.figure.get_size_inches()
    _ticks(axes.xaxis, key_labels, box.width * size[0])
    _ticks(axes.yaxis, query_labels, box.height * size[1])
    if max(map(len, key_labels), default=0) > 4 or k > 20:
        axes.tick_params(axis="x", labelrotation=60)
        for text in axes.get_xticklabels():
            text.set(ha="left", rotation_mode="anchor", va="center")
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    axes.set(xlabel="key", ylabel="query")
    if title:
        axes.set_title(title, loc="left")


def _legend(figure: Figure, norm: Normalize, axes: list) -> None:
    mappable = mpl.cm.ScalarMappable(norm, colormap())
    bar = figure.colorbar(mappable, ax=axes, shrink=0.9, aspect=24, pad=0.02)
    bar.set_label("weight")
    bar.outline.set(edgecolor=GRID)
    bar.ax.tick_params(length=0)
    handles = [
        Patch(facecolor=HATCH_GROUND, edgecolor=HATCH, hatch="/////", linewidth=0, label="masked"),
        Patch(facecolor="white", edgecolor=GRID, label="zero"),
        Patch(facecolor=RAMP[0], edgecolor=GRID, label="small"),
    ]
    figure.legend(handles=handles, loc="outside lower left", ncols=3, handlelength=1.6)


def _grow(weights: list[np.ndarray], labels: list[tuple[list[str], list[str]]]) -> tuple:
    """Figure size in inches: cells of one size, as large as fit the width of the text."""
    columns = sum(w.shape[1] for w in weights)
    rows = max(w.shape[0] for w in weights)
    gutter = sum(0.35 + 0.075 * max(map(len, q), default=0) for q, _ in labels)
    cell = min(CELL, (WIDTH - gutter - 0.9) / max(columns, 1))
    top = max(0.3 + 0.07 * max(map(len, k), default=0) for _, k in labels)
    width = min(WIDTH, max(3.4, gutter + cell * columns + 1.0))
    return width, min(7.0, cell * rows + top + 0.85)


def heatmap(
    weights,
    mask=None,
    *,
    query_labels=None,
    key_labels=None,
    ax=None,
    title: str | Sequence[str] = "",
    vmax: float | None = None,
    annotate: bool | None = None,
) -> Figure:
    """Draw attention weights: masked cells hatched, zero blank, small light.

    Args:
        weights: (q, k), at least 0, or a list of such matrices: side by side, on one scale.
        mask: boolean, True = may attend, (q, k) with axes of size 1 broadcast; a list of masks
            (or None) beside a list of weights.
        query_labels, key_labels: q and k strings, or a list of such lists, one for each panel.
        ax: axes to draw one matrix on, without colour bar and legend; else a new figure.
        title: of the panel, or of each panel.
        vmax: weight of the darkest colour; by default the least round number that holds all.
        annotate: write the weights into the cells; by default where they fit.

    Returns:
        The figure.

    Raises:
        ValueError: weights are not (q, k), not finite or negative; mask or labels do not fit.
    """
    many = isinstance(weights, (list, tuple)) and np.ndim(weights[0]) == 2
    panels = [_weights(w) for w in (weights if many else [weights])]
    n = len(panels)

    def each(name, value, is_one):
        values = [value] * n if not many or is_one(value) else list(value)
        if len(values) != n:
            raise ValueError(
                f"{name} must hold one entry for each of {n} panels, got {len(values)}"
            )
        return values

    one_list = lambda v: v is None or all(isinstance(x, str) for x in v)  # noqa: E731
    masks = each("mask", mask, lambda v: v is None or hasattr(v, "ndim"))
    masks = [_mask(m, w.shape) for m, w in zip(masks, panels, strict=True)]
    titles = each("title", title, lambda v: isinstance(v, str))
    labels = [
        (_labels("query_labels", q, w.shape[0]), _labels("key_labels", k, w.shape[1]))
        for q, k, w in zip(
            each("query_labels", query_labels, one_list),
            each("key_labels", key_labels, one_list),
            panels,
            strict=True,
        )
    ]
    if ax is not None and many and n > 1:
        raise ValueError(f"ax takes one matrix, got {n}")
    top = max((w.max(initial=0.0) for w in panels), default=0.0)
    norm = Normalize(0.0, float(vmax) if vmax is not None else _round_up(top))
    _show_in_notebook()
    with mpl.rc_context(_STYLE):
        if ax is None:
            figure = Figure(figsize=_grow(panels, labels), layout="constrained")
            ratios = [w.shape[1] + 0.01 for w in panels]
            all_axes = list(figure.subplots(1, n, width_ratios=ratios, squeeze=False)[0])
        else:
            figure, all_axes = ax.figure, [ax]
        if annotate is None:
            annotate = max(w.shape[1] for w in panels) * n <= 12
        for axes, w, m, names, text in zip(all_axes, panels, masks, labels, titles, strict=True):
            _panel(axes, w, m, *names, text, norm, annotate)
        if ax is None:
            _legend(figure, norm, all_axes)
    return figure


def heatmap_png(weights, mask=None, **options) -> tuple[bytes, int, int]:
    """`heatmap` by `figure_png`: PNG bytes, width and height in CSS pixels."""
    with mpl.rc_context(_STYLE):
        return figure_png(heatmap(weights, mask, **options))
