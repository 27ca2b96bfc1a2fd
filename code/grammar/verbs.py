"""The verbs: what they go with, and their forms, regular ones by rule and others from a table.

French persons are numbered 0 je, 1 tu, 2 il, 3 nous, 4 vous, 5 ils.
"""

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
    """Read "english | french | subjects | objects | english_prep french_prep; ..."."""
    verbs = []
    for row in text.split(";"):
        *cells, preps = ([cell.strip() for cell in row.split("|")] + [""] * 3)[:5]
        verbs.append(Verb(*cells, *preps.replace("-", "").split(" "), **common))
    return Table(verbs)


TRANSITIVE = _table("""
eat ate eaten | manger | pa | fg; drink drank drunk | boire | p | d;
see saw seen | voir | pa | pavhnoc; find found | trouver | p | octwa;
buy bought | acheter | p | fgdoctweu; sell sold | vendre | p | fgdoctweu; wash | laver | p | cwf;
help | aider | p | p; follow | suivre | pa | pav; hear heard | entendre | p | pavi;
read read | lire | p | t; write wrote written | écrire | p | t; open | ouvrir | p | k;
close | fermer | p | k; break broke broken | casser | p | b; wear wore worn | porter | p | c;
carry | porter | p | ou; lose lost | perdre | p | oct; clean | nettoyer | p | hwuk;
visit | visiter | p | hl; meet met | rencontrer | p | p;
forget+ forgot forgotten | oublier | p | ti; understand understood | comprendre | p | i;
cut+ cut | couper | p | gf; invite | inviter | p | p; watch | regarder | pa | pahv
""")
# One language asks for a preposition where the other has none.
UNEVEN = _table("""
listen | écouter | p | pi | to -; wait | attendre | p | pv | for -;
look | chercher | pa | paoct | for -; look | regarder | p | panht | at -;
answer | répondre | p | pr | - à; obey | obéir | pa | p | - à; phone | téléphoner | p | p | - à
""")
STATIVE = _table(
    """
love | aimer | p | pa; hate | détester | p | pafg; know knew known | connaître | p | phli
""",
    stative=True,
)
GIVING = _table("""
give gave given | donner | p | foctg; show showed shown | montrer | p | oct;
send sent | envoyer | p | tc; sell sold | vendre | p | foctw; lend lent | prêter | p | octw;
offer | offrir | p | foct
""")
INTRANSITIVE = _table("""
sleep slept | dormir | pa; sing sang sung | chanter | p; dance | danser | p;
work | travailler | p; run+ ran run | courir | pa; cry | pleurer | p;
swim+ swam swum | nager | pa; eat ate eaten | manger | pa; travel+ | voyager | p;
cook | cuisiner | p; read read | lire | p; dream | rêver | p
""")
MOTION = _table(
    """
go went gone | aller | pa; come came come | venir | pa; leave left | partir | pa;
arrive | arriver | pav; stay | rester | pa
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

# "it is cold" is il fait froid, "to be hungry" avoir faim, "to have to" devoir
(
    BE, BE_DO, BE_HAVE, HAVE, WANT, MUST, LIKE, MISS, NEED, KNOW_FACT, THINK, BELIEVE, INHABIT,
    LIVE
) = _table("""
be was been | être | p; be was been | faire | p; be was been | avoir | p;
have had | avoir | p | octwau; want | vouloir | p; have had | devoir | p; like | plaire | p;
miss | manquer | p; need | avoir | p | pfgdoct; know knew known | savoir | p;
think thought | penser | p; believe | croire | p; live | habiter | p | hl; live | vivre | p
""", stative=True)  # fmt: skip
(
    MISS_TRAIN, SAY, PLAY, QUIT, FORGET_BEHIND, TALK, MAKE, LET, FORGET, TRY, BEGIN, REFUSE
) = _table("""
miss | rater | p | v; say said | dire | p; play | jouer | p; leave left | quitter | p | phl;
leave left | laisser | p | oct; talk | parler | p; make made | faire | p;
let+ let | laisser | p; forget+ forgot forgotten | oublier | p; try | essayer | p;
begin+ began begun | commencer | p; refuse | refuser | p
""")  # fmt: skip


@cache
def verbs_for(table: Table, kinds: str, role: str) -> tuple[Verb, ...]:
    """Verbs of `table` whose `role` ("subjects" or "objects") may be of one of these kinds."""
    return tuple(verb for verb in table if not set(kinds).isdisjoint(getattr(verb, role)))


@cache
def among(table: Table, names: str) -> tuple[Verb, ...]:
    """Pick verbs by their English base forms, in the order of the table."""
    return tuple(verb for verb in table if verb.base in names.split())


IMPERFECT = ("ais", "ais", "ait", "ions", "iez", "aient")
FUTURE = ("ai", "as", "a", "ons", "ez", "ont")
ENDINGS = {  # present tense of the three regular groups
    "er": ("e", "es", "e", "ons", "ez", "ent"),
    "ir": ("is", "is", "it", "issons", "issez", "issent"),
    "re": ("s", "s", "", "ons", "ez", "ent"),
}
# infinitive, six persons of the present, past participle, stem of the future
_IRREGULAR = """
aller vais vas va allons allez vont allé ir
avoir ai as a avons avez ont eu aur
boire bois bois boit buvons buvez boivent bu boir
comprendre comprends comprends comprend comprenons comprenez comprennent compris comprendr
connaître connais connais connaît connaissons connaissez connaissent connu connaîtr
courir cours cours court courons courez courent couru courr
croire crois crois croit croyons croyez croient cru croir
devoir dois dois doit devons devez doivent dû devr
dire dis dis dit disons dites disent dit dir
dormir dors dors dort dormons dormez dorment dormi dormir
écrire écris écris écrit écrivons écrivez écrivent écrit écrir
envoyer envoie envoies envoie envoyons envoyez envoient envoyé enverr
être suis es est sommes êtes sont été ser
faire fais fais fait faisons faites font fait fer
lire lis lis lit lisons lisez lisent lu lir
offrir offre offres offre offrons offrez offrent offert offrir
ouvrir ouvre ouvres ouvre ouvrons ouvrez ouvrent ouvert ouvrir
partir pars pars part partons partez partent parti partir
plaire plais plais plaît plaisons plaisez plaisent plu plair
savoir sais sais sait savons savez savent su saur
suivre suis suis suit suivons suivez suivent suivi suivr
venir viens viens vient venons venez viennent venu viendr
vivre vis vis vit vivons vivez vivent vécu vivr
voir vois vois voit voyons voyez voient vu verr
vouloir veux veux veut voulons voulez veulent voulu voudr
"""
IRREGULAR = {row.split()[0]: row.split()[1:] for row in _IRREGULAR.strip().split("\n")}


def _silent(stem: str) -> str:
    """Change the stem of an -er verb before a silent ending: nettoie, achète."""
    if stem.endswith("oy"):
        return stem[:-1] + "i"
    if len(stem) > 2 and stem[-2] == "e" and stem[-1] in "lmntv":
        return stem[:-2] + "è" + stem[-1]
    return stem


def _before_a(stem: str) -> str:
    """Keep the sound of a stem's last letter before a or o: mangeons, commençons."""
    return stem + "e" if stem[-1] == "g" else stem[:-1] + "ç" if stem[-1] == "c" else stem


@cache
def french_forms(infinitive: str) -> dict[str, tuple[str, ...]]:
    """Give the six persons of each simple tense, and the participle (m. sg.) alone."""
    stem, group = infinitive[:-2], infinitive[-2:]
    if infinitive in IRREGULAR:
        *present, participle, future = IRREGULAR[infinitive]
    elif group == "er":
        silent = _silent(stem)
        stems = (silent, silent, silent, _before_a(stem), stem, silent)
        present = [part + ending for part, ending in zip(stems, ENDINGS[group], strict=True)]
        participle, future = stem + "é", silent + "er"
    else:
        present = [stem + ending for ending in ENDINGS[group]]
        participle = stem + ("i" if group == "ir" else "u")
        future = stem + group.removesuffix("e")
    past = "ét" if infinitive == "être" else stem if group == "er" else present[3][:-3]
    soft = _before_a(past)  # nous mangions, but je mangeais
    return {
        "present": tuple(present),
        "imperfect": tuple((past if e[0] == "i" else soft) + e for e in IMPERFECT),
        "future": tuple(future + e for e in FUTURE),
        "conditional": tuple(future + e for e in IMPERFECT),
        "participle": (participle,),
    }


def participle(infinitive: str, feminine: bool, plural: bool) -> str:
    """Agree a past participle: allé, allée, allés, allées; a final s takes no second one."""
    word = french_forms(infinitive)["participle"][0] + "e" * feminine
    return word + "s" if plural and word[-1] != "s" else word


@cache
def english_forms(spec: str) -> tuple[str, str, str, str, str]:
    """Give base, third person, past, participle and -ing of "eat ate eaten", "stop+" or "like".

    A plus sign doubles the last letter. Irregular verbs list past and participle.
    """
    base, *rest = spec.split()
    double = base.endswith("+")
    base = base.removesuffix("+")
    stem = base + base[-1] if double else base
    hiss = base.endswith(("s", "sh", "ch", "x", "o"))
    cut_y = base.endswith("y") and base[-2] not in "aeiou"
    third = base[:-1] + "ies" if cut_y else base + "es" if hiss else base + "s"
    third = "has" if base == "have" else third
    past = base[:-1] + "ied" if cut_y else base + "d" if base.endswith("e") else stem + "ed"
    done = past
    if rest:
        past, done = rest[0], rest[-1]
    silent = base.endswith("e") and base[-2] != "e" and len(base) > 2
    ing = base[:-1] + "ing" if silent else stem + "ing"
    return base, third, past, done, ing
