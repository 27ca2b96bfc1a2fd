"""After an edit, what is read and written anew: the site is that of a full build, to the byte.

Sphinx reads an edited page again and writes it. Here are added the pages that show what another
page says: its titles, numbers and labels may stand anywhere; which chapters use a term or a name,
in the glossary and the reference; a chapter's minutes, on the first page. `devkit.build`
asks for this only where pages alone were edited, and builds in full otherwise.
"""

from __future__ import annotations

import hashlib
import pickle
from pathlib import Path

from attn_api import REFERENCE
from attn_dark import twin

DOMAINS = {
    "std": ("labels", "anonlabels", "objects", "terms", "progoptions"),
    "math": ("objects",),
    "py": ("objects", "modules"),
}
ENTRIES = "search_entries.pickle"  # beside the environment: Sphinx forgets them


def digest(found) -> str:
    """The same for equal values, in whatever order they were met."""
    rows = sorted(map(repr, found.items())) if isinstance(found, dict) else found
    return hashlib.sha256(repr(rows).encode()).hexdigest()


def read_edited(app, env, added, changed, removed) -> list[str]:
    """Pages whose text is not the one that was read: dates say little after a checkout."""
    paths = {name: Path(env.doc2path(name)) for name in env.found_docs}
    now = {name: hashlib.sha256(p.read_bytes()).digest() for name, p in paths.items()}
    before, env.attn_read = getattr(env, "attn_read", {}), now
    return [name for name in now if before.get(name) != now[name]]


def told(env) -> dict[str, list[str]]:
    """What pages show of one another, and by a digest of it, the pages that show it."""
    everywhere = [
        *({name: node.astext() for name, node in env.titles.items()},),
        *({name: node.pformat() for name, node in env.tocs.items()},),
        *(env.toc_secnumbers, env.toc_fignumbers, env.toctree_includes),
        *(env.domaindata[name][key] for name, keys in DOMAINS.items() for key in keys),
    ]
    reference = [name for name in env.found_docs if name.startswith(REFERENCE)]
    return {
        digest(list(map(digest, everywhere))): sorted(env.found_docs),
        digest(env.attn_uses): [env.config.attn_glossary],
        digest(env.attn_api_uses): reference,
        digest(env.metadata): [env.config.root_doc],
    }


def write_more(app, env) -> list[str]:
    """The pages that show what has changed on another page."""
    shown = told(env)
    before, env.attn_told = getattr(env, "attn_told", set()), set(shown)
    return [name for key, pages in shown.items() if key not in before for name in pages]


def mend_search(app) -> list:
    """Before the search's index is written: entries of all pages, and no word without a page."""
    index = getattr(app.builder, "indexer", None)
    if index is None:
        return []
    for words in (index._mapping, index._title_mapping):
        for word in [word for word, pages in words.items() if not pages]:
            del words[word]
    store = Path(app.doctreedir) / ENTRIES
    known = pickle.loads(store.read_bytes()) if store.is_file() else {}
    known |= index._index_entries
    index._index_entries = dict(sorted((n, known[n]) for n in app.env.found_docs))
    store.write_bytes(pickle.dumps(index._index_entries))
    return []


def drop_pictures(app, error) -> None:
    """Pictures that no page shows any more."""
    if error or app.builder.format != "html":
        return
    shown = {name for _, name in app.env.images.values()}
    shown |= {twin(name) for name in shown}
    for path in (Path(app.outdir) / app.builder.imagedir).glob("*"):
        if path.name not in shown:
            path.unlink()


def setup(app):
    app.connect("env-get-outdated", read_edited)
    app.connect("env-get-updated", write_more, priority=900)  # when all is numbered
    app.connect("html-collect-pages", mend_search)
    app.connect("build-finished", drop_pictures)
    return {"version": "1", "parallel_read_safe": False, "parallel_write_safe": True}
