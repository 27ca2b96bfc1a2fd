"""The playground: a trained Transformer that runs in the reader's browser.

`packing` rounds a model to eight bits, `script` writes it, its vocabularies and what is said of it
as one file. The JavaScript modules beside them unpack that file, compute the forward pass and show
it; `page` joins them with those of `attnbook.widgets` that they import. `models` packs the stored
models: `python -m devkit.playground`. The build reads `page` and `script`, which need no torch.
"""
