"""The playground: a trained Transformer that runs in the reader's browser.

`packing` rounds a model to eight bits, `script` writes it, its vocabularies and what is said of it
as one file. The JavaScript modules beside them unpack that file, compute the forward pass and show
it; `page` joins them with those of `attnbook.widgets` that they import. `models` packs the stored
models: `python -m playground` in the folder `code`.
"""

from .packing import Packed, pack, quantise, read, restore
from .script import unpack, write

__all__ = ["Packed", "pack", "quantise", "read", "restore", "unpack", "write"]
