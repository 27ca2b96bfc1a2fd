"""Verb forms of both languages: regular ones by rule, the others from a table.

French persons are numbered 0 je, 1 tu, 2 il, 3 nous, 4 vous, 5 ils.
"""

from __future__ import annotations

from functools import cache

IMPERFECT = ("ais", "ais", "ait", "ions", "iez", "aient")
FUTURE = ("ai", "as", "a", "ons", "ez", "ont")
ENDINGS = {  # present tense of the three regular groups
    "er": ("e", "es", "e", "ons", "ez", "ent"),
    "ir": ("is", "is", "it", "issons", "issez", "issent"),
    "re": ("s", "s", "", "ons", "ez", "ent"),
}
# infinitive, six persons of the present, past participle, stem of the future
IRREGULAR = {
    row[0]: (tuple(row[1:7]), row[7], row[8])
    for row in (
        line.split()
        for line in """
aller vais vas va allons allez vont allé ir
apprendre apprends apprends apprend apprenons apprenez apprennent appris apprendr
avoir ai as a avons avez ont eu aur
boire bois bois boit buvons buvez boivent bu boir
comprendre comprends comprends comprend comprenons comprenez comprennent compris comprendr
conduire conduis conduis conduit conduisons conduisez conduisent conduit conduir
connaître connais connais connaît connaissons connaissez connaissent connu connaîtr
courir cours cours court courons courez courent couru courr
croire crois crois croit croyons croyez croient cru croir
devoir dois dois doit devons devez doivent dû devr
dire dis dis dit disons dites disent dit dir
dormir dors dors dort dormons dormez dorment dormi dormir
écrire écris écris écrit écrivons écrivez écrivent écrit écrir
endormir endors endors endort endormons endormez endorment endormi endormir
envoyer envoie envoies envoie envoyons envoyez envoient envoyé enverr
être suis es est sommes êtes sont été ser
faire fais fais fait faisons faites font fait fer
lire lis lis lit lisons lisez lisent lu lir
mettre mets mets met mettons mettez mettent mis mettr
offrir offre offres offre offrons offrez offrent offert offrir
ouvrir ouvre ouvres ouvre ouvrons ouvrez ouvrent ouvert ouvrir
partir pars pars part partons partez partent parti partir
peindre peins peins peint peignons peignez peignent peint peindr
plaire plais plais plaît plaisons plaisez plaisent plu plair
pouvoir peux peux peut pouvons pouvez peuvent pu pourr
prendre prends prends prend prenons prenez prennent pris prendr
recevoir reçois reçois reçoit recevons recevez reçoivent reçu recevr
revenir reviens reviens revient revenons revenez reviennent revenu reviendr
rire ris ris rit rions riez rient ri rir
savoir sais sais sait savons savez savent su saur
sortir sors sors sort sortons sortez sortent sorti sortir
suivre suis suis suit suivons suivez suivent suivi suivr
venir viens viens vient venons venez viennent venu viendr
vivre vis vis vit vivons vivez vivent vécu vivr
voir vois vois voit voyons voyez voient vu verr
vouloir veux veux veut voulons voulez veulent voulu voudr
""".split("\n")
        if line
    )
}


def _er_stems(infinitive: str) -> tuple[str, str]:
    """Stem of a regular -er verb before a sounded ending and before a silent one."""
    stem = infinitive[:-2]
    silent = stem
    if infinitive.endswith("oyer"):
        silent = stem[:-1] + "i"  # nettoyer, nettoie
    elif infinitive in ("appeler", "jeter"):
        silent = stem + stem[-1]  # appelle, jette
    elif len(stem) > 2 and stem[-2] == "e" and stem[-1] in "lmntv":
        silent = stem[:-2] + "è" + stem[-1]  # acheter, achète
    elif len(stem) > 2 and stem[-2] == "é":
        silent = stem[:-2] + "è" + stem[-1]  # préférer, préfère
    return stem, silent


def _before_a(stem: str) -> str:
    """Keep the sound of a stem's last letter before a or o: mangeons, commençons."""
    return stem + "e" if stem[-1] == "g" else stem[:-1] + "ç" if stem[-1] == "c" else stem


@cache
def french_forms(infinitive: str) -> dict[str, tuple[str, ...]]:
    """Give the six persons of each simple tense, and the participle under "participle"."""
    if infinitive in IRREGULAR:
        present, participle, future = IRREGULAR[infinitive]
        past = "ét" if infinitive == "être" else present[3][:-3]
    elif infinitive.endswith("er"):
        stem, silent = _er_stems(infinitive)
        present = tuple(
            (stem if i == 4 else _before_a(stem) if i == 3 else silent) + ending
            for i, ending in enumerate(ENDINGS["er"])
        )
        participle = stem + "é"
        # the future follows the silent stem, except where é stands in the infinitive
        future = infinitive if infinitive[-4:-3] == "é" else silent + "er"
        past = stem
    else:
        group = infinitive[-2:]
        stem = infinitive[:-2]
        present = tuple(stem + ending for ending in ENDINGS[group])
        participle = stem + ("i" if group == "ir" else "u")
        future = infinitive if group == "ir" else infinitive[:-1]
        past = present[3][:-3]
    soft = _before_a(past)  # nous mangions, but je mangeais
    imperfect = tuple((past if e[0] == "i" else soft) + e for e in IMPERFECT)
    return {
        "present": present,
        "imperfect": imperfect,
        "future": tuple(future + e for e in FUTURE),
        "conditional": tuple(future + e for e in IMPERFECT),
        "participle": (participle, participle + "e"),
    }


def participle(infinitive: str, feminine: bool, plural: bool) -> str:
    """Agree a past participle: allé, allée, allés, allées; a final s takes no second one."""
    word = french_forms(infinitive)["participle"][0]
    if infinitive == "devoir" and (feminine or plural):
        word = "du"
    if feminine:
        word += "e"
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
