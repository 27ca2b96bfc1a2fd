"""Tokens as numbers and back: four special tokens first, then the words by frequency."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from .._checks import check_count

SPECIAL = ("<pad>", "<bos>", "<eos>", "<unk>")
PAD, BOS, EOS, UNK = range(4)


class Vocabulary:
    """The tokens of a corpus, numbered: padding, begin, end and unknown are 0 to 3.

    Words follow by falling count, equal counts in the order of their characters, so that the same
    corpus gives the same numbers on any machine.

    Args:
        sequences: sentences, each a sequence of tokens.
        min_count: words seen less often are left out, and encoded as `<unk>`.

    Raises:
        TypeError: a sentence is a plain string, or a token is no string.
        ValueError: a sentence holds one of the special tokens, or `min_count` is below 1.
    """

    def __init__(self, sequences: Iterable[Sequence[str]], *, min_count: int = 1):
        min_count = check_count("min_count", min_count, least=1)
        counts = Counter()
        for sequence in sequences:
            counts.update(_checked("sequences", sequence))
        if reserved := [token for token in SPECIAL if token in counts]:
            raise ValueError(
                f"sequences must not hold the special tokens, which are added: {reserved}"
            )
        kept = sorted((-n, token) for token, n in counts.items() if n >= min_count)
        self.tokens = [*SPECIAL, *(token for _, token in kept)]
        self._ids = {token: i for i, token in enumerate(self.tokens)}

    @classmethod
    def from_tokens(cls, tokens: Sequence[str]) -> Vocabulary:
        """Rebuild a vocabulary from its `tokens`, for instance beside stored weights.

        Raises:
            ValueError: the four special tokens do not come first, or a token comes twice.
        """
        tokens = list(_checked("tokens", tokens))
        if tuple(tokens[: len(SPECIAL)]) != SPECIAL:
            raise ValueError(f"tokens must begin with {list(SPECIAL)}, got {tokens[:4]}")
        if twice := [token for token, n in Counter(tokens).items() if n > 1]:
            raise ValueError(f"tokens must be distinct, got more than once: {twice[:5]}")
        vocabulary = cls([])
        vocabulary.tokens = tokens
        vocabulary._ids = {token: i for i, token in enumerate(tokens)}
        return vocabulary

    def __len__(self) -> int:
        return len(self.tokens)

    def __contains__(self, token: str) -> bool:
        return token in self._ids

    def __repr__(self) -> str:
        return f"Vocabulary of {len(self):,} tokens"

    def encode(self, tokens: Sequence[str]) -> list[int]:
        """Give the number of each token, 3 for one that is not in the vocabulary.

        No `<bos>` and no `<eos>` is added; `collate` does that.
        """
        return [self._ids.get(token, UNK) for token in _checked("tokens", tokens)]

    def decode(self, ids: Iterable[int]) -> list[str]:
        """Give the tokens up to the first `<eos>`, without padding and `<bos>`.

        Args:
            ids: ints, or an integer tensor of one axis.

        Raises:
            ValueError: a number is no number of this vocabulary.
        """
        words = []
        for i in ids.tolist() if hasattr(ids, "tolist") else ids:
            if not 0 <= i < len(self.tokens):
                raise ValueError(f"ids must be at least 0 and below {len(self)}, got {i}")
            if i == EOS:
                break
            if i not in (PAD, BOS):
                words.append(self.tokens[i])
        return words


def _checked(name: str, sequence: Sequence[str]) -> Sequence[str]:
    """Return the sequence, or raise: a string would be taken letter by letter."""
    if isinstance(sequence, str):
        raise TypeError(f"{name} must hold tokens; got the string {sequence!r}: tokenize it first")
    for token in sequence:
        if not isinstance(token, str):
            raise TypeError(f"{name} must hold tokens of type str, got {type(token).__name__}")
    return sequence
