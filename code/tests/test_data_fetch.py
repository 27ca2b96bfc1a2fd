"""Fetching against a server of our own: what is found, and every way in which it goes wrong.

The downloads are pooch's own code; only the addresses and the cache are ours.
"""

import errno
import hashlib
import os
import threading
import time
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pooch
import pytest
from attnbook_testing.refusals import refuses

from attnbook.data import fetch
from attnbook.data.fetch import (
    CorpusCorrupted,
    CorpusError,
    CorpusFolderMissing,
    CorpusUnreachable,
    CorpusUnwritable,
    corpus_file,
    why_missing,
)
from attnbook.data.pins import CORPORA, PINNED, Pinned

CONTENT = bytes(range(256)) * 2000  # half a megabyte, in several pieces
NAME = "stories/one.bin"
ASKED = []  # what the server was asked for


class Server(BaseHTTPRequestHandler):
    """Answers by the path: whole, another file, cut short, an error, or not at all for long."""

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        ASKED.append((self.command, self.path))
        if self.path == "/slow":
            time.sleep(2)
        status = 404 if self.path == "/absent" else 200
        self.send_response(status)
        self.send_header("Content-Length", str(len(CONTENT)))
        self.end_headers()
        if self.command == "HEAD":
            return
        body = {"/other": b"x" * len(CONTENT), "/short": CONTENT[:100_000]}
        self.wfile.write(body.get(self.path, CONTENT))

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def address():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache, no ATTNBOOK_DATA, and no proxy between us and our server."""
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
    monkeypatch.delenv("ATTNBOOK_DATA", raising=False)
    monkeypatch.setenv("ATTNBOOK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(fetch, "SECONDS", 5.0)
    ASKED.clear()
    return tmp_path / "cache"


@pytest.fixture
def pin(address, monkeypatch):
    """Pin the one file of the one corpus to an address of our server."""

    def at(path, host=address):
        pinned = Pinned(host + path, len(CONTENT), hashlib.sha256(CONTENT).hexdigest(), "ours")
        monkeypatch.setattr(fetch, "PINNED", {NAME: pinned})
        monkeypatch.setattr(fetch, "CORPORA", {"stories": (NAME,)})

    at("/whole")
    return at


def files(folder):
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


def put(path, content=CONTENT):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def test_fetched_once_and_kept(cache, pin, capfd):
    path = corpus_file(NAME)
    assert path == cache / NAME and path.read_bytes() == CONTENT
    assert corpus_file(NAME) == path
    assert ASKED == [("GET", "/whole")]
    assert files(cache) == [NAME]
    assert capfd.readouterr() == ("", "")  # nothing that would stand in a saved notebook


def test_the_folder_comes_first_and_what_it_lacks_is_fetched(cache, pin, tmp_path, monkeypatch):
    monkeypatch.setenv("ATTNBOOK_DATA", str(tmp_path / "data"))
    (tmp_path / "data").mkdir()
    put(cache / NAME, CONTENT[:1000])  # broken: fetched again
    assert corpus_file(NAME) == cache / NAME and (cache / NAME).read_bytes() == CONTENT
    assert files(cache) == [NAME]
    ASKED.clear()
    given = put(tmp_path / "data" / NAME)
    assert corpus_file(NAME) == given and ASKED == []


@pytest.mark.parametrize(
    ("content", "words"), [(CONTENT[:-1], "is cut short"), (b"x" * len(CONTENT), "another file")]
)
def test_a_wrong_hash_in_the_folder(cache, pin, tmp_path, monkeypatch, content, words):
    given = put(tmp_path / "data" / NAME, content)
    monkeypatch.setenv("ATTNBOOK_DATA", str(tmp_path / "data"))
    with pytest.raises(CorpusCorrupted, match=rf"{words}.*512,000.*put a whole copy there, from"):
        corpus_file(NAME)
    assert ASKED == [] and given.read_bytes() == content  # neither replaced nor deleted


def test_a_folder_that_does_not_exist(cache, pin, tmp_path, monkeypatch):
    monkeypatch.setenv("ATTNBOOK_DATA", str(tmp_path / "gone"))
    with pytest.raises(CorpusFolderMissing, match=r"must name a folder.*gone.*unset it"):
        corpus_file(NAME)
    assert ASKED == []


@pytest.mark.parametrize(
    ("path", "host", "error", "said"),
    [
        ("/other", "", CorpusCorrupted, "deleted.*another network.*ATTNBOOK_DATA"),
        ("/short", "", CorpusUnreachable, "cannot be fetched.*Error.*check the network"),
        ("/absent", "", CorpusUnreachable, "cannot be fetched.*HTTP status 404"),
        ("/slow", "", CorpusUnreachable, "Timeout"),
        ("/whole", "http://127.0.0.1:9", CorpusUnreachable, "ConnectionError.*or put .* into a"),
        ("/whole", "http://no-such-host.invalid", CorpusUnreachable, "ConnectionError"),
    ],
)
def test_what_cannot_be_fetched_leaves_nothing(
    cache, pin, address, monkeypatch, path, host, error, said
):
    pin(path, host or address)
    monkeypatch.setattr(fetch, "SECONDS", 0.2 if path == "/slow" else 5.0)
    refuses(error, said, corpus_file, NAME)
    assert files(cache) == []


def breaks_off(monkeypatch, error):
    """A download that writes a piece and then raises, as a write to a full disk does."""

    class Downloader(pooch.HTTPDownloader):
        def __call__(self, url, output_file, pooch_, check_only=False):
            with open(output_file, "wb") as half:
                half.write(CONTENT[:1000])
                raise error

    monkeypatch.setattr(pooch, "HTTPDownloader", Downloader)


def test_a_full_disk(cache, pin, monkeypatch):
    breaks_off(monkeypatch, OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
    with pytest.raises(CorpusUnwritable, match=r"no room for.*512,000 bytes.*ATTNBOOK_CACHE") as e:
        corpus_file(NAME)
    assert e.value.errno == errno.ENOSPC
    assert "no room" in why_missing() and files(cache) == []


def refuse(*_, **__):
    raise PermissionError(errno.EACCES, "Permission denied")  # root is refused nothing


def test_what_may_not_be_written_or_read(cache, pin, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(os, "makedirs", refuse)
        refuses(CorpusUnwritable, r"cannot be written.*set ATTNBOOK_CACHE", corpus_file, NAME)
    put(cache, b"a file")
    refuses(CorpusUnwritable, "set ATTNBOOK_CACHE", corpus_file, NAME)
    put(tmp_path / NAME)
    monkeypatch.setenv("ATTNBOOK_DATA", str(tmp_path))
    monkeypatch.setattr(fetch, "_sha256", refuse)
    refuses(CorpusError, r"cannot be read.*Permission denied.*ATTNBOOK_DATA", corpus_file, NAME)


def test_an_interrupted_download_leaves_nothing(cache, pin, monkeypatch):
    breaks_off(monkeypatch, KeyboardInterrupt())
    refuses(KeyboardInterrupt, "", corpus_file, NAME)
    assert files(cache) == []


def test_an_unknown_name_is_named():
    said = r"name must be one of .*fra-eng\.zip.*'no\.zip'"
    refuses(ValueError, said, corpus_file, "no.zip")
    refuses(ValueError, r"corpora must be among .*\['poems'\]", why_missing, "poems")


def test_zip_members(tmp_path):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("text.txt", "word " * 5000)
    assert fetch.read_member(path, "text.txt") == b"word " * 5000
    assert files(tmp_path) == ["a.zip"]  # nothing unpacked
    with pytest.raises(CorpusCorrupted, match=r"no whole zip with none\.txt"):
        fetch.read_member(path, "none.txt")
    whole = path.read_bytes()
    for broken in (whole[:-30], whole[:60], whole[:45] + b"\xff" * 8 + whole[53:], b""):
        path.write_bytes(broken)
        with pytest.raises(CorpusCorrupted, match="delete it and run this again"):
            fetch.read_member(path, "text.txt")


def test_why_missing(cache, pin, tmp_path, monkeypatch):
    pin("/whole", "http://127.0.0.1:9")
    assert "does not answer" in why_missing()
    pin("/absent")
    assert "HTTP status 404" in why_missing("stories")
    pin("/whole")
    assert why_missing("stories") is None and files(cache) == [NAME]  # fetched
    pin("/whole", "http://127.0.0.1:9")
    assert why_missing() is None  # in the cache
    (cache / NAME).unlink()
    put(tmp_path / NAME, b"broken")
    monkeypatch.setenv("ATTNBOOK_DATA", str(tmp_path))
    assert why_missing() is None  # there, and to be seen broken
    monkeypatch.setenv("ATTNBOOK_DATA", str(tmp_path / "gone"))
    assert why_missing() is None  # so is a folder that is not there


def test_why_missing_waits_for_nobody(cache, pin, monkeypatch):
    pin("/slow")  # which would answer after two seconds
    monkeypatch.setattr(fetch, "PROBE_SECONDS", 0.2)
    assert "does not answer" in why_missing()


def test_the_pins_are_whole():
    assert set(PINNED) == {name for names in CORPORA.values() for name in names}
    assert len(CORPORA["alibi"]) == 15
    for name, pinned in PINNED.items():
        owner_to_path = pinned.url.removeprefix("https://raw.githubusercontent.com/").split("/")
        assert len(owner_to_path[2]) == 40 and int(owner_to_path[2], 16)  # a commit, not a branch
        renamed = {"tinyshakespeare.txt": "input.txt"}  # a name that says what it is
        assert owner_to_path[-1] == renamed.get(name, name.split("/")[-1])
        assert len(pinned.sha256) == 64 and int(pinned.sha256, 16) and pinned.size > 1000
        licences = "CC BY", "MIT", "public domain"
        assert any(name in pinned.licence for name in licences)
