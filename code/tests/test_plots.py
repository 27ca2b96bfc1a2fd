"""The static heat map: masked hatched, zero blank, small light, one scale."""

import re
import struct
from base64 import b64decode

import matplotlib as mpl
import numpy as np
import pytest
import torch
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from attnbook import plots
from attnbook.widgets import bundle


def image(figure):
    return figure.axes[0].images[0]


def colours(figure, i, j, panel=0) -> np.ndarray:
    """The drawn pixels inside cell (i, j), one RGB a row, without its border."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    pixels = np.asarray(canvas.buffer_rgba())[::-1, :, :3] / 255
    axes = figure.axes[panel]
    x0, y1 = axes.transData.transform((j - 0.35, i - 0.35))
    x1, y0 = axes.transData.transform((j + 0.35, i + 0.35))
    return pixels[int(y0) : int(y1), int(x0) : int(x1)].reshape(-1, 3)


def test_three_kinds_of_cell_look_different():
    weights = np.array([[0.999, 0.001, 0.0, 0.0]])
    figure = plots.heatmap(weights, np.array([[True, True, True, False]]), annotate=False)
    large, small, zero, masked = (colours(figure, 0, j) for j in range(4))
    assert np.allclose(large, to_rgb(plots.RAMP[-1]), atol=0.02)
    assert np.allclose(small, to_rgb(plots.RAMP[0]), atol=0.02)
    assert (zero == 1).all()
    assert len(np.unique(masked.round(1), axis=0)) > 1, "hatched: lines on a ground"


def test_weight_that_leaks_onto_masked_places_is_seen():
    figure = plots.heatmap(np.array([[0.5, 0.5]]), np.array([[True, False]]), annotate=False)
    leak = colours(figure, 0, 1)
    seen = np.isclose(leak, colours(figure, 0, 0)[0], atol=0.02).all(axis=1).mean()
    assert 0.1 < seen < 0.95, "both the colour and the hatching are there"


def test_panels_share_one_scale_and_one_bar():
    figure = plots.heatmap([np.full((2, 2), 0.1), np.full((3, 4), 0.4)], title=["a", "b"])
    panels = [axes for axes in figure.axes if axes.images]
    assert [axes.get_title("left") for axes in panels] == ["a", "b"]
    assert {axes.images[0].norm.vmax for axes in panels} == {0.5}
    assert len(figure.axes) == 3, "two panels and one colour bar"


@pytest.mark.parametrize(
    ("top", "vmax"), [(0.03, 0.05), (0.1, 0.1), (0.3, 0.5), (1.0, 1.0), (3.0, 3.0)]
)
def test_the_scale_ends_at_a_round_number(top, vmax):
    assert image(plots.heatmap(np.full((1, 1), top))).norm.vmax == vmax


def test_the_widget_has_the_same_ramps():
    css = bundle.sources("attnbook.widgets.AttentionHeatmap")["css"]

    def of(name):
        return re.findall(rf"--ah-{name}: ([^;]*);", css)  # by day, and by night

    for name, ramp in (("ramp", plots.RAMP), ("more", plots.MORE), ("less", plots.LESS)):
        assert tuple(of(name)[0].split()) == ramp
    for less, more, bar in zip(of("less"), of("more"), of("both-bar"), strict=True):
        stops = re.findall(r"#[0-9a-f]{6}", bar)
        assert [c for c in stops if c != "#ffffff"] == [*less.split()[::-1], *more.split()]
    for name in ("ink", "hatch", "grid", "gold"):
        assert of(name)[0] == getattr(plots, name.upper())
    for ramp, bar in zip(of("ramp"), of("bar"), strict=True):
        assert bar == f"linear-gradient(90deg, {', '.join(ramp.split())})"


CVD = {  # Machado, Oliveira and Fernandes 2009, severity 1, on linear RGB
    "protan": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
    "deutan": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
    "tritan": [[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]],
}


def linear_rgb(colours) -> np.ndarray:
    rgb = np.array([to_rgb(colour) for colour in colours])
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def lab(colours, matrix=None) -> np.ndarray:
    """CIELAB of RGB colours (n, 3), as seen by a colour vision that mixes them by `matrix`."""
    linear = linear_rgb(colours)
    if matrix is not None:
        linear = np.clip(linear @ np.array(matrix).T, 0, 1)
    to_xyz = np.array(
        [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    )
    xyz = linear @ to_xyz.T / [0.9505, 1.0, 1.089]
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.stack([116 * f[:, 1] - 16, 500 * (f[:, 0] - f[:, 1]), 200 * (f[:, 1] - f[:, 2])], 1)


@pytest.mark.parametrize("vision", [None, *CVD])
def test_less_and_more_differ_to_every_eye(vision):
    cmap, size = plots.difference_colormap(), np.linspace(0.25, 1, 20)
    less, more = (lab(cmap(0.5 + side * size / 2), CVD.get(vision)) for side in (-1, 1))
    assert np.linalg.norm(less - more, axis=1).min() > 30
    assert np.abs(less[:, 0] - more[:, 0]).max() < 14, "the same size looks as dark"
    css = bundle.sources("attnbook.widgets.AttentionHeatmap")["css"]
    ramps = (re.findall(rf"--ah-{name}: ([^;]*);", css) for name in ("less", "more"))
    for low, high in zip(*ramps, strict=True):  # light and dark, from 0.4 of the scale on
        low, high = (lab(colours.split()[2:], CVD.get(vision)) for colours in (low, high))
        assert np.linalg.norm(low - high, axis=1).min() > 30


def test_lightness_falls_evenly_along_the_ramps():
    """In grey, too, more weight is darker, and more or less of it: no scale rests on hue."""
    both = plots.difference_colormap()
    scales = [plots.colormap()(np.linspace(0, 1, 50))]
    scales += [both(0.5 + side * np.linspace(0.01, 0.5, 50)) for side in (-1, 1)]
    for scale in scales:
        steps = -np.diff(lab(scale)[:, 0])
        assert (steps > 0.4).all() and steps.max() < 3 * steps.min()


def test_a_difference_is_more_less_or_none():
    first = np.array([[0.5, 0.5, 0.0, 0.0], [0.2, 0.3, 0.5, 0.0]])
    second = np.array([[0.5, 0.0, 0.5, 0.0], [0.2, 0.5, 0.3, 0.0]])
    mask = np.array([[True, True, True, False]])
    figure = plots.heatmap(first, mask, compare=second, annotate=False)
    assert (image(figure).norm.vmin, image(figure).norm.vmax) == (-0.5, 0.5)
    assert (colours(figure, 0, 0) == 1).all(), "no change is blank"
    assert np.allclose(colours(figure, 0, 1), to_rgb(plots.LESS[-1]), atol=0.02)
    assert np.allclose(colours(figure, 0, 2), to_rgb(plots.MORE[-1]), atol=0.02)
    assert len(np.unique(colours(figure, 0, 3).round(1), axis=0)) > 1, "masked stays hatched"
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["masked", "no change"]


def test_the_stored_scale_of_differences_is_true():
    """Few colours are stored; none may stray far (median cut turned a violet grey)."""
    from io import BytesIO

    from PIL import Image

    rng = np.random.default_rng(0)
    first, second = (rng.dirichlet(np.full(8, 0.4), 8) for _ in range(2))
    figure = plots.heatmap(first, compare=second)
    stored, kept = BytesIO(), plots.figure_png(figure)[0]
    figure.savefig(stored, format="png", dpi=144, bbox_inches=None)
    drawn, kept = (
        np.asarray(Image.open(f).convert("RGB")).astype(int) for f in (stored, BytesIO(kept))
    )
    off = np.abs(drawn - kept).max(axis=-1)
    assert np.percentile(off, 99) < 10 and off.max() < 24  # the rim of a digit; that grey was 50


def test_a_notebook_shows_every_figure_as_a_sharp_png_of_few_colours():
    """Also one that is drawn with pyplot alone, and first: its backend has a format of its own."""
    import nbformat
    from nbclient import NotebookClient

    cells = (
        "import matplotlib.pyplot as plt\nfrom attnbook import plots\nplots.style()",
        "_ = plt.subplots(figsize=(4, 3))[1].plot([1, 2])",
    )
    notebook = nbformat.v4.new_notebook(cells=list(map(nbformat.v4.new_code_cell, cells)))
    NotebookClient(notebook, kernel_name="python3", timeout=120).execute()
    (shown,) = notebook.cells[1].outputs
    header = b64decode(shown.data["image/png"])[16:26]
    assert struct.unpack(">IIBB", header) == (576, 432, 8, 3), "1.5 times the size, with a palette"
    assert shown.metadata["image/png"] == {"width": 384, "height": 288}


def test_what_is_said_beside_the_cells():
    figure = plots.heatmap(np.eye(3)[:2], query_labels=["x", "y"], key_labels=["a", "b", "c"])
    axes = figure.axes[0]
    assert [text.get_text() for text in axes.get_xticklabels()] == ["a", "b", "c"]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["x", "y"]
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["masked", "zero", "small"]
    outlined = plots.heatmap(np.eye(2), gold=np.eye(2) > 0, annotate=False)
    edges = [patch.get_edgecolor()[:3] for patch in outlined.axes[0].patches]
    assert to_rgb(plots.GOLD) in edges and len(edges) == 4
    assert "gold" in [text.get_text() for text in outlined.legends[0].get_texts()]


def test_heads_stand_in_lines_on_one_scale():
    weights = torch.softmax(torch.randn(6, 3, 4), dim=-1)
    figure = plots.heatmap(weights, title=list("abcdef"), columns=4, suptitle="heads")
    panels = [axes for axes in figure.axes if axes.images]
    assert len(panels) == 6 and {axes.images[0].norm.vmax for axes in panels} == {1.0}
    assert [bool(axes.get_ylabel()) for axes in panels] == [True, *[False] * 3, True, False]
    assert [bool(axes.get_xlabel()) for axes in panels] == [*[True] * 4, False, False]
    assert figure.get_suptitle() == "heads"


def test_png_is_small_and_the_same_each_time_and_the_settings_stay():
    before = dict(mpl.rcParams)
    weights = torch.softmax(3 * torch.randn(64, 64), -1)
    axes = mpl.figure.Figure().subplots()
    assert plots.heatmap(weights, ax=axes) is axes.figure and len(axes.images) == 1
    first, second = (plots.figure_png(plots.heatmap(weights)) for _ in range(2))
    assert first == second
    assert len(first[0]) < 25_000
    width, height = np.frombuffer(first[0][16:24], ">u4")
    assert (width, height) == pytest.approx((1.5 * first[1], 1.5 * first[2]), abs=2)
    assert dict(mpl.rcParams) == before


@pytest.mark.parametrize(
    ("weights", "options", "words"),
    [
        (np.zeros(3), {}, "weights must be 2-D"),
        (np.array([[np.nan]]), {}, "weights must be finite"),
        (np.array([[-1.0]]), {}, "scores are not weights"),
        (np.eye(2), {"mask": np.eye(2)}, "mask must be boolean"),
        (np.eye(2), {"mask": np.zeros((3, 2), dtype=bool)}, "mask of shape (3, 2)"),
        (np.eye(2), {"query_labels": ["a"]}, "query_labels must hold 2"),
        (np.eye(2), {"key_labels": "abc"}, "key_labels must hold 2"),
        ([np.eye(2)] * 2, {"title": ["a"]}, "title must hold one entry"),
        (np.eye(2), {"gold": np.eye(2)}, "gold must be boolean of shape (2, 2)"),
        (np.eye(2), {"gold": np.zeros((1, 2), dtype=bool)}, "gold must be boolean of shape (2, 2)"),
        (np.eye(2), {"compare": np.eye(3)}, "compare of shape (3, 3) does not fit (2, 2)"),
        (np.eye(2), {"compare": -np.eye(2)}, "scores are not weights"),
        ([np.eye(2)] * 2, {"compare": [np.eye(2)]}, "compare must hold one entry"),
    ],
)
def test_bad_input_is_named(weights, options, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        plots.heatmap(weights, **options)


def test_a_figure_in_two_forms_is_drawn_for_the_text_and_for_a_phone():
    weights, asked = torch.eye(6).expand(3, 6, 6), []

    def draw(columns, width):
        asked.append((columns, width))
        return plots.heatmap(weights, columns=columns, width=width)

    forms = plots.figure(draw, 3)
    assert asked == [(3, 6.4), (1, 3.25)]
    png, told = forms._repr_png_()
    narrow = b64decode(told["narrow"]["png"])
    for content, size in ((png, told), (narrow, told["narrow"])):
        wide, high = struct.unpack(">II", content[16:24])
        assert (wide, high) == pytest.approx((1.5 * size["width"], 1.5 * size["height"]), abs=1)
    assert told["width"] <= 614 and told["narrow"]["width"] <= 312
    assert told["narrow"]["height"] > told["height"]
    with pytest.raises(ValueError, match=r"draw must keep to 3\.25 inches, got 6\.4"):
        plots.figure(lambda columns, width: plots.heatmap(weights, columns=3), 3)


def test_a_name_stands_beside_its_curve():
    figure = Figure(figsize=(3, 2))
    axis = figure.subplots()
    axis.plot([0, 1], [0, 1])
    plots.label(axis, "far", (0.2, 0.8), (0.5, 0.5), color="#2a5fac")
    plots.label(axis, "near", (0.6, 0.5), ha="right")
    far, near = axis.texts
    assert far.get_position() == (0.2, 0.8) and far.xy == (0.5, 0.5)
    assert far.arrow_patch.get_edgecolor()[:3] == to_rgb("#2a5fac")
    assert near.get_position() == (0.6, 0.5) and near.arrow_patch is None
    assert (far.get_va(), near.get_ha()) == ("center", "right")
