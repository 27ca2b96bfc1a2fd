"""A signature for each page of a chapter: small matrices of weights, by its opening and on cards.

A chapter's metadata names one of the functions below. Each computes its matrix, or up to four, from
the chapter's own formula, or takes what is stored: gold links and weights of the playground's
opening. A cell has one of seven shades of the scale of weights, which the style sheet names; masked
cells are hatched, gold ones framed, as everywhere in the book.
"""

from __future__ import annotations

import base64
import json
import math

from attn_playground import OPENING

SHADES, SIDE, GAP = 7, 96, 8  # of the scale; pixels: a matrix, between two
GOLD = "gold"
Matrix = list[list[float | str | None]]  # weights, or GOLD for a link; None is masked


def softmax(scores: list[float | None]) -> list[float | None]:
    """Weights of one row; None stays masked."""
    exps = [None if s is None else math.exp(s) for s in scores]
    total = sum(e for e in exps if e is not None)
    return [None if e is None else e / total for e in exps]


def cues() -> Matrix:
    scores = [-1.0, 0.2, -0.4, 1.2, 0.4, -1.4]
    return [softmax([s / t for s in scores]) for t in (8, 2, 1, 0.5, 0.25, 0.05)]


def kernels() -> Matrix:
    places = [0.0, 0.5, 1.6, 1.9, 2.4, 3.5, 3.8, 4.6]
    return [
        softmax([None if i == j else -((a - b) ** 2) for j, b in enumerate(places)])
        for i, a in enumerate(places)
    ]


def masks() -> Matrix:
    return [
        softmax([None if j >= 5 else math.sin(2.1 * i + 1.3 * j) * 1.5 for j in range(7)])
        for i in range(7)
    ]


def scorings() -> list[Matrix]:
    """Five queries and as many keys, the second three times as long: dot, scaled, distance, cosine.

    The long key wins three rows of the first two, and not even its own by the distance.
    """
    queries = [(math.cos(1.2 * i), math.sin(1.2 * i)) for i in range(5)]
    keys = [(n * x, n * y) for n, (x, y) in zip((1, 3, 1, 1, 1), queries, strict=True)]

    def dot(q, k):
        return sum(a * b for a, b in zip(q, k, strict=True))

    scores = (
        lambda q, k: 2 * dot(q, k),
        lambda q, k: 2 * dot(q, k) / math.sqrt(2),
        lambda q, k: -(math.dist(q, k) ** 2),
        lambda q, k: 2 * dot(q, k) / math.hypot(*q) / math.hypot(*k),
    )
    return [[softmax([score(q, k) for k in keys]) for q in queries] for score in scores]


def places() -> Matrix:
    def wave(place, i):
        return math.sin(place / 10000 ** (2 * (i // 2) / 16) + (i % 2) * math.pi / 2)

    return [[(1 + wave(place, i)) / 2 for i in range(16)] for place in range(32)]


def slopes() -> list[Matrix]:
    """ALiBi under a causal mask, keys that fit equally well: four heads, each with a slope."""
    return [
        [softmax([None if j > i else -slope * (i - j) for j in range(12)]) for i in range(12)]
        for slope in (1, 1 / 4, 1 / 16, 1 / 64)
    ]


def turned() -> Matrix:
    """Rotary positions under a causal mask: equal queries and keys of eight features."""
    waves = [10000 ** (-2 * i / 8) for i in range(4)]

    def score(distance):
        return 2 * sum(math.cos(w * distance) for w in waves)

    return [softmax([None if j > i else score(i - j) for j in range(12)]) for i in range(12)]


def window() -> Matrix:
    """Local-m with a bell: a window of radius 2 around the query's own place."""
    return [
        softmax([None if abs(j - i) > 2 else -((j - i) ** 2) / 2 for j in range(12)])
        for i in range(12)
    ]


def needles() -> Matrix:
    """Rows of 14 keys, of which two to four, scattered, have equal weights."""
    found = ((11, 3), (0, 7, 9), (5, 12), (2, 6, 8, 13), (1, 10), (4, 9, 12), (3, 7), (0, 5, 11))
    return [[1 / len(row) if j in row else 0.0 for j in range(14)] for row in found]


def patterns() -> list[Matrix]:
    """Equal scores under four patterns: window, dilated window, blocks, window and global."""
    keeps = (
        lambda i, j: abs(i - j) <= 1,
        lambda i, j: abs(i - j) in (0, 3, 6),
        lambda i, j: i // 4 == j // 4,
        lambda i, j: abs(i - j) <= 1 or i == 0 or j == 0,
    )
    return [
        [softmax([0.0 if keep(i, j) else None for j in range(12)]) for i in range(12)]
        for keep in keeps
    ]


def relayed() -> Matrix:
    """What a causal window of five, three times over, leaves of each place: equal weights."""

    def mean(row):
        return [sum(row[max(0, j - 4) : j + 1]) / 5 for j in range(12)]

    rows = []
    for i in range(12):
        row = [1.0 if j == i else 0.0 for j in range(12)]
        for _ in range(3):
            row = mean(row[::-1])[::-1]
        rows.append([w if w else None for w in row])
    return rows


def chosen() -> Matrix:
    """Sparsemax of wavy scores: a few keys of each row share all of the weight."""
    rows = []
    for i in range(10):
        scores = [1.5 * math.sin(2.1 * i + 1.3 * j) for j in range(10)]
        low = max(scores) - 1  # the threshold, by bisection
        for step in range(1, 40):
            above = sum(max(s - low - 2**-step, 0) for s in scores) >= 1
            low += 2**-step if above else 0
        rows.append([max(s - low, 0.0) for s in scores])
    return rows


def in_blocks() -> Matrix:
    """Blocks of three: each place keeps its own block and the one before whose mean fits best."""
    n, w = 12, 3
    rows = []
    for i in range(n):
        scores = [math.sin(1.7 * i + 0.8 * j) for j in range(n)]
        means = [sum(scores[b * w : b * w + w]) / w for b in range(i // w)]
        kept = {i // w} | ({max(range(i // w), key=means.__getitem__)} if means else set())
        rows.append(
            softmax([s if j // w in kept and j <= i else None for j, s in enumerate(scores)])
        )
    return rows


def rounds() -> list[Matrix]:
    """Ten directions with equal scores, hashed once to four times; a row keeps its buckets."""
    turns = [(0.37 * i) % 1 for i in range(10)]  # of a full turn

    def same(a, b, upto):  # four buckets a round, each round turned further
        return any(int(4 * (a + r / 7)) % 4 == int(4 * (b + r / 7)) % 4 for r in range(upto))

    return [
        [softmax([0.0 if same(a, b, upto) else None for b in turns]) for a in turns]
        for upto in (1, 2, 3, 4)
    ]


def asked() -> Matrix:
    """Twelve words, four questions: where the answer to each begins, and where it ends."""
    places = (0, 1, 3, 5, 6, 8, 9, 11)
    return [softmax([3.0 if j == place else 0.0 for j in range(12)]) for place in places]


def fading() -> list[Matrix]:
    """Each token's share of a state: fading slowly, faster, and after one that clears the rest."""
    keeps = [[0.95] * 8, [0.6] * 8, [0.95, 0.95, 0.95, 0.1, 0.95, 0.95, 0.95, 0.95]]

    def shares(keep: list[float], i: int) -> list[float | None]:
        left = [math.prod(keep[j + 1 : i + 1]) for j in range(i + 1)]
        return [x / sum(left) for x in left] + [None] * (7 - i)

    return [[shares(keep, i) for i in range(8)] for keep in keeps]


def hierarchy() -> Matrix:
    """Softmaxes over the words of six sentences, a row each; below them one over the sentences."""
    rows = [softmax([1.6 * math.sin(1.9 * i + 2.3 * j) for j in range(6)]) for i in range(6)]
    return [*rows, softmax([0.2, -0.6, 1.4, 0.1, -1.0, 0.6])]


def cut_off() -> Matrix:
    """One distribution at rising temperature; each row without its tail, as top-p cuts it."""
    rows = []
    for temperature in (0.4, 0.7, 1, 1.5, 2, 3, 5, 8):
        weights = softmax([-0.6 * j / temperature for j in range(12)])
        kept = [sum(weights[:j]) < 0.9 for j in range(12)]
        total = sum(w for w, keep in zip(weights, kept, strict=True) if keep)
        rows.append([w / total if keep else None for w, keep in zip(weights, kept, strict=True)])
    return rows


def hops() -> Matrix:
    """Who took it, and where that person went: two hops over five facts."""
    return [softmax([0.0, 4.0, 0.5, 0.0, 0.5]), softmax([0.5, 0.0, 0.5, 1.0, 4.0])]


def blocks_read() -> Matrix:
    """Twelve keys in blocks of two: what share each has when a block more has been read."""
    scores = [math.sin(1.9 * j) + 0.12 * j for j in range(12)]
    return [
        softmax([s if j < 2 * read else None for j, s in enumerate(scores)]) for read in range(1, 7)
    ]


def induction() -> Matrix:
    """A row of six tokens twice: each place of the second round looks at what comes next."""
    n = 6
    return [
        softmax([None if j > i else 4.0 if i >= n and j == i - n + 1 else 0.0 for j in range(11)])
        for i in range(11)
    ]


def opening() -> dict:
    """The playground's opening: a sentence, its translation, gold links and all weights."""
    return json.loads(OPENING.read_text(encoding="utf-8"))


def stored(state: dict, kind: str, layer: int, head: int) -> Matrix:
    """The weights of one head of the opening."""
    k, q = len(state["ids"]), len(state["written"])
    rows, columns = {"encoder": (k, k), "decoder": (q, q), "cross": (q, k)}[kind]
    size = rows * columns
    start = (layer * state["config"]["num_heads"] + head) * size
    content = base64.b64decode(state["maps"][kind])[start : start + size]
    return [
        [
            None if kind == "decoder" and j > i else content[i * columns + j] / 255
            for j in range(columns)
        ]
        for i in range(rows)
    ]


def links() -> Matrix:
    """The sure links of the opening's sentence."""
    example = opening()["example"]
    sure = {tuple(link) for link in example["sure"]}
    q, k = len(example["target"]), len(example["source"])
    return [[GOLD if (i, j) in sure else 0.0 for j in range(k)] for i in range(q)]


def diagonal() -> Matrix:
    """The baseline beside the opening's links: each word at the same relative place."""
    q, k = len(links()), len(links()[0])
    return [[float(j == round(i * (k - 1) / (q - 1))) for j in range(k)] for i in range(q)]


def heads() -> list[Matrix]:
    """Four heads of one layer of cross-attention."""
    state = opening()
    return [stored(state, "cross", state["layer"], head) for head in range(4)]


def layers() -> list[Matrix]:
    """Cross-attention: two heads of the first layer, and two of the last."""
    state = opening()
    return [stored(state, "cross", layer, head) for layer in (0, 1) for head in (0, 1)]


def transformer() -> list[Matrix]:
    """One head of each kind of attention."""
    state = opening()
    kinds = ("encoder", "decoder", "cross")
    return [stored(state, kind, state["layer"], state["head"]) for kind in kinds]


def cells(matrix: Matrix, left: float, top: float, side: float) -> str:
    """One matrix as a square of `side`, each cell with its shade."""
    high, wide = side / len(matrix), side / len(matrix[0])
    most = max(w for row in matrix for w in row if w not in (None, GOLD)) or 1
    parts = []
    for i, row in enumerate(matrix):
        for j, w in enumerate(row):
            name = {None: "masked", GOLD: "gold", 0: "zero"}.get(w)
            name = name or f"w{min(SHADES - 1, int(SHADES * w / most))}"
            x, y = left + wide * j, top + high * i
            parts.append(
                f'<rect class="{name}" x="{x:.1f}" y="{y:.1f}"'
                f' width="{wide:.1f}" height="{high:.1f}"/>'
            )
            if name == "masked":
                parts.append(f'<path d="M{x:.1f} {y + high:.1f}l{wide:.1f} {-high:.1f}"/>')
    return "".join(parts)


def matrices(draw: str) -> list[Matrix]:
    """What a function of this module gives, by its name: one matrix or several, as a list."""
    made = globals()[draw]()
    return made if isinstance(made[0][0], list) else [made]


def signature(draw: str) -> str:
    """A signature as SVG."""
    made = matrices(draw)
    side = 2 * SIDE if len(made) == 1 else SIDE - GAP / 2
    # of three: source by source, and below it target by source and by target
    corners = [(0, 0), (1, 1), (0, 1)] if len(made) == 3 else [(0, 0), (1, 0), (0, 1), (1, 1)]
    drawn = "".join(
        cells(matrix, (side + GAP) * x, (side + GAP) * y, side)
        for matrix, (x, y) in zip(made, corners, strict=False)
    )
    return (
        f'<svg class="attn-matrix" viewBox="-1 -1 {2 * SIDE + 2} {2 * SIDE + 2}" width="{2 * SIDE}"'
        f' height="{2 * SIDE}" aria-hidden="true" focusable="false">{drawn}</svg>'
    )
