"""The playground: a trained Transformer that runs in the reader's browser.

`packing` holds what the page needs in one file: weights in eight bits, vocabularies, examples. The
JavaScript modules beside it unpack that file, compute the forward pass and show it; the site's
build joins them with those of `attnbook.widgets` that they import.
"""

from .packing import Packed, pack, quantise, read, unpack, write

__all__ = ["Packed", "pack", "quantise", "read", "unpack", "write"]
