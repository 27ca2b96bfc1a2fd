"""Draws a diagram from its description: an SVG across for a wide page, one down for a phone.

A description (`book/diagrams/NAME.toml`) holds `title`, `desc`, `edges`, `nodes` and perhaps
`frames`. A node has a kind, which gives it colour and form, a label, its shape in letters, its
place `at = [column, row]`, and perhaps an equation `eq`. `cells` make it a grid of numbers, in
which "" is masked. An edge is "a > b": straight, or with one bend before b. A word after it
chooses another way: `turn` (along the row of a, then into the side of b), `under` (below both),
`past` (from the line before a, past it, into b) or `across` (what goes from stack to stack).
On a phone columns become rows; frames with `panel = true` then follow one another. Where a node
has a place of its own for a phone, `down = [column, row]`, that holds. A frame with `times` is a
stack of sheets. `part` makes a node the button of one of the `parts` below the picture
(`attn_parts.py`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

import tomllib

KINDS = "query key value score mask weight output plain op".split()
ALONG, ACROSS, ROUND = 25, 16, 6  # gaps with the flow and beside it, corners
TIGHT = 0.7  # of the gaps to the side, where else the column is too narrow
COLUMN, PHONE = 736, 328  # pixels that a drawing has on a desktop and on a small phone
CELL, ROW = 30, 27  # of a grid
UNDER, PAD, TITLE = 20, 10, 20  # below a box, inside a frame, a line of words above
SHEET, WIRE = 4, 96  # from sheet to sheet of a stack; beside it, for a wire and its words
SUBSCRIPT = re.compile(r"_\{(.*?)\}")


@dataclass
class Node:
    """A box, a pill or a grid; `x`, `y` is its middle."""

    name: str
    kind: str
    at: tuple[float, float]
    label: str = ""
    shape: str = ""
    eq: str = ""
    down: tuple[float, float] | None = None
    part: str = ""
    cells: list = field(default_factory=list)
    rows: list = field(default_factory=list)
    columns: list = field(default_factory=list)
    x: float = 0
    y: float = 0

    def measure(self) -> None:
        """Half its width and height."""
        if self.cells:
            self.w, self.h = CELL * len(self.cells[0]) / 2, ROW * len(self.cells) / 2
        else:
            words = 7.2 * len(SUBSCRIPT.sub(r"\1", self.label))
            self.w = max(50, words + 20, 7.3 * len(self.shape) + 14) / 2
            self.h = (28 if self.kind == "op" else 42 if self.shape else 32) / 2
        if self.label == "+":
            self.w = self.h = 10

    def make_room(self, *, labelled: bool) -> None:
        """The room that it needs with its words: to the left, above, right and below."""
        self.labelled = bool(self.rows) and labelled
        above = TITLE * bool(self.cells and self.label) + 17 * bool(self.columns)
        self.top = self.h + above
        left = 10 + 6.7 * max(map(len, self.rows)) if self.labelled else 0
        title = 3.8 * len(self.label) if self.cells else 0
        wide = max(self.w, title)
        self.room = [max(self.w + left, title), self.top, wide, self.h]


@dataclass
class Frame:
    """A box around some nodes, with words; a panel stands below the one before on a phone."""

    label: str
    nodes: list[str]
    panel: bool = False
    below: bool = False  # on a phone the words stand at the foot
    times: str = ""  # how often it stands there

    def side(self, down: bool) -> int:
        """Where the words stand: above (1) or below (3)."""
        return 3 if down and self.below else 1


@dataclass
class Diagram:
    """A description that has been read."""

    title: str
    desc: str
    edges: list[list[str]]
    nodes: dict[str, Node]
    frames: list[Frame]
    fits_phone: bool  # one arrangement serves both
    parts: dict[str, dict]
    file: str


def read(path: Path) -> Diagram:
    """A description from its file; an error names what is wrong in it."""
    given = tomllib.loads(path.read_text(encoding="utf-8"))
    nodes = {}
    for name, said in given["nodes"].items():
        if said["kind"] not in KINDS:
            raise ValueError(f"{path.name}: {name}: unknown {said['kind']}")
        nodes[name] = Node(name, **{"label": name} | said)
    edges = [edge.replace(">", " ").split() for edge in given["edges"]]
    frames = [Frame(**frame) for frame in given.get("frames", [])]
    named = {name for edge in edges for name in edge[:2]}
    named |= {name for frame in frames for name in frame.nodes}
    if named - nodes.keys():
        raise ValueError(f"{path.name}: no nodes {sorted(named - nodes.keys())}")
    same, parts = given.get("fits_phone", False), given.get("parts", {})
    if {node.part for node in nodes.values() if node.part} != parts.keys():
        raise ValueError(f"{path.name}: nodes and parts differ")
    return Diagram(given["title"], given["desc"], edges, nodes, frames, same, parts, path.stem)


def places(diagram: Diagram, down: bool) -> dict[str, tuple[float, float]]:
    """Column and row of each node: as said, or turned, panel below panel."""
    at = {name: tuple(node.at) for name, node in diagram.nodes.items()}
    if not down:
        return at
    at = {name: diagram.nodes[name].down or at[name][::-1] for name in at}
    start = 0.0
    for panel in (f for f in diagram.frames if f.panel):
        left = min(at[name][0] for name in panel.nodes)
        for name in panel.nodes:
            at[name] = (at[name][0] - left, at[name][1] + start)
        start = max(at[name][1] for name in panel.nodes) + 1
    return at


def lines(at: dict[str, float], before: dict, after: dict, gap: float):
    """From a column's number to its middle: no two neighbours come closer than the gap.

    A place between two columns lies between their middles, one outside as far as a column is wide.
    """
    whole = sorted({place for place in at.values() if place == int(place)})
    middles, end = {}, 0.0
    for place in whole:
        here = [name for name in at if at[name] == place]
        middles[place] = end + max(before[name] for name in here)
        end = middles[place] + max(after[name] for name in here) + gap

    def middle(place: float) -> float:
        if place in middles:
            return middles[place]
        low = max([w for w in whole[:-1] if w < place], default=whole[0])
        high = whole[whole.index(low) + 1]
        share = (place - low) / (high - low)
        return middles[low] + share * (middles[high] - middles[low])

    return middle


def arrange(diagram: Diagram, down: bool, tight: float = 1) -> list[tuple[Frame, list[float]]]:
    """Give each node its middle; the frames with left, top, right and bottom."""
    at, nodes = places(diagram, down), diagram.nodes
    first = min(column for column, _ in at.values())
    for node in nodes.values():
        node.measure()
    boxes = [node for node in nodes.values() if not node.cells and node.kind != "op"]
    for node in boxes:  # as wide as the widest of its column
        column = [other for other in boxes if other.at[0] == node.at[0]]
        node.w = max(other.w for other in column)
    for name, node in nodes.items():
        node.make_room(labelled=down or at[name][0] == first)
    for name in (n for *ends, way in diagram.edges if way == "under" for n in ends):
        nodes[name].room[2 if down else 3] += UNDER
    for name in (n for *ends, way in diagram.edges if way == "past" for n in ends):
        nodes[name].room[0 if down else 2] = max(nodes[n].w for n in nodes) + UNDER
    rooms = []
    for frame in diagram.frames:  # inner ones first
        rooms.append({name: list(nodes[name].room) for name in frame.nodes})
        for side, (axis, pick) in enumerate(((0, min), (1, min), (0, max), (1, max))):
            edge = pick(at[name][axis] for name in frame.nodes)
            for name in frame.nodes:
                if at[name][axis] == edge:
                    nodes[name].room[side] += PAD + TITLE * (side == frame.side(down))
    gaps = (tight * ACROSS, ALONG) if down else (tight * ALONG, ACROSS)
    if any(frame.times for frame in diagram.frames):
        gaps = (WIRE, ACROSS)
    for axis in (0, 1):
        middle = lines(
            {name: place[axis] for name, place in at.items()},
            {name: node.room[axis] for name, node in nodes.items()},
            {name: node.room[axis + 2] for name, node in nodes.items()},
            gaps[axis],
        )
        for name, node in nodes.items():
            setattr(node, "xy"[axis], middle(at[name][axis]))
    boxes = [box([(nodes[n], room) for n, room in found.items()]) for found in rooms]
    for frame, found in zip(diagram.frames, boxes, strict=True):
        for side, sign in enumerate((-1, -1, 1, 1)):
            found[side] += sign * (PAD + TITLE * (side == frame.side(down)))
        letter = 6.8 if frame.panel else 6.1
        found[2] = max(found[2], found[0] + 2 * PAD + letter * len(frame.label))
    for _, b, *way in diagram.edges:
        if down and way == ["across"]:
            nodes[b].room[2] += WIRE
    panels = [found for f, found in zip(diagram.frames, boxes, strict=True) if f.panel]
    for found in panels:  # all as wide
        found[::2] = min(p[0] for p in panels), max(p[2] for p in panels)
    return list(zip(diagram.frames, boxes, strict=True))


def box(rooms: list[tuple[Node, list[float]]]) -> list[float]:
    """Left, top, right and bottom of nodes that need this room."""
    return [
        min(node.x - room[0] for node, room in rooms),
        min(node.y - room[1] for node, room in rooms),
        max(node.x + room[2] for node, room in rooms),
        max(node.y + room[3] for node, room in rooms),
    ]


def beside(a: Node, b: Node, way: str, down: bool) -> list[tuple[float, float]]:
    """The corners of an edge beside a stack."""
    if way == "past":
        sign, before = (-1, a.y - a.h - ACROSS / 2) if down else (1, a.y + a.h + ACROSS / 2)
        side = a.x + sign * (a.room[0 if down else 2] - UNDER / 2)
        return [(a.x, before), (side, before), (side, b.y), (b.x + sign * b.w, b.y)]
    side = b.x + b.room[2] - WIRE + ALONG / 2
    return [(a.x + a.w, a.y), (side, a.y), (side, b.y), (b.x + b.w, b.y)]


def route(a: Node, b: Node, way: str, down: bool) -> list[tuple[float, float]]:
    """The corners of an edge. Reckoned as if the flow ran across, and turned back at the end."""
    if way == "past" or (way == "across" and down):
        return beside(a, b, way, down)
    (u, v, w, h), (s, t, _, high) = (
        (n.y, n.x, n.h, n.w) if down else (n.x, n.y, n.w, n.h) for n in (a, b)
    )
    near = b.top if down else b.w
    if way == "turn":
        points = [(u + w, v), (s, v), (s, t + high if v > t else t - high)]
    elif way == "under":
        low = max(v + h, t + high) + UNDER
        points = [(u, v + h), (u, low), (s, low), (s, t + high)]
    elif abs(u - s) < 1:
        sign = 1 if t > v else -1
        points = [(u, v + sign * h), (s, t - sign * high)]
    elif abs(v - t) < 1:
        points = [(u + w, v), (s - near, t)]
    else:
        bend = s - b.room[down] - ALONG / 2  # outside of its frame
        points = [(u + w, v), (bend, v), (bend, t), (s - near, t)]
    return [(y, x) for x, y in points] if down else points


def towards(start, end, length: float) -> tuple[float, float]:
    """The point at this distance from `start` on the way to `end`."""
    (a, b), (c, d) = start, end
    far = abs(c - a) + abs(d - b)  # one of both is 0
    return (a + (c - a) * length / far, b + (d - b) * length / far)


def arrow(points: list[tuple[float, float]]) -> tuple[str, str]:
    """The path of an edge, with round corners, and that of its tip."""
    *_, last, tip = points
    points = [*points[:-1], towards(tip, last, 6)]
    path = "M{:g} {:g}".format(*points[0])
    for n, corner in enumerate(points[1:-1]):
        before, after = points[n], points[n + 2]
        near, far = towards(corner, before, ROUND), towards(corner, after, ROUND)
        path += "L{:g} {:g}Q{:g} {:g} {:g} {:g}".format(*near, *corner, *far)
    path += "L{:g} {:g}".format(*points[-1])
    (x, y), (p, q) = tip, towards(tip, last, 7)
    side = 4 * (abs(q - y) > 0), 4 * (abs(p - x) > 0)
    shape = x, y, p + side[0], q + side[1], p - side[0], q - side[1]
    return path, "M{:g} {:g}L{:g} {:g} {:g} {:g}z".format(*shape)


def words(text: str, x: float, y: float, style: str) -> str:
    """A line of text; `s_{t}` gets its subscript."""
    parts = SUBSCRIPT.split(text)
    inner = escape(parts[0])
    for low, rest in zip(parts[1::2], parts[2::2], strict=True):
        inner += f'<tspan class="sub" dy="3">{escape(low)}</tspan>'
        inner += f'<tspan dy="-3">{escape(rest)}</tspan>' if rest else ""
    return f'<text class="{style}" x="{x:g}" y="{y:g}">{inner}</text>'


def rect(left: float, top: float, width: float, height: float, rest="") -> str:
    size = f'x="{left:g}" y="{top:g}" width="{width:g}" height="{height:g}"'
    return f"<rect {size}{rest}/>"


def hatch(left: float, top: float, width: float, height: float) -> str:
    """Lines that rise through a rectangle."""
    path, step = "", 7
    for at in range(step, int(width + height), step):
        x, y = max(0, at - height), min(at, height)
        p, q = min(at, width), max(0, at - width)
        path += f"M{left + x:g} {top + y:g}L{left + p:g} {top + q:g}"
    return f'<path class="hatch" d="{path}"/>'


def grid(node: Node) -> str:
    """Cells with their numbers, darker for more where they are weights; masked ones hatched.

    A weight of zero is written "0" and blank; what rounds to zero is small, and light.
    """
    left, top = node.x - node.w, node.y - node.h
    below, drawn = "", ""
    for i, row in enumerate(node.cells):
        for j, text in enumerate(row):
            x, y = left + CELL * j, top + ROW * i
            if text == "":
                below += hatch(x, y, CELL, ROW)
                continue
            if node.kind == "weight" and text != "0":
                text = text if float(text) else "<.01"
                shade = f' class="fill" fill-opacity="{0.08 + 0.3 * float(text.strip("<")):.2f}"'
                below += rect(x, y, CELL, ROW, shade)
            number = str(text).replace("-", "−")
            drawn += words(number, x + CELL / 2, y + ROW / 2 + 4, "number")
    path = "".join(
        f"M{left + CELL * j:g} {top:g}v{2 * node.h:g}" for j in range(1, len(node.cells[0]))
    ) + "".join(f"M{left:g} {top + ROW * i:g}h{2 * node.w:g}" for i in range(1, len(node.cells)))
    outline = rect(left, top, 2 * node.w, 2 * node.h, ' rx="3"')
    for i, text in enumerate(node.rows if node.labelled else []):
        drawn += words(text, left - 8, top + ROW * (i + 0.5) + 4, "axis end")
    for j, text in enumerate(node.columns):
        drawn += words(text, left + CELL * (j + 0.5), top - 6, "axis")
    above = top - 8 - 17 * bool(node.columns)
    title = words(node.label, node.x, above, "name") if node.label else ""
    return f'{below}{outline}<path class="rule" d="{path}"/>{drawn}{title}'


def draw_node(node: Node, link, file: str) -> str:
    """A node; where it has an equation, a link to it that shows the number."""
    left, top, width, height = node.x - node.w, node.y - node.h, 2 * node.w, 2 * node.h
    if node.cells:
        inner = grid(node)
    else:
        corner = f' rx="{node.h if node.kind == "op" else 6:g}"'
        inner = rect(left, top, width, height, corner)
        if node.kind == "mask":
            inner += hatch(left, top, width, height)
        base = node.y - 3 if node.shape else node.y + 4.5
        inner += words(node.label, node.x, base, "name")
        if node.shape:
            inner += words(node.shape, node.x, node.y + 13, "shape")
    drawn = f'<g class="{node.kind}{" grid" if node.cells else ""}">{inner}</g>'
    if link and node.part:
        words_of = f"<title>{escape(node.label)}: shapes, equation, code</title>"
        return f'<a href="#{file}-{node.part}">{words_of}{drawn}</a>'
    if not (node.eq and link):
        return drawn
    number, target = link(node.eq)
    above = node.y - node.top + 12 if node.cells and node.label else top - 5
    shown = words(number, left + width, above, "eq end")
    return f'<a href="{escape(target)}"><title>Equation {number}</title>{drawn}{shown}</a>'


def extent(nodes, frames) -> tuple[float, float, float, float]:
    """Left, top, width and height of the whole."""
    left, top, right, bottom = box([(node, node.room) for node in nodes])
    for frame, found in frames:
        far = 2 * SHEET * bool(frame.times)
        left, right = min(left, found[0]), max(right, found[2] + far)
        top, bottom = min(top, found[1] - far), max(bottom, found[3])
    return left - 2, top - 2, right - left + 4, bottom - top + 4


def svg(diagram: Diagram, *, down=False, link=None, style="") -> str:
    """One arrangement as SVG.

    Args:
        down: the arrangement for a phone.
        link: from an equation's label to its number and address, or None: no links.
        style: a style sheet to carry along, for a picture that stands alone.
    """
    frames = arrange(diagram, down)
    nodes = diagram.nodes.values()
    room = PHONE if down else COLUMN
    if extent(nodes, frames)[2] > room:
        frames = arrange(diagram, down, TIGHT)
    out = []
    for frame, (left, top, right, bottom) in reversed(frames):  # outer ones first
        kind = "frame panel" if frame.panel else "frame"
        inner = "".join(
            rect(left + far, top - far, right - left, bottom - top, ' rx="8"')
            for far in ((2 * SHEET, SHEET, 0) if frame.times else (0,))
        )
        if frame.times:
            kind += " sheets"
            inner += rect(right - 48, top + 6, 42, 20, ' class="pill" rx="10"')
            inner += words(frame.times, right - 27, top + 20, "times")
        base = top + 19 if frame.side(down) == 1 else bottom - 9
        inner += words(frame.label, left + PAD, base, "axis start")
        out.append(f'<g class="{kind}">{inner}</g>')
    for a, b, *way in diagram.edges:
        points, kind = route(diagram.nodes[a], diagram.nodes[b], "".join(way), down), ""
        if way == ["across"]:
            kind, ((x, _), (_, y)) = " wire", (points[1], points[-1])
            place = (
                (x + 8, (points[0][1] + y) / 2) if down else (points[0][0] + 6, points[0][1] - 6)
            )
            out.append(words("keys, values", *place, "axis start wire"))
        paths = '<path class="edge{0}" d="{1}"/><path class="tip{0}" d="{2}"/>'
        out.append(paths.format(kind, *arrow(points)))
    out += [draw_node(node, link, diagram.file) for node in nodes]
    left, top, width, height = extent(nodes, frames)
    form = "down" if down else "across"
    if width > room:  # it is shrunk: larger letters make up for it
        form += " shrunk"
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" role="group"'
        f' class="attn-drawing {form}"'
        f' width="{width:g}" height="{height:g}"'
        f' viewBox="{left:g} {top:g} {width:g} {height:g}">{style}'
        f"<title>{escape(diagram.title)}</title><desc>{escape(diagram.desc)}</desc>"
        f"{''.join(out)}</svg>"
    )
