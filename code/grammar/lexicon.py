"""Nouns, adjectives and names, with what may be said of what.

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


class Noun(NamedTuple):
    """A noun of both languages: singular and plural, French gender, and its kinds."""

    english: tuple[str, str]
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
    graded: str  # the English comparative, where it is one word
    before_vowel: str  # m. sg. before a vowel, where that is another word

    def form(self, feminine: bool, plural: bool) -> str:
        """Agree with a noun in gender and number."""
        return self.french[feminine + 2 * plural]


def french_plural(word: str) -> str:
    """Write the plural of a noun or adjective."""
    if word[-1] in "sxz":
        return word
    if word.endswith("al"):
        return word[:-2] + "aux"
    return word + ("x" if word.endswith("eau") else "s")


def _english_plural(word: str) -> str:
    if word.endswith("y") and word[-2] not in "aeiou":
        return word[:-1] + "ies"
    return word + ("es" if word.endswith(("s", "sh", "ch", "x")) else "s")


def _noun(row: str) -> Noun:
    """Read "child/children enfant m p"; regular plurals are made."""
    english, french, gender, kinds = row.split()
    one, _, many = english.partition("/")
    if "p" in kinds:
        kinds += "W" if gender == "f" else "M"
    words = (one, many or _english_plural(one)), (french, french_plural(french))
    return Noun(*words, gender == "f", kinds)


def _adjective(row: str) -> Adjective:
    """Read "old vieux/vieille/vieil pre pac older"; regular feminines are made."""
    english, french, side, kinds, graded = [*row.split(), ""][:5]
    masculine, feminine, vowel = [*french.split("/"), "", ""][:3]
    feminine = feminine or masculine.removesuffix("e") + "e"
    forms = (masculine, feminine, french_plural(masculine), french_plural(feminine))
    return Adjective(english, forms, side == "pre", kinds, graded, vowel)


_NOUNS = """
king roi m p, queen reine f p, girl fille f p, boy garçon m p, man/men homme m p,
woman/women femme f p, child/children enfant m p, teacher professeur m p, doctor médecin m p,
actress actrice f p, neighbour voisin m p, student étudiant m p, baker boulanger m p,
sister sœur f pq, brother frère m pq, mother mère f pq, father père m pq, uncle oncle m pq,
aunt tante f pq, lawyer avocat m p, nurse infirmière f p, cat chat m a, dog chien m a,
horse cheval m a, bird oiseau m a, cow vache f a, mouse/mice souris f a, rabbit lapin m a,
apple pomme f f, orange orange f f, egg œuf m f, cake gâteau m f, bread pain m g,
meat viande f g, cheese fromage m g, butter beurre m g, water eau f d, milk lait m d,
wine vin m d, coffee café m d, book livre m tj, letter lettre f tr, novel roman m tj,
table table f u, chair chaise f u, key clé f o, lamp lampe f ob, cup tasse f obm,
glass verre m obm, mirror miroir m ob, knife/knives couteau m o, box boîte f okm, bag sac m okm,
bottle bouteille f obm, door porte f k, window fenêtre f kb, dress robe f c, shirt chemise f c,
hat chapeau m c, shoe chaussure f c, watch montre f o, car voiture f vw, train train m v,
boat bateau m vw, bicycle vélo m vw, house maison f he, school école f h, church église f h,
castle château m he, hotel hôtel m he, museum musée m h, library bibliothèque f h,
shop magasin m he, garden jardin m l, forest forêt f l, village village m l, city ville f l,
island île f l, beach plage f l, river rivière f n, tree arbre m n, flower fleur f n,
star étoile f n, mountain montagne f n, story histoire f i, song chanson f i,
question question f irj, answer réponse f i, lesson leçon f ij
"""
NOUNS = {noun.english[0]: noun for noun in map(_noun, _NOUNS.split(","))}
# An English noun with two French ones ("bank"), or that is an adjective too ("light").
MONEY_BANK = _noun("bank banque f h")
RIVER_BANK = _noun("bank rive f y")
LIGHT = _noun("light lumière f x")
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

_ADJECTIVES = """
small petit pre aoctvhlu smaller, big gros/grosse pre afo bigger, tall grand pre p taller,
old vieux/vieille/vieil pre pactvhlu older, young jeune pre pa younger,
new nouveau/nouvelle/nouvel pre ctwhiou, beautiful beau/belle/bel pre Wacwhlniuy,
handsome beau/belle/bel pre M, good bon/bonne pre pfgdti, pretty joli pre Wacohly prettier,
long long/longue pre ity longer, red rouge post ocvu, black noir post aocvu,
white blanc/blanche post aocvhu, green vert post ocvu, blue bleu post ocv,
happy heureux/heureuse post p happier, sad triste post pi sadder, tired fatigué post pa,
clever intelligent post pa cleverer, rich riche post p richer, famous célèbre post phltiy,
kind gentil/gentille post p kinder, strong fort post pa stronger, sick malade post pa,
english anglais post pt, french français post ptf, italian italien/italienne post pcw,
heavy lourd post ou heavier, light léger/légère post oc lighter,
expensive cher/chère post ocwde, empty vide post mh, dirty sale post ocvu dirtier,
clean propre post ocvu cleaner, hot chaud post d hotter, cold froid post d colder,
fresh frais/fraîche post fgd fresher, strange étrange post ihlt stranger,
difficult difficile post j, quiet tranquille post ly quieter
"""
ADJECTIVES = [_adjective(row) for row in _ADJECTIVES.split(",")]

COMPOUNDS = {  # a garden table is a "table de jardin"
    "table": "garden | de/preposition/?0 jardin/noun/0",
    "chair": "garden | de/preposition/?0 jardin/noun/0",
    "key": "car | de/preposition/?0 voiture/noun/0",
    "cup": "coffee | à/preposition/?0 café/noun/0",
    "glass": "wine | à/preposition/?0 vin/noun/0",
    "bottle": "milk | de/preposition/?0 lait/noun/0",
    "book": "school | de/preposition/?0 école/noun/0",
    "bag": "school | de/preposition/?0 école/noun/0",
    "knife": "bread | à/preposition/?0 pain/noun/0",
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
    return tuple(a for a in ADJECTIVES if any(kind in a.kinds for kind in kinds))


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


# English, French, what "in" and "to" are before a place, and whether it is feminine.
PEOPLE = [("mary", "marie", True), ("alice", "alice", True), ("peter", "pierre", False),
          ("paul", "paul", False), ("louis", "louis", False)]  # fmt: skip
TOWNS = [("paris", "paris", "à", False), ("london", "londres", "à", False),
         ("rome", "rome", "à", True)]  # fmt: skip
COUNTRIES = [("france", "france", "en", True), ("italy", "italie", "en", True),
             ("spain", "espagne", "en", True), ("japan", "japon", "au", False),
             ("portugal", "portugal", "au", False)]  # fmt: skip
PROPER = frozenset([person[1] for person in PEOPLE] + [place[1] for place in (*TOWNS, *COUNTRIES)])
