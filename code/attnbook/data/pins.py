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
_CHAR_RNN = f"{_RAW}/karpathy/char-rnn/6f9487a6fe5b420b7ca9afb0d7c078e37c1d1b4e"
_NLTK = f"{_RAW}/nltk/nltk_data/5db857e6f7df11eabb5e5665836db9ec8df07e28/packages/corpora"
_VADER = f"{_RAW}/cjhutto/vaderSentiment/18c86513ea60b02fce8f3b1b598da43042d91b08"
_ALIBI_LICENCE = "CC BY-SA 4.0 (annotations: Xu and Yvon, LREC 2016); texts from Wikisource"

# Five stories, "French title_English title": bytes and SHA-256 of the French text, of the English
# one, and of the links between them.
_STORIES = {
    "ChatBotte_MasterCat": """
        9143 40743a9fe0690631d279671862e0bbf1687a272feb3aa48ee041eb3fdb39013c
        9421 0f802924609eefd7a542ff1d977d609a5665b213d9ae7ecdea2ead93fe2ae2ea
        14363 518c83e307cf1863be1edb8593a555b5ef21a5cf4273960714f917f68c181bb8""",
    "LAuberge_TheInn": """
        29663 8f7ad6f8769f096ec7525aa41886ddd42f4508620d094eeb64a7258cc7367e86
        29152 26ac7dd07c388c1ef48b3b0259b1d43376a2472ae0e2b4b387b1bc58b155f37e
        51656 3cc7f00a1e235ac2cd2220744c02200855316f8d0a38363a428a3b2a12f479c8""",
    "LaBarbeBleue_BlueBeard": """
        10551 b9e2a02b48e63e4d5356e03e94d01a6febaab074bc27baf78aae026c541cefdc
        10394 f0dba2a674a4bcc80b50e5c788ad30774c0e906933a6046fcb6ce8c34c5c8d4b
        16593 65b7d4ca982a74957d29e409407940ad0a5effdc84d5fe7d2abd57fcdc9d0cdf""",
    "LaDerniereClasse_TheLastLesson": """
        10322 f2435a5211318a6b612f57d2c0d8f5e9df1e755ff1c0b0107059fb7d26c66c98
        9156 b95699a90861107eff896424e9195738a99ad606c600f4d8da9f19c6cf238070
        16977 2c291cd1166d0d56d1fd4d54ef3d0fbe1e5b03cf5f1f42115b17fb4f02cc5166""",
    "LaVision_TheVision": """
        15408 a6e718634ba78a5a5660ffc37c24bbe8bebce267af76b1304be167deb2a16db8
        14261 695c1230e5a151105f776647db3cbfd75584d1cbe0099629c5871245110a2bf8
        22921 92a29c7059b5cffa0166f14e260413c4aae0a9c48a825f554cb539cbf2f904a2""",
}


def _files(story: str, table: str) -> tuple[tuple[str, int, str], ...]:
    """(file, bytes, SHA-256) of each of the three."""
    names = [f"{title}_sents.txt" for title in story.split("_")] + [f"ali_w2w_{story}.txt"]
    rows = (row.split() for row in table.strip().splitlines())
    return tuple((name, int(size), sha) for name, (size, sha) in zip(names, rows, strict=True))


ALIBI_STORIES = {story: _files(story, table) for story, table in _STORIES.items()}  # by folder

# By the path under which a file lies in the folder of ATTNBOOK_DATA and in the cache.
PINNED = {
    "fra-eng.zip": Pinned(
        f"{_FRA_ENG}/fra-eng.zip",
        3_424_571,
        "161c93f18da3a7e6df611ed961426613260de8af06ccf8c79c977afe5135ac44",
        "CC BY 2.0 FR (Tatoeba, by way of manythings.org/anki)",
    ),
    "tinyshakespeare.txt": Pinned(
        f"{_CHAR_RNN}/data/tinyshakespeare/input.txt",
        1_115_394,
        "86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed",
        "public domain",
    ),
    "movie_reviews.zip": Pinned(
        f"{_NLTK}/movie_reviews.zip",
        4_004_848,
        "a41211ae685019137410268134db6a1a14428c89b671eb83056151a878539008",
        "CC BY 4.0 (Pang and Lee 2004, by way of nltk_data)",
    ),
    "amazonReviewSnippets_GroundTruth.txt": Pinned(
        f"{_VADER}/additional_resources/hutto_ICWSM_2014/amazonReviewSnippets_GroundTruth.txt",
        369_450,
        "e4559b1299fd793ab64794ba706421ce088b6c580b782529388997f7aedcc545",
        "MIT (ratings: Hutto and Gilbert 2014; texts collected by Hu and Liu 2004, to be quoted)",
    ),
} | {
    f"alibi/{file}": Pinned(f"{_ALIBI}/{story}/{file}", size, sha256, _ALIBI_LICENCE)
    for story, files in ALIBI_STORIES.items()
    for file, size, sha256 in files
}

CORPORA = {
    "fra_eng": ("fra-eng.zip",),
    "alibi": tuple(name for name in PINNED if name.startswith("alibi/")),
    "shakespeare": ("tinyshakespeare.txt",),
    "movie_reviews": ("movie_reviews.zip",),
    "rated_reviews": ("amazonReviewSnippets_GroundTruth.txt",),
}
