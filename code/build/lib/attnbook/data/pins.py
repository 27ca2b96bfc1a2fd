"""Corpora of others, pinned: where each file is from, its bytes, its SHA-256, its licence."""

from __future__ import annotations

from typing import NamedTuple


class Pinned(NamedTuple):
    """One file of a corpus as it must be."""

    url: str
    size: int  # bytes
    sha256: str
    licence: str


_RAW = "https://raw.githubusercontent.com"
_FRA_ENG = f"{_RAW}/modelexlab/data/adddaf33ac35572bcfeb421efec29435e7ea9332"
_ALIBI = f"{_RAW}/fyvo/AlibiWordAlignments/fb45a5b76aa542566ac5ad7674d1a31b1be88d97/ali"
_ALIBI_LICENCE = "CC BY-SA 4.0 (annotations: Xu and Yvon, LREC 2016); texts from Wikisource"

# Five stories, each told in French and English: folder, and (file, bytes, SHA-256).
ALIBI_STORIES = {
    "ChatBotte_MasterCat": (
        (
            "ChatBotte_sents.txt",
            9_143,
            "40743a9fe0690631d279671862e0bbf1687a272feb3aa48ee041eb3fdb39013c",
        ),
        (
            "MasterCat_sents.txt",
            9_421,
            "0f802924609eefd7a542ff1d977d609a5665b213d9ae7ecdea2ead93fe2ae2ea",
        ),
        (
            "ali_w2w_ChatBotte_MasterCat.txt",
            14_363,
            "518c83e307cf1863be1edb8593a555b5ef21a5cf4273960714f917f68c181bb8",
        ),
    ),
    "LAuberge_TheInn": (
        (
            "LAuberge_sents.txt",
            29_663,
            "8f7ad6f8769f096ec7525aa41886ddd42f4508620d094eeb64a7258cc7367e86",
        ),
        (
            "TheInn_sents.txt",
            29_152,
            "26ac7dd07c388c1ef48b3b0259b1d43376a2472ae0e2b4b387b1bc58b155f37e",
        ),
        (
            "ali_w2w_LAuberge_TheInn.txt",
            51_656,
            "3cc7f00a1e235ac2cd2220744c02200855316f8d0a38363a428a3b2a12f479c8",
        ),
    ),
    "LaBarbeBleue_BlueBeard": (
        (
            "LaBarbeBleue_sents.txt",
            10_551,
            "b9e2a02b48e63e4d5356e03e94d01a6febaab074bc27baf78aae026c541cefdc",
        ),
        (
            "BlueBeard_sents.txt",
            10_394,
            "f0dba2a674a4bcc80b50e5c788ad30774c0e906933a6046fcb6ce8c34c5c8d4b",
        ),
        (
            "ali_w2w_LaBarbeBleue_BlueBeard.txt",
            16_593,
            "65b7d4ca982a74957d29e409407940ad0a5effdc84d5fe7d2abd57fcdc9d0cdf",
        ),
    ),
    "LaDerniereClasse_TheLastLesson": (
        (
            "LaDerniereClasse_sents.txt",
            10_322,
            "f2435a5211318a6b612f57d2c0d8f5e9df1e755ff1c0b0107059fb7d26c66c98",
        ),
        (
            "TheLastLesson_sents.txt",
            9_156,
            "b95699a90861107eff896424e9195738a99ad606c600f4d8da9f19c6cf238070",
        ),
        (
            "ali_w2w_LaDerniereClasse_TheLastLesson.txt",
            16_977,
            "2c291cd1166d0d56d1fd4d54ef3d0fbe1e5b03cf5f1f42115b17fb4f02cc5166",
        ),
    ),
    "LaVision_TheVision": (
        (
            "LaVision_sents.txt",
            15_408,
            "a6e718634ba78a5a5660ffc37c24bbe8bebce267af76b1304be167deb2a16db8",
        ),
        (
            "TheVision_sents.txt",
            14_261,
            "695c1230e5a151105f776647db3cbfd75584d1cbe0099629c5871245110a2bf8",
        ),
        (
            "ali_w2w_LaVision_TheVision.txt",
            22_921,
            "92a29c7059b5cffa0166f14e260413c4aae0a9c48a825f554cb539cbf2f904a2",
        ),
    ),
}

# By the path under which a file lies in the folder of ATTNBOOK_DATA and in the cache.
PINNED = {
    "fra-eng.zip": Pinned(
        f"{_FRA_ENG}/fra-eng.zip",
        3_424_571,
        "161c93f18da3a7e6df611ed961426613260de8af06ccf8c79c977afe5135ac44",
        "CC BY 2.0 FR (Tatoeba, by way of manythings.org/anki)",
    ),
} | {
    f"alibi/{file}": Pinned(f"{_ALIBI}/{story}/{file}", size, sha256, _ALIBI_LICENCE)
    for story, files in ALIBI_STORIES.items()
    for file, size, sha256 in files
}

CORPORA = {
    "fra_eng": ("fra-eng.zip",),
    "alibi": tuple(name for name in PINNED if name.startswith("alibi/")),
}
