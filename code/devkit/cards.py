"""Write the model cards of the stored Transformers: what they are, from what, and how good.

    python -m devkit.cards [NAME ...]

The numbers are taken from the stored weights themselves, in half precision, on the whole test set.
"""

from __future__ import annotations

import argparse
import importlib
import sys

import torch

from attnbook.metrics import bleu_interval, bleu_signature, exact_match
from experiments import transformer_translation
from experiments.stored import FOLDER, load_record, load_weights
from experiments.translators import read

ABOUT = {
    "transformer_translation": {
        "task": "English to French, sentences of the course's grammar corpus",
        "data": '`attnbook.data.grammar_corpus("random")`, made by `code/grammar`, seed 0, and '
        f"{transformer_translation.FURTHER:,} further sentences of the same grammar, seed 1",
        "licence": "MIT, as the code that makes the data",
        "splits": "{pairs:,} pairs to learn from, 2,000 to choose by, 2,000 to judge on; no source "
        "sentence stands in two of them",
        "plan": "more",
        "limits": "knows the words and constructions of the grammar and no others",
    },
    "transformer_everyday": {
        "task": "English to French, everyday sentences of at most ten tokens",
        "data": "Tatoeba, by way of manythings.org (`attnbook.data.fra_eng`), words seen at least "
        "five times",
        "licence": "weights: MIT; the sentences they were learnt from: CC BY 2.0 FR, tatoeba.org",
        "splits": "40,000 pairs to learn from, 500 to choose by, 1,000 to judge on, by source "
        "sentence",
        "limits": "short sentences only; not for any use but this course",
    },
}


def card(name: str) -> str:
    """The card of one stored model, as Markdown."""
    record, about = load_record(name), ABOUT[name]
    row = next(row for row in record["rows"] if row.get("plan") == about.get("plan"))
    experiment = importlib.import_module(f"experiments.{name}")
    model, of = experiment.stored(load_weights(name))
    pairs = of.splits.test
    written, targets = read(model, pairs, of).written, [pair.target for pair in pairs]
    value, low, high = bleu_interval(written, targets)
    config = model.config
    lines = [
        f"# {name}",
        "",
        f"- **Task**: {about['task']}.",
        f"- **Model**: Transformer, {config.num_layers} + {config.num_layers} layers, "
        f"{config.d_model} features, {config.num_heads} heads, "
        f"{sum(p.numel() for p in model.parameters()):,} parameters, float16.",
        f"- **Data**: {about['data']}.",
        f"- **Splits**: {about['splits'].format_map(row)}.",
        f"- **Licence**: {about['licence']}.",
        f"- **Held-out BLEU**: {value:.1f} (95% interval over sentences {low:.1f} to {high:.1f}; "
        f"`{bleu_signature()}`). Exact match: {exact_match(written, targets):.2f}. "
        f"On {len(pairs):,} pairs, greedy decoding, these very weights (seed 0).",
        f"- **Made by**: `{record['command']}`, {record['date']}, torch {record['torch']}.",
        *([f"- **How**: {record['how']}."] if "how" in record else []),
        f"- **Limits**: {about['limits']}.",
    ]
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", choices=[*ABOUT, []], help="all, if none is named")
    torch.set_num_threads(1)
    for name in parser.parse_args().names or ABOUT:
        (FOLDER / f"{name}.md").write_text(card(name), encoding="utf-8")
        print(f"wrote {name}.md")
    return 0


if __name__ == "__main__":
    sys.exit(main())
