"""Nouns, adjectives and adverbials with what may be said of what.

Kinds of things, one letter each: p person (W woman, M man, q relative), a animal, f food that is
counted, g food that is not, d drink, t text, o object, u furniture, c clothing, v vehicle, w
vehicle that a person may own, h building, e building that an owner sells, l open place, n nature,
y part of a landscape, i something said or known, r what is answered, j what may be difficult, k
what opens, b what breaks, m what holds something, x the rest. A noun may be of several kinds; a
verb or an adjective lists the kinds it goes with.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from .tokens import noun_plural


class Noun(NamedTuple):
    """A noun of both languages: words of each number, French gender, and its kinds."""

    english: tuple[str, str]  # singular, plural
    french: tuple[str, str]
    feminine: bool
    kinds: str

    @property
    def mass(self) -> bool:
        """Whether it is measured and not counted."""
        return self.kinds in ("g", "d")


class Adjective(NamedTuple):
    """An adjective of both languages; `before` tells whether it precedes a French noun."""

    english: str
    french: tuple[str, str, str, str]  # m. sg., f. sg., m. pl., f. pl.
    before: bool
    kinds: str
    graded: tuple[str, str] | None  # English comparative and superlative, one word each
    before_vowel: str | None  # m. sg. before a vowel

    def form(self, feminine: bool, plural: bool) -> str:
        """Agree with a noun in gender and number."""
        return self.french[feminine + 2 * plural]


def _english_plural(word: str) -> str:
    if word.endswith("y") and word[-2] not in "aeiou":
        return word[:-1] + "ies"
    return word + ("es" if word.endswith(("s", "sh", "ch", "x")) else "s")


def _noun(line: str) -> Noun:
    english, french, gender, kinds = line.split()
    one, _, many = english.partition("/")
    fr_one, _, fr_many = french.partition("/")
    return Noun(
        (one, many or _english_plural(one)),
        (fr_one, fr_many or noun_plural(fr_one)),
        gender == "f",
        kinds + ("W" if gender == "f" else "M") if "p" in kinds else kinds,
    )


def _adjective(line: str) -> Adjective:
    english, french, side, kinds, degree = line.split()
    masculine, feminine, vowel = (*french.split("/"), "", "")[:3]
    feminine = feminine or (masculine if masculine[-1] == "e" else masculine + "e")
    forms = (masculine, feminine, noun_plural(masculine), noun_plural(feminine))
    graded = tuple(degree.split("/")) if "/" in degree else None
    return Adjective(english, forms, side == "pre", kinds, graded, vowel or None)


def _lines(text: str) -> list[str]:
    return [line for line in text.strip().split("\n") if line]


NOUNS = {
    noun.english[0]: noun
    for noun in map(
        _noun,
        _lines("""
king roi m p
queen reine f p
girl fille f p
boy garçon m p
man/men homme m p
woman/women femme f p
child/children enfant m p
teacher professeur m p
doctor médecin m p
actress actrice f p
neighbour voisin m p
student étudiant m p
baker boulanger m p
sister sœur f pq
brother frère m pq
mother mère f pq
father père m pq
uncle oncle m pq
aunt tante f pq
lawyer avocat m p
nurse infirmière f p
cat chat m a
dog chien m a
horse cheval m a
bird oiseau m a
cow vache f a
mouse/mice souris f a
rabbit lapin m a
apple pomme f f
orange orange f f
egg œuf m f
cake gâteau m f
bread pain m g
meat viande f g
cheese fromage m g
butter beurre m g
water eau f d
milk lait m d
wine vin m d
coffee café m d
book livre m tj
letter lettre f tr
novel roman m tj
table table f u
chair chaise f u
key clé f o
lamp lampe f ob
cup tasse f obm
glass verre m obm
mirror miroir m ob
knife/knives couteau m o
box boîte f okm
bag sac m okm
bottle bouteille f obm
door porte f k
window fenêtre f kb
dress robe f c
shirt chemise f c
hat chapeau m c
shoe chaussure f c
watch montre f o
car voiture f vw
train train m v
boat bateau m vw
bicycle vélo m vw
house maison f he
school école f h
church église f h
castle château m he
hotel hôtel m he
museum musée m h
library bibliothèque f h
shop magasin m he
garden jardin m l
forest forêt f l
village village m l
city ville f l
island île f l
beach plage f l
river rivière f n
tree arbre m n
flower fleur f n
star étoile f n
mountain montagne f n
story histoire f i
song chanson f i
question question f irj
answer réponse f i
lesson leçon f ij
"""),
    )
}
# An English noun with two French ones ("bank"), or that is an adjective too ("light").
MONEY_BANK = Noun(("bank", "banks"), ("banque", "banques"), True, "h")
RIVER_BANK = Noun(("bank", "banks"), ("rive", "rives"), True, "y")
LIGHT = Noun(("light", "lights"), ("lumière", "lumières"), True, "x")
NOT_OWNED = frozenset(
    """king queen girl boy man woman actress mouse library museum church city river island beach
    forest star mountain train hotel""".split()
)  # nobody says "my river"
# Pairs that make no sense, or that mean something else in French: a "vieux garçon" is a bachelor,
# a "grand homme" a great man, a "grand père" and a "belle mère" are other relatives.
NEVER = {
    "boy": ("old",), "girl": ("old", "beautiful"), "child": ("old", "rich"), "man": ("tall",),
    "woman": ("good",), "sister": ("tall", "beautiful", "good"),
}  # fmt: skip
RELATIVE_NEVER = ("tall", "beautiful", "handsome")
# Of one thing only one of a family is said: no train is black and so blue.
FAMILIES = (
    "red black white green blue", "english french italian", "small big tall long",
    "old young new", "hot cold fresh", "clean dirty", "light heavy", "happy sad", "clever strange",
    "beautiful handsome pretty", "strong tired sick",
)  # fmt: skip
NOT_GRADED = frozenset("red black white green blue english french italian fresh empty".split())

ADJECTIVES = {
    adjective.english: adjective
    for adjective in map(
        _adjective,
        _lines("""
small petit pre aoctvhlu smaller/smallest
big gros/grosse pre afo bigger/biggest
tall grand pre p taller/tallest
old vieux/vieille/vieil pre pactvhlu older/oldest
young jeune pre pa younger/youngest
new nouveau/nouvelle/nouvel pre ctwhiou -
beautiful beau/belle/bel pre Wacwhlniuy -
handsome beau/belle/bel pre M -
good bon/bonne pre pfgdti -
pretty joli pre Wacohly prettier/prettiest
long long/longue pre ity longer/longest
red rouge post ocvu -
black noir post aocvu -
white blanc/blanche post aocvhu -
green vert post ocvu -
blue bleu post ocv -
happy heureux/heureuse post p happier/happiest
sad triste post pi sadder/saddest
tired fatigué post pa -
clever intelligent post pa cleverer/cleverest
rich riche post p richer/richest
famous célèbre post phltiy -
kind gentil/gentille post p kinder/kindest
strong fort post pa stronger/strongest
sick malade post pa -
english anglais post pt -
french français post ptf -
italian italien/italienne post pcw -
heavy lourd post ou heavier/heaviest
light léger/légère post oc lighter/lightest
expensive cher/chère post ocwde -
empty vide post mh -
dirty sale post ocvu dirtier/dirtiest
clean propre post ocvu cleaner/cleanest
hot chaud post d hotter/hottest
cold froid post d colder/coldest
fresh frais/fraîche post fgd fresher/freshest
strange étrange post ihlt stranger/strangest
difficult difficile post j -
quiet tranquille post ly quieter/quietest
"""),
    )
}

# Head, modifier, and what joins them in French: a garden table is a "table de jardin".
COMPOUNDS = {
    "table": ("garden", "de", "jardin"),
    "chair": ("garden", "de", "jardin"),
    "key": ("car", "de", "voiture"),
    "cup": ("coffee", "à", "café"),
    "glass": ("wine", "à", "vin"),
    "bottle": ("milk", "de", "lait"),
    "book": ("school", "de", "école"),
    "bag": ("school", "de", "école"),
    "knife": ("bread", "à", "pain"),
}


@cache
def nouns_of(kinds: str, without: str = "") -> tuple[Noun, ...]:
    """Nouns of any of these kinds and of none of the others, in the order of the table."""
    return tuple(
        noun
        for noun in NOUNS.values()
        if any(kind in noun.kinds for kind in kinds)
        and not any(kind in noun.kinds for kind in without)
    )


@cache
def adjectives_of(kinds: str) -> tuple[Adjective, ...]:
    """Adjectives that go with any of these kinds, in the order of the table."""
    return tuple(a for a in ADJECTIVES.values() if any(kind in a.kinds for kind in kinds))


@cache
def attributes_of(noun: Noun, before: bool) -> tuple[Adjective, ...]:
    """Adjectives that may stand beside this noun, in French before it or after it."""
    never = NEVER.get(noun.english[0], RELATIVE_NEVER if "q" in noun.kinds else ())
    return tuple(
        a for a in adjectives_of(noun.kinds) if a.before == before and a.english not in never
    )


@cache
def family_of(adjective: str) -> frozenset[str]:
    """The adjectives that say or deny the same of a thing."""
    families = [family.split() for family in FAMILIES]
    return frozenset([adjective]).union(*(f for f in families if adjective in f))
