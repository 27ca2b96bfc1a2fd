"""Room 6, the Transformer: blocks, stacks, and four models made of them.

`Encoder` and `Classifier` read a sequence in both directions, `Transformer` translates,
`LanguageModel` continues. The last two are asked in two moves, as the recurrent models are:

    state = model.start(source, source_lens)   # read the source, once
    output = model.step(inputs, state)         # any number of tokens; output.state goes on

States and outputs are values: NamedTuples of tensors whose first axis is the batch. Nothing
changes them, so that a state can be kept, copied and branched; a module holds parameters only.

Shape letters: `b` batch, `l` layers, `h` heads, `q` target tokens, `k` source tokens, `t` tokens
read before, `d` features.
"""

from .blocks import DecoderBlock, EncoderBlock
from .config import TransformerConfig
from .embedding import TokenEmbedding
from .models import Classifier, Encoder, LanguageModel, Transformer
from .stacks import DecoderStack, EncoderStack
from .states import (
    Classified,
    Encoding,
    LanguageState,
    Output,
    TransformerState,
    TransformerWeights,
)
from .sublayers import CrossAttention, FeedForward, SelfAttention

__all__ = [
    "Classified",
    "Classifier",
    "CrossAttention",
    "DecoderBlock",
    "DecoderStack",
    "Encoder",
    "EncoderBlock",
    "EncoderStack",
    "Encoding",
    "FeedForward",
    "LanguageModel",
    "LanguageState",
    "Output",
    "SelfAttention",
    "TokenEmbedding",
    "Transformer",
    "TransformerConfig",
    "TransformerState",
    "TransformerWeights",
]
