"""Masks for the pattern designer, drawn by hypothesis."""

from hypothesis import strategies as st

SMALL = st.integers(0, 6)
LEAST_ONE = st.integers(1, 6)


@st.composite
def designs(draw, most=20):
    """Arguments of a `PatternDesigner`, whose terms have all their options."""
    n = draw(st.integers(1, most))
    place = st.integers(0, n - 1)
    options = {
        "window": {"width": LEAST_ONE, "causal": st.booleans()},
        "dilated": {"radius": SMALL, "dilation": LEAST_ONE},
        "block": {"size": LEAST_ONE},
        "global": {"places": st.lists(place, max_size=3)},
        "random": {"count": st.integers(0, min(n, 6)), "seed": st.integers(0, 256)},
        "causal": {},
        "full": {},
    }
    kinds = draw(st.lists(st.sampled_from(list(options)), min_size=1, max_size=4))
    terms = [
        [
            draw(st.sampled_from("|&")) if t else "|",
            kind,
            draw(st.fixed_dictionaries(options[kind])),
        ]
        for t, kind in enumerate(kinds)
    ]
    terms[0][0] = "|"  # it is combined with nothing
    return {"n": n, "terms": terms, "layers": draw(st.integers(1, 12)), "query": draw(place)}
