"""The look of figures: a scale's colours are stored as they are, and turned round for the dark."""

import io

import attn_dark
import numpy as np
import pytest
import torch
from PIL import Image

from attnbook import plots


def pixels(png: bytes) -> np.ndarray:
    """(height, width, 3)."""
    return np.asarray(Image.open(io.BytesIO(png)).convert("RGB")).astype(int)


def bar(image: np.ndarray, figure) -> np.ndarray:
    """The colour bar's middle column, from the bottom up: (pixels, 3)."""
    box = figure.axes[-1].get_window_extent()
    dots = figure.dpi * np.array(figure.get_size_inches())
    height, width = image.shape[:2]
    column = round(width * (box.x0 + box.x1) / 2 / dots[0])
    top, bottom = (round(height * (1 - y / dots[1])) for y in (box.y1, box.y0))
    return image[top + 2 : bottom - 2, column][::-1]


@pytest.fixture(scope="module")
def weights():
    torch.manual_seed(0)
    return torch.randn(8, 8).softmax(dim=-1)


@pytest.mark.parametrize("kind", ["weights", "difference"])
def test_a_colour_bar_follows_its_scale(weights, kind):
    compare = weights.flip(0) if kind == "difference" else None
    figure = plots.heatmap(weights, compare=compare, vmax=1.0)
    png, _, _ = plots.figure_png(figure)
    found = bar(pixels(png), figure)
    scale = plots.difference_colormap() if kind == "difference" else plots.colormap()
    wanted = 255 * scale((np.arange(len(found)) + 0.5) / len(found))[:, :3]
    off = np.abs(found - wanted).max(axis=1)
    assert np.quantile(off, 0.95) <= 8  # of 255; a scale of 96 colours was off by 40 and grey
    assert len(np.unique(found, axis=0)) > 100
    assert (pixels(png)[0, 0] == 255).all()  # the page's ground, without an edge around the figure


def test_the_books_colours_become_those_of_the_dark_page():
    light = " ".join([*attn_dark.COLOURS, *attn_dark.SCALES])
    dark = " ".join([*attn_dark.COLOURS.values(), *attn_dark.SCALES.values()])
    got = attn_dark.dark_colours(attn_dark.hexes(light)).astype(int)
    assert np.abs(got - attn_dark.hexes(dark)).max() <= 3


def test_a_larger_weight_is_farther_from_the_ground_in_both_schemes(weights):
    figure = plots.heatmap(weights, vmax=1.0)
    png, _, _ = plots.figure_png(figure)
    for image, ground in ((png, "#ffffff"), (attn_dark.dark_figure(png), "#12171e")):
        colours = attn_dark.to_lab(bar(pixels(image), figure)[::12].astype(float))
        far = np.abs(colours - attn_dark.to_lab(attn_dark.hexes(ground)))[:, 0]
        assert (np.diff(far) > -0.01).all() and far[-1] - far[0] > 0.4


def test_a_dark_twin_is_the_same_picture(weights):
    png, _, _ = plots.figure_png(plots.heatmap(weights))
    first, second = (Image.open(io.BytesIO(x)) for x in (png, attn_dark.dark_figure(png)))
    assert first.size == second.size and second.mode == "P"
    one, other = (np.asarray(x.convert("RGB")).reshape(-1, 3) for x in (first, second))
    colours, places = np.unique(one, axis=0, return_inverse=True)
    for n in range(len(colours)):  # each colour became one colour
        assert len(np.unique(other[places.ravel() == n], axis=0)) == 1
