"""The two cells that a notebook opened elsewhere needs, and the address that they hold.

    python code/tools/stamp.py [NB ...]       without names: every notebook in book/

`repository.url` of `_config.yml` decides: with an address, each notebook starts with links to
Colab and Binder and a cell that installs the package on Colab; without one, with neither. The
site shows neither cell: its pages have buttons. `make notebooks` stamps what it runs.
"""

import sys
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import nbformat
import yaml

ROOT = Path(__file__).resolve().parents[2]
LAUNCH, INSTALL = "launch", "install-on-colab"  # the cells' ids
TAGS = ["remove-cell"]
# Colab has the rest, and its torch stays as it is: nothing here asks for another one.
MISSING_ON_COLAB = "anywidget pooch sacrebleu safetensors statsmodels"
INSTALL_CELL = """\
# On Colab only: the course's package, beside the torch that is there.
import sys

if "google.colab" in sys.modules:
    %pip install -q {missing}
    %pip install -q --no-deps {peer} "attnbook @ git+{url}@{branch}#subdirectory=code\""""


@dataclass(frozen=True)
class Repository:
    """A public repository: `https://github.com/owner/name`, and the branch to open."""

    url: str
    branch: str

    def __post_init__(self):
        parts = urlsplit(self.url)
        if parts.scheme != "https" or len(parts.path.strip("/").split("/")) != 2:
            raise ValueError(
                f"repository.url must be https://host/owner/name or empty, got {self.url!r}"
            )

    @property
    def name(self) -> str:
        return urlsplit(self.url).path.strip("/")

    def colab(self, path: str) -> str | None:
        """Where Colab opens a file of the repository; it knows GitHub alone."""
        if urlsplit(self.url).netloc != "github.com":
            return None
        place = f"github/{self.name}/blob/{self.branch}/{path}"
        return f"https://colab.research.google.com/{place}"

    def binder(self, path: str) -> str | None:
        """Where Binder opens it in JupyterLab."""
        if urlsplit(self.url).netloc != "github.com":
            return None
        return f"https://mybinder.org/v2/gh/{self.name}/{self.branch}?urlpath=lab/tree/{path}"


def configured(root: Path = ROOT) -> Repository | None:
    """The repository of the book's settings, or None while they name none."""
    settings = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))["repository"]
    if not settings["url"]:
        return None
    return Repository(settings["url"].removesuffix("/").removesuffix(".git"), settings["branch"])


def peer_pin(root: Path = ROOT) -> str:
    """`d2l==...` as the book pins it."""
    lines = (root / "requirements.txt").read_text(encoding="utf-8").splitlines()
    return next(line for line in lines if line.startswith("d2l=="))


def stamp(nb, repository: Repository | None, path: str):
    """The notebook with the cells of this address in front, or with none."""
    nb.cells = [cell for cell in nb.cells if cell.get("id") not in (LAUNCH, INSTALL)]
    if repository is None:
        return nb
    addresses = {"Colab": repository.colab(path), "Binder": repository.binder(path)}
    links = [f"[Open in {host}]({address})" for host, address in addresses.items() if address]
    install = INSTALL_CELL.format(
        missing=MISSING_ON_COLAB, peer=peer_pin(), url=repository.url, branch=repository.branch
    )
    front = [nbformat.v4.new_code_cell(install, id=INSTALL, metadata={"tags": list(TAGS)})]
    if links:
        text = " · ".join(links)
        cell = nbformat.v4.new_markdown_cell(text, id=LAUNCH, metadata={"tags": list(TAGS)})
        front.insert(0, cell)
    nb.cells = [*front, *nb.cells]
    return nb


def path_in_repository(path: Path) -> str | None:
    """A notebook's path as a browser of the repository shows it; None outside of the book."""
    path = path.resolve()
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT / "book") else None


def main(names) -> int:
    from clean import clean

    repository = configured()
    for path in map(Path, names or sorted((ROOT / "book").glob("*.ipynb"))):
        before = path.read_text(encoding="utf-8")
        nb = nbformat.reads(before, as_version=4)
        nb = clean(stamp(nb, repository, path_in_repository(path)), path.stem)
        after = nbformat.writes(nb).rstrip("\n") + "\n"
        if after != before:
            path.write_text(after, encoding="utf-8")
        print(f"{path}  {'stamped' if repository else 'without a stamp'}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
