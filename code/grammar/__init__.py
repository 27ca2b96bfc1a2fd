"""English to French from a grammar of our own, with gold word alignments.

The files, in the order in which they may import: `lexicon`, `verbs`, `phrases`; `nouns`, `groups`,
`relatives`; `actions`, `predicates`, `sentences`, `questions`; `corpus`. What they derive is in the
package, in the file that `make corpus` writes and `attnbook.data.grammar_corpus` reads.

Links come from the derivation: a French token is made with the English tokens that it
translates. The rule, in the manner of Och and Ney (2003, section 3):

- *Sure* is a word with the word that it translates, function words too; where several words
  translate as a whole ("because", "parce que"; "gets up", "lève"), each with each.
- A tense is translated too. Where French has an auxiliary and English has not, both French words
  are sure with the verb ("ate", "a mangé"); where English has one whose meaning sits in a French
  ending, both English words are sure with the verb ("will eat", "mangera").
- *Possible* is what belongs to a word without translating it: an article with its noun where
  English has none, an adjective with the noun it agrees with, "ne" with "not" (which "pas"
  translates), do-support, the "be" of the progressive and of the passive with the verb, a
  preposition that only one of two verbs asks for ("looks for", "cherche"; "obeys", "obéit à"),
  "que" where English leaves "that" out, "est-ce que" with the English auxiliary, the infinitive's
  "to".
- Every sure link is possible. A word may have no link at all, for instance a comma that only one
  side has.
"""

from __future__ import annotations

from .corpus import CLASSES, PROPER, derivations, french_text

__all__ = ["CLASSES", "PROPER", "derivations", "french_text"]
