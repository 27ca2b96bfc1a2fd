"""The picture that a link to a page is shown with: its title, and a causal heat map."""

from __future__ import annotations

import importlib.util
import io
import math
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

WIDTH, HEIGHT, MARGIN = 1200, 630, 72
GROUND, GRID, GOLD, PAPER, MUTED = "#12171e", "#36414f", "#ffd24d", "#dfe5ec", "#a3afbd"
RAMP = ("#1f3757", "#22528a", "#236eb5", "#2f90dd", "#56b3f8", "#8dd5ff", "#cdf5ff")
CELLS, CELL = 8, 46


def font(size: int, *, bold: bool = False) -> ImageFont.FreeTypeFont:
    """Arimo, as in the figures: the package brings it, the same on every machine."""
    fonts = Path(importlib.util.find_spec("attnbook").origin).parent / "plots" / "fonts"
    name = fonts / f"Arimo-{'Bold' if bold else 'Regular'}.ttf"
    return ImageFont.truetype(str(name), size, layout_engine=ImageFont.Layout.BASIC)


def weights() -> list[list[float]]:
    """A causal softmax of scores that fall with the distance: what the map of a card shows."""
    rows = []
    for i in range(CELLS):
        exps = [math.exp(-abs(i - j) / 1.3) for j in range(i + 1)]
        rows.append([e / sum(exps) for e in exps])
    return rows


def draw_map(draw: ImageDraw.ImageDraw, left: int, top: int) -> None:
    """The map: masked cells are hatched, as everywhere in the book."""
    for i, row in enumerate(weights()):
        for j in range(CELLS):
            x, y = left + j * CELL, top + i * CELL
            box = (x, y, x + CELL, y + CELL)
            if j < len(row):
                shade = RAMP[min(len(RAMP) - 1, int(row[j] * len(RAMP)))]
                draw.rectangle(box, fill=shade, outline=GRID)
                continue
            draw.rectangle(box, outline=GRID)
            for step in range(12, 2 * CELL, 12):
                a, b = max(0, step - CELL), min(step, CELL)
                draw.line((x + a, y + b, x + b, y + a), fill=GRID)


def lines_of(title: str, face: ImageFont.FreeTypeFont, width: int) -> list[str]:
    """The title, broken between words into lines that fit."""
    lines = [""]
    for word in title.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and face.getlength(longer) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def draw_card(title: str, book: str) -> bytes:
    """The card as a PNG; the same bytes for the same words."""
    image = Image.new("RGB", (WIDTH, HEIGHT), GROUND)
    draw = ImageDraw.Draw(image)
    side = CELLS * CELL
    draw_map(draw, WIDTH - MARGIN - side, (HEIGHT - side) // 2)
    draw.rectangle((MARGIN, MARGIN, MARGIN + 96, MARGIN + 8), fill=GOLD)
    room = WIDTH - 3 * MARGIN - side
    for size in (64, 54, 46, 38, 30):
        face = font(size, bold=True)
        lines = lines_of(title, face, room)
        fits = len(lines) * size * 1.25 <= HEIGHT - 2 * MARGIN - 130
        if fits and all(face.getlength(line) <= room for line in lines):
            break
    for n, line in enumerate(lines):
        draw.text((MARGIN, MARGIN + 44 + n * size * 1.25), line, PAPER, face)
    name, _, rest = book.partition(": ")
    draw.text((MARGIN, HEIGHT - MARGIN - 62), name, PAPER, font(26, bold=True))
    draw.text((MARGIN, HEIGHT - MARGIN - 26), rest, MUTED, font(22))
    stored = io.BytesIO()
    image.quantize(64, dither=Image.Dither.NONE).save(stored, format="PNG", optimize=True)
    return stored.getvalue()
