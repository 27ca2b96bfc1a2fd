"""How every figure of the book looks: colours, fonts, sizes, and its PNG."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib import font_manager
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

#: Colours of growing weight, one hue from light to dark; the widget's style sheet has the same.
RAMP = ("#dcebfb", "#a9cdf6", "#6fa6ea", "#4480d0", "#2a5fac", "#194383", "#0d2a5c")
#: The same for differences of weights, from nearly none to much: less, and more.
LESS = ("#fbe5c8", "#f5c184", "#e19a45", "#bd7222", "#8f4f10", "#5e3106")
MORE = ("#e6def5", "#c4b0e6", "#9e80d1", "#7a55b5", "#5a3594", "#3c1c6e")
GOLD = "#ffc61a"
INK, MUTED, GRID, HATCH, HATCH_GROUND = "#1f2933", "#55606e", "#d5dbe3", "#9aa4b1", "#f3f4f6"
CELL = 0.36  # inches
WIDTH = 6.4  # inches, the width of the text
PHONE = 3.25  # inches, that of a small phone's column
DPI = 100

for font in sorted(Path(__file__).with_name("fonts").glob("*.ttf")):  # in width like Arial
    font_manager.fontManager.addfont(font)

STYLE = {
    "figure.dpi": DPI,
    "savefig.dpi": DPI,
    "figure.figsize": (WIDTH, 3.2),
    "figure.constrained_layout.use": True,
    "mathtext.default": "regular",  # the words' own letters
    "font.family": ["Arimo", "DejaVu Sans"],  # the second for signs that the first has not
    "font.size": 9.5,
    "axes.titlesize": 10.5,
    "axes.labelsize": 9.5,
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
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "legend.fontsize": 9,
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
    mpl.rcParams.update(STYLE)
    show_in_notebook()


def show_in_notebook() -> None:
    """In IPython, show every figure by `figure_png`; elsewhere do nothing."""
    if "IPython" not in sys.modules or (shell := sys.modules["IPython"].get_ipython()) is None:
        return
    if "inline" in mpl.get_backend():  # now, not with the first figure: it registers its own
        import matplotlib_inline.backend_inline  # noqa: F401

    def show(figure):
        png, width, height = figure_png(figure)
        return png, {"width": width, "height": height}

    shell.display_formatter.formatters["image/png"].for_type(Figure, show)


def figure_png(figure: Figure) -> tuple[bytes, int, int]:
    """A figure as PNG bytes with its width and height in CSS pixels; the same bytes each time.

    Drawn at one and a half times its size, for sharp screens, and stored with at most 96 colours;
    a heat map with 128 of its scale, evenly, and 128 others: a scale of few colours shows steps
    that the numbers have not.
    """
    from PIL import Image

    width, height = (round(96 * inches) for inches in figure.get_size_inches())
    drawn, stored = io.BytesIO(), io.BytesIO()
    figure.savefig(drawn, format="png", dpi=1.5 * 96, bbox_inches=None)
    image = Image.open(drawn).convert("RGB")
    few = image.quantize(96, dither=Image.Dither.NONE)
    scales = [map_.cmap for axes in figure.axes for map_ in axes.images if map_.cmap.N > 2]
    if scales:
        even = scales[0](np.linspace(0, 1, 128), bytes=True)[:, :3].astype(int)  # (128, 3)
        used = np.unique(np.asarray(image).reshape(-1, 3), axis=0).astype(int)  # (n, 3)
        off = np.array([np.abs(even - colour).max(axis=1).min() > 6 for colour in used])
        other = Image.fromarray(used[off].astype(np.uint8)[None])  # what is not on the scale
        other = other.quantize(128, Image.Quantize.MAXCOVERAGE, kmeans=1).getpalette()
        few.putpalette(bytes(other[: 3 * 128]) + even.astype(np.uint8).tobytes())
        few = image.quantize(palette=few, dither=Image.Dither.NONE)
    palette = np.array(few.getpalette()).reshape(-1, 3)
    palette[palette.min(axis=1) > 255 - 7] = 255  # mixed with its greys: the ground is the page's
    few.putpalette(palette.astype(np.uint8).tobytes())
    few.save(stored, format="PNG", optimize=True)
    return stored.getvalue(), width, height


def label(axis, words: str, at, to=None, **look) -> None:
    """Write the name of a curve beside it, where a legend would make the eye go to and fro.

    Args:
        axis: the axes.
        words: the name.
        at: (x, y) of the words, in the axes' own numbers.
        to: (x, y) of a point of the curve, to which a thin line leads. None: no line.
        look: properties of the text, such as `color` (give it the curve's), `ha` and `va`.
    """
    look = {"va": "center", "fontsize": 9} | look
    lead = {"arrowstyle": "-", "color": look.get("color", MUTED), "linewidth": 0.8, "shrinkA": 1}
    lead |= {"shrinkB": 0, "linestyle": "-"}
    axis.annotate(
        words, to or at, at, arrowprops=lead if to else None, annotation_clip=False, **look
    )


def colormap() -> LinearSegmentedColormap:
    """The one scale of weights: light to dark blue, even in lightness, blank below."""
    return LinearSegmentedColormap.from_list("attnbook", RAMP).with_extremes(under="white")


def difference_colormap() -> LinearSegmentedColormap:
    """The one scale of differences: brown to violet, both even in lightness, blank at zero."""
    low = [(0.5 * n / (len(LESS) - 1), colour) for n, colour in enumerate(reversed(LESS))]
    high = [(0.5 + 0.5 * n / (len(MORE) - 1), colour) for n, colour in enumerate(MORE)]
    colours = LinearSegmentedColormap.from_list("attnbook-difference", [*low, *high], N=512)
    return colours.with_extremes(bad="white")
