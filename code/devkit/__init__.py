"""What makes, checks and measures the book: no part of the package that readers install.

The notebooks' runner (`notebooks`, `clean`, `check`, `pictures`, `gates`), the site (`build`,
`slides`, `printed`, `lab`), the stored experiments (`train`, `cards`), what breaks the code on
purpose (`mutants`, `doubt`), a `browser`, the benchmarks (`bench`), and the packing of the
playground's models (`playground`).
"""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
