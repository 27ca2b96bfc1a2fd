"""What a hand-in may import in grading, beside Python's own modules."""

MODULES = ("torch", "numpy", "einops", "matplotlib", "pandas", "scipy", "tqdm")
