"""Corpora that others made: found on this machine or fetched, and checked to the last byte.

A file is looked for in the folder that `ATTNBOOK_DATA` names, then in the cache, then at its
pinned address. The cache is the system's, or the folder that `ATTNBOOK_CACHE` names. Whatever goes
wrong is a CorpusError that says what to do, and leaves no half-written file.
"""

from __future__ import annotations

import errno
import hashlib
import logging
import os
import threading
import zipfile
import zlib
from pathlib import Path
from urllib.parse import urlsplit

from .._progress import progress_bar
from .pins import CORPORA, PINNED, Pinned

FULL = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)}  # the disk, or one's share of it
SECONDS = 10.0  # without a word from the server
PROBE_SECONDS = 3.0  # for `why_missing`, which the tests wait for


class CorpusError(OSError):
    """A corpus cannot be had; the message says why, and what to do."""


class CorpusUnreachable(CorpusError):
    """The network or the server is not there, or broke off."""


class CorpusCorrupted(CorpusError, ValueError):
    """A file is not the one whose SHA-256 is pinned, or cannot be read."""


class CorpusUnwritable(CorpusError):
    """The cache has no room, or may not be written."""


class CorpusFolderMissing(CorpusError):
    """`ATTNBOOK_DATA` names no folder."""


def corpus_file(name: str) -> Path:
    """Path of a corpus file whose SHA-256 is right; fetched if it is not on this machine.

    Args:
        name: a path of `PINNED`, for instance "fra-eng.zip".

    Raises:
        ValueError: no such name.
        CorpusError: it cannot be had. By kind: CorpusFolderMissing, CorpusUnreachable,
            CorpusCorrupted (a wrong hash, in the folder or off the network), CorpusUnwritable.
    """
    if name not in PINNED:
        raise ValueError(f"name must be one of {sorted(PINNED)}, got {name!r}")
    try:
        given = _given(name)
        if given is not None:
            _check_hash(given, PINNED[name])
            return given
        path = cache_folder() / name
        if not (path.is_file() and _sha256(path) == PINNED[name].sha256):
            _fetch(name, path)
        return path
    except CorpusError:
        raise
    except OSError as error:
        raise CorpusError(
            error.errno,
            f"{name} cannot be read ({error}): mend that file, or name other folders in "
            "ATTNBOOK_DATA and ATTNBOOK_CACHE",
        ) from error


def read_member(path: Path, member: str) -> bytes:
    """Read one file of a zip without unpacking it.

    Raises:
        CorpusCorrupted: it is no whole zip, or has no such file.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.read(member)
    except (zipfile.BadZipFile, KeyError, EOFError, zlib.error) as error:
        raise CorpusCorrupted(
            f"{path} is no whole zip with {member} in it ({error}): delete it and run this again"
        ) from error


def why_missing(*corpora: str) -> str | None:
    """Say why corpora cannot be had here, or None where they can: a question of seconds.

    They can be had if every file lies in the folder of `ATTNBOOK_DATA` or in the cache, or if the
    network answers and they are then fetched. A file that is there and broken, and a folder that is
    not there, count as had: their errors are to be seen, not skipped.

    Args:
        corpora: names of `CORPORA`; all of them, if none is given.

    Raises:
        ValueError: no such corpus.
    """
    if unknown := set(corpora) - set(CORPORA):
        raise ValueError(f"corpora must be among {sorted(CORPORA)}, got {sorted(unknown)}")
    names = [name for corpus in corpora or CORPORA for name in CORPORA[corpus]]
    try:
        absent = [name for name in names if not _present(name)]
        if not absent:
            return None
        host = urlsplit(PINNED[absent[0]].url).netloc
        if not _answers(PINNED[absent[0]].url):
            return f"{absent[0]} is not here, and {host} does not answer"
        for name in absent:
            corpus_file(name)
    except (CorpusUnreachable, CorpusUnwritable) as error:
        return str(error)
    except OSError:
        pass  # whoever asks for the corpus is told
    return None


def cache_folder() -> Path:
    """Folder that fetched corpora are kept in: `ATTNBOOK_CACHE`, or the system's for caches."""
    import pooch  # light enough, and only who fetches needs it

    chosen = os.environ.get("ATTNBOOK_CACHE")
    return Path(chosen).expanduser() if chosen else Path(pooch.os_cache("attnbook"))


def _present(name: str) -> bool:
    """Whether a file lies here, whole or not."""
    return _given(name) is not None or (cache_folder() / name).is_file()


def _given(name: str) -> Path | None:
    """The file in the folder of ATTNBOOK_DATA, or None where it is not there."""
    folder = os.environ.get("ATTNBOOK_DATA")
    if not folder:
        return None
    folder = Path(folder).expanduser()
    if not folder.is_dir():
        raise CorpusFolderMissing(
            errno.ENOENT,
            f"ATTNBOOK_DATA must name a folder, and {folder} is none: mend it, or unset it to use "
            "the cache and the network",
        )
    return folder / name if (folder / name).is_file() else None


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _check_hash(path: Path, pinned: Pinned) -> None:
    found, size = _sha256(path), path.stat().st_size
    if found != pinned.sha256:
        kind = "is cut short" if size < pinned.size else "is another file"
        raise CorpusCorrupted(
            f"{path} {kind}: {size:,} bytes with SHA-256 {found[:12]}…, wanted {pinned.size:,} "
            f"with {pinned.sha256[:12]}…: put a whole copy there, from {pinned.url}"
        )


def _fetch(name: str, path: Path) -> None:
    """Put a file into the cache at `path`, whole or not at all."""
    import pooch

    pinned = PINNED[name]
    bar = progress_bar(pinned.size, desc=name, unit="B", unit_scale=True)
    downloader = pooch.HTTPDownloader(progressbar=bar, chunk_size=2**16, timeout=SECONDS)
    log = pooch.get_logger()
    level = log.level
    log.setLevel(logging.WARNING)  # its notes on what it downloads would stand in saved outputs
    try:
        # to a temporary file beside `path`, moved there once its hash is right, else removed
        pooch.retrieve(
            pinned.url,
            known_hash=f"sha256:{pinned.sha256}",
            fname=path.name,
            path=path.parent,
            downloader=downloader,
        )
    except (OSError, ValueError) as error:  # requests raises OSErrors, pooch ValueErrors
        raise _explained(error, name, pinned, path) from error
    finally:
        log.setLevel(level)
        bar.close()


def _explained(error: Exception, name: str, pinned: Pinned, path: Path) -> CorpusError:
    """What went wrong in a download, in our words."""
    from requests.exceptions import RequestException

    by_hand = (
        f"or put {name} from {pinned.url} ({pinned.size:,} bytes) into a folder, and set "
        "ATTNBOOK_DATA to that folder"
    )
    if isinstance(error, RequestException):  # first: it is an OSError too
        host = urlsplit(pinned.url).netloc
        response = getattr(error, "response", None)
        said = type(error).__name__ if response is None else f"HTTP status {response.status_code}"
        return CorpusUnreachable(
            f"{name} cannot be fetched from {host} ({said}): check the network and run this again, "
            f"{by_hand}"
        )
    if isinstance(error, OSError):
        if error.errno in FULL:
            return CorpusUnwritable(
                error.errno,
                f"no room for {name} ({pinned.size:,} bytes) in {path.parent}: free some, or set "
                "ATTNBOOK_CACHE to a folder that has room",
            )
        return CorpusUnwritable(
            error.errno,
            f"{name} cannot be written to {path.parent} ({error}): set ATTNBOOK_CACHE to a folder "
            f"that may be written, {by_hand}",
        )
    return CorpusCorrupted(  # a ValueError is pooch's word for another hash
        f"what {pinned.url} gives has not the pinned SHA-256 {pinned.sha256[:12]}…, and was "
        "deleted: something on the way may answer in its place (a login page, a proxy); "
        f"try from another network, {by_hand}"
    )


def _answers(url: str) -> bool:
    """Whether a server says anything within PROBE_SECONDS, name look-up included."""
    import requests

    heard = threading.Event()

    def ask():
        try:
            requests.head(url, timeout=PROBE_SECONDS)
            heard.set()
        except requests.exceptions.RequestException:
            pass
        finally:
            done.set()

    done = threading.Event()
    threading.Thread(target=ask, daemon=True).start()  # a look-up of a name has no time limit
    done.wait(PROBE_SECONDS)
    return heard.is_set()
