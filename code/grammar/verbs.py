"""The verbs: their words in both languages and the kinds of subject and object they take."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple


class Verb(NamedTuple):
    """A verb of both languages; kinds as in `lexicon`."""

    english: str  # base form and, where irregular, past and participle; "+" doubles a letter
    french: str  # infinitive
    subjects: str
    objects: str = ""
    english_prep: str = ""  # "listen to" asks for one where "écouter" does not
    french_prep: str = ""  # "répondre à" asks for one where "answer" does not
    etre: bool = False  # compound tenses with être
    stative: bool = False  # no progressive; an English past is a French imparfait

    @property
    def base(self) -> str:
        """The English base form, which names the verb."""
        return self.english.split()[0].removesuffix("+")


class Table(tuple):
    """Verbs in order; hashed by identity, so that a cache may be keyed by a whole table."""

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other


def _table(text: str, **common) -> Table:
    """Read lines of "english | french | subjects | objects | english_prep french_prep"."""
    verbs = []
    for line in text.strip().split("\n"):
        cells = [cell.strip() for cell in line.split("|")] + [""] * 3
        english, french, subjects, objects, preps = cells[:5]
        english_prep, french_prep = preps.replace("-", "").split(" ") if preps else ("", "")
        verbs.append(Verb(english, french, subjects, objects, english_prep, french_prep, **common))
    return Table(verbs)


TRANSITIVE = _table("""
eat ate eaten | manger | pa | fg
drink drank drunk | boire | p | d
see saw seen | voir | pa | pavhnoc
find found | trouver | p | octwa
buy bought | acheter | p | fgdoctweu
sell sold | vendre | p | fgdoctweu
wash | laver | p | cwf
help | aider | p | p
follow | suivre | pa | pav
hear heard | entendre | p | pavi
read read | lire | p | t
write wrote written | écrire | p | t
open | ouvrir | p | k
close | fermer | p | k
break broke broken | casser | p | b
wear wore worn | porter | p | c
carry | porter | p | ou
lose lost | perdre | p | oct
clean | nettoyer | p | hwuk
visit | visiter | p | hl
meet met | rencontrer | p | p
forget+ forgot forgotten | oublier | p | ti
understand understood | comprendre | p | i
cut+ cut | couper | p | gf
invite | inviter | p | p
watch | regarder | pa | pahv
""")
# One language asks for a preposition where the other has none.
UNEVEN = _table("""
listen to | écouter | p | pi | to -
wait for | attendre | p | pv | for -
look for | chercher | pa | paoct | for -
look at | regarder | p | panht | at -
answer | répondre | p | pr | - à
obey | obéir | pa | p | - à
phone | téléphoner | p | p | - à
""".replace("listen to", "listen").replace("wait for", "wait").replace("look for", "look")
    .replace("look at", "look"))  # fmt: skip
STATIVE = _table(
    """
love | aimer | p | pa
hate | détester | p | pafg
know knew known | connaître | p | phli
""",
    stative=True,
)
GIVING = _table("""
give gave given | donner | p | foctg
show showed shown | montrer | p | oct
send sent | envoyer | p | tc
sell sold | vendre | p | foctw
lend lent | prêter | p | octw
offer | offrir | p | foct
""")
INTRANSITIVE = _table("""
sleep slept | dormir | pa
sing sang sung | chanter | p
dance | danser | p
work | travailler | p
run+ ran run | courir | pa
cry | pleurer | p
swim+ swam swum | nager | pa
eat ate eaten | manger | pa
travel+ | voyager | p
cook | cuisiner | p
read read | lire | p
dream | rêver | p
""")
MOTION = _table(
    """
go went gone | aller | pa
come came come | venir | pa
leave left | partir | pa
arrive | arriver | pav
stay | rester | pa
""",
    etre=True,
)
GO, COME, LEAVE, ARRIVE, STAY = MOTION
# English particle or reflexive pronoun; "-" stands for nothing
REFLEXIVE = [
    (Verb("get+ got", "lever", "p"), "up"),
    (Verb("wake woke woken", "réveiller", "p"), "up"),
    (Verb("wash", "laver", "p"), "self"),
    (Verb("hide hid hidden", "cacher", "pa"), ""),
    (Verb("rest", "reposer", "pa"), ""),
    (Verb("hurry", "dépêcher", "p"), ""),
    (Verb("enjoy", "amuser", "p"), "self"),
]

DOING = Table((*TRANSITIVE, *UNEVEN))
ACTING = Table((*TRANSITIVE, *INTRANSITIVE))
MUTUAL = Table((*TRANSITIVE, *STATIVE))

BE = Verb("be was been", "être", "p", stative=True)
BE_DO = Verb("be was been", "faire", "p", stative=True)  # it is cold: il fait froid
BE_HAVE = Verb("be was been", "avoir", "p", stative=True)  # to be hungry is avoir faim
HAVE = Verb("have had", "avoir", "p", "octwau", stative=True)
WANT = Verb("want", "vouloir", "p", stative=True)
MUST = Verb("have had", "devoir", "p", stative=True)
LIKE = Verb("like", "plaire", "p", stative=True)
MISS = Verb("miss", "manquer", "p", stative=True)
MISS_TRAIN = Verb("miss", "rater", "p", "v")
NEED = Verb("need", "avoir", "p", "pfgdoct", stative=True)
KNOW_FACT = Verb("know knew known", "savoir", "p", stative=True)
THINK = Verb("think thought", "penser", "p", stative=True)
BELIEVE = Verb("believe", "croire", "p", stative=True)
SAY = Verb("say said", "dire", "p")
INHABIT = Verb("live", "habiter", "p", "hl", stative=True)
LIVE = Verb("live", "vivre", "p", stative=True)
PLAY = Verb("play", "jouer", "p")
QUIT = Verb("leave left", "quitter", "p", "phl")
FORGET_BEHIND = Verb("leave left", "laisser", "p", "oct")
DO = Verb("do did done", "faire", "p")
TALK = Verb("talk", "parler", "p")
MAKE = Verb("make made", "faire", "p")
LET = Verb("let+ let", "laisser", "p")
FORGET = Verb("forget+ forgot forgotten", "oublier", "p")
TRY = Verb("try", "essayer", "p")
BEGIN = Verb("begin+ began begun", "commencer", "p")
REFUSE = Verb("refuse", "refuser", "p")


@cache
def verbs_for(table: Table, kinds: str, role: str) -> tuple[Verb, ...]:
    """Verbs of `table` whose `role` ("subjects" or "objects") may be of one of these kinds."""
    return tuple(verb for verb in table if any(kind in getattr(verb, role) for kind in kinds))


@cache
def among(table: Table, names: str) -> tuple[Verb, ...]:
    """Pick verbs by their English base forms, in the order of the table."""
    wanted = names.split()
    return tuple(verb for verb in table if verb.base in wanted)
