"""Write the corpus file anew: `make corpus`, or `python -m grammar`."""

import hashlib
import lzma

from attnbook.data.grammar import FILE, SHA256

from .corpus import text

content = text()
found = hashlib.sha256(content).hexdigest()
FILE.write_bytes(lzma.compress(content, preset=9 | lzma.PRESET_EXTREME))
print(f"{FILE}: {FILE.stat().st_size:,} bytes")
if found != SHA256:
    print(f'These are other sentences: write SHA256 = "{found}" into attnbook/data/grammar.py.')
