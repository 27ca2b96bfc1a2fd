"""Experiments over many seeds: `make train` runs them, chapters show one seed of each."""
