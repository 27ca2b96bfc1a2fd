"""Bytes as a script that any page may load. Standard library only: the site's build reads it too.

A page that is opened as a file may load scripts and nothing else, so the file is a script that
holds one string. The string stands for the gzip of

    length of the head, 4 bytes, little-endian | head, JSON in UTF-8 | the tensors' bytes

with 15 bits in each character. In UTF-16, whose mark at the start of the file overrules what any
server says, a character takes 16 bits, where base 64 would take 20.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Mapping
from pathlib import Path

LARGEST = 1_500_000  # bytes of the file
FIRST = 0x3400  # of 32,768 characters, none of them a quote, a line's end or half a pair
_SCRIPT = re.compile(
    r'^\(window\.attnPlayground \?\?= \{\}\)\.\w+ = \{ bytes: (\d+), text: "([^"]*)" \};\n$'
)


def to_text(content: bytes) -> str:
    """Bytes as characters of 15 bits each, the first bit first."""
    bits = "".join(format(byte, "08b") for byte in content)
    bits += "0" * (-len(bits) % 15)
    return "".join(chr(FIRST + int(bits[at : at + 15], 2)) for at in range(0, len(bits), 15))


def from_text(text: str, length: int) -> bytes:
    """The first `length` bytes of what `to_text` wrote."""
    bits = "".join(format(ord(letter) - FIRST, "015b") for letter in text)[: 8 * length]
    return int(bits or "0", 2).to_bytes(length, "big")


def write(path: Path, name: str, head: Mapping, content: bytes) -> int:
    """Write the file of the model `name`; returns its size.

    Raises:
        ValueError: it would be too large.
    """
    text = json.dumps(head, ensure_ascii=False, separators=(",", ":")).encode()
    small = gzip.compress(len(text).to_bytes(4, "little") + text + content, 9, mtime=0)
    body = f'{{ bytes: {len(small)}, text: "{to_text(small)}" }}'
    script = f"\ufeff(window.attnPlayground ??= {{}}).{name} = {body};\n".encode("utf-16-le")
    if len(script) > LARGEST:
        raise ValueError(
            f"{name} takes {len(script):,} bytes and must take at most {LARGEST:,}: store a "
            "smaller model, or fewer levels"
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(script)
    return len(script)


def unpack(path: Path) -> tuple[dict, bytes]:
    """Head and bytes of a file that `write` wrote.

    Raises:
        ValueError: the file is no such file.
    """
    found = _SCRIPT.match(path.read_bytes().decode("utf-16", errors="replace"))
    if found is None:
        raise ValueError(f"path must be a file that `write` wrote, got {path.name}")
    whole = gzip.decompress(from_text(found[2], int(found[1])))
    end = 4 + int.from_bytes(whole[:4], "little")
    return json.loads(whole[4:end]), whole[end:]
