"""Our functions beside those of torch and d2l: `python -m devkit.bench`, and `bench.speed`."""
