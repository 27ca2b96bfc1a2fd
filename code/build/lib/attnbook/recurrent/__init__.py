"""Room 6, recurrent models: an encoder, decoders with and without attention, a translator.

A translator is asked in two moves, which training, decoding and pictures share:

    state = model.start(source, source_lens)   # read the source, once
    output = model.step(inputs, state)         # any number of target tokens; output.state goes on

States and outputs are values: NamedTuples of tensors whose first axis is the batch. Nothing
changes them, so that a state can be kept, copied and branched; a module holds parameters only.

Shape letters: `b` batch, `q` target tokens, `k` source tokens, `d` features, `l` layers.
"""

from .decoders import AttentionDecoder, PlainDecoder
from .encoder import RecurrentEncoder
from .states import Encoding, Memory, Output, RecurrentState
from .translator import RecurrentTranslator, recurrent_translator

__all__ = [
    "AttentionDecoder",
    "Encoding",
    "Memory",
    "Output",
    "PlainDecoder",
    "RecurrentEncoder",
    "RecurrentState",
    "RecurrentTranslator",
    "recurrent_translator",
]
