"""The playground's forward pass in JavaScript against torch, with the same rounded weights."""

import base64
import os

import numpy as np
import pytest
import torch
from torch import nn

from attnbook import transformer
from attnbook.data import BOS, EOS, Vocabulary, why_missing
from attnbook.multihead import Attended
from attnbook.transformer import Transformer
from attnbook.widgets import bundle
from devkit.playground import models as playground
from devkit.playground.packing import pack, read
from devkit.playground.page import HERE
from devkit.playground.script import write

CLOSE = {"rtol": 0, "atol": 1e-4}

DRIVER = """
window.float64 = (arrays) => {
  const all = Float64Array.from(arrays.flatMap((a) => [...a]));
  let text = "";
  for (const byte of new Uint8Array(all.buffer)) text += String.fromCharCode(byte);
  return btoa(text);
};
window.tensors = (model) => Object.fromEntries(
  Object.entries(model.tensors).map(([name, values]) => [name, float64([values])]));
window.forced = (model, { source, inputs, length, causal = true, changes = {}, steps = false }) => {
  const encoding = model.encode(source, { length, changes });
  let state = model.begin(encoding, { length, changes });
  const parts = steps ? inputs.map((id) => [id]) : [inputs];
  const outputs = parts.map((ids) => {
    const output = model.step(ids, state, causal);
    state = output.state;
    return output;
  });
  const flat = (weights) => float64(weights.flat());
  const [last] = outputs;
  return {
    logits: float64(outputs.map(({ logits }) => logits)), encoder: flat(encoding.weights),
    ...(steps ? {} : { decoder: flat(last.decoder), cross: flat(last.cross) }),
  };
};
"""


def array(text: str, *shape: int) -> torch.Tensor:
    values = np.frombuffer(base64.b64decode(text)).copy()
    return torch.from_numpy(values).reshape(shape).float()


class InBrowser:
    """A packed model in a page, asked for logits and weights under teacher forcing."""

    def __init__(self, page, file, name="test"):
        self.page = page
        page.add_script_tag(content=DRIVER)
        page.add_script_tag(content=file.read_bytes().decode("utf-16"))
        page.evaluate(
            """async ([name, ...sources]) => {
              const load = (source) =>
                import(URL.createObjectURL(new Blob([source], {type: "text/javascript"})));
              const [{ Translator }, { unpack }] = await Promise.all(sources.map(load));
              window.translator = new Translator(await unpack(window.attnPlayground[name]));
            }""",
            [name, bundle.join(HERE / "play_model.js"), bundle.join(HERE / "play_pack.js")],
        )
        self.layers, self.heads = page.evaluate(
            "[translator.config.num_layers, translator.config.num_heads]"
        )

    def __call__(self, source, inputs, length=None, **options):
        k, q = len(source), len(inputs)
        case = {"source": source, "inputs": inputs, "length": k if length is None else length}
        found = self.page.evaluate("(given) => forced(translator, given)", {**case, **options})
        sizes = {"logits": (q, -1), "encoder": (k, k), "decoder": (q, q), "cross": (q, k)}
        grid = (self.layers, self.heads)
        return {
            name: array(text, *sizes[name] if name == "logits" else (*grid, *sizes[name]))
            for name, text in found.items()
        }


def small(**options) -> Transformer:
    """A model whose every parameter matters: norms and biases too are drawn at random."""
    torch.manual_seed(0)
    tie = options.pop("tie", "output")
    sizes = {"d_model": 24, "num_heads": 3, "num_layers": 2, "d_ff": 40, "max_len": 40}
    model = Transformer(12, 12 if tie == "all" else 15, tie=tie, **{**sizes, **options}).eval()
    for parameter in model.parameters():
        if parameter.dim() == 1:
            nn.init.normal_(parameter, mean=0.5, std=0.3)
    return model


def vocabulary(size: int) -> Vocabulary:
    return Vocabulary([[f"w{n}" for n in range(size - 4)]])


@pytest.fixture
def both(browser, tmp_path):
    """`both(**options)`: the rounded model in torch, and the same in the browser."""
    pages = []

    def make(**options):
        model = small(**options)
        sizes = (x.tokens.weight.shape[0] for x in (model.encoder.embedding, model.embedding))
        write(tmp_path / "m.js", "test", *pack(model, *map(vocabulary, sizes)))
        model.load_state_dict(read(tmp_path / "m.js").tensors)
        pages.append(browser.new_page())
        return model, InBrowser(pages[-1], tmp_path / "m.js")

    yield make
    for page in pages:
        page.close()


SOURCE, INPUTS = [4, 7, 3, 11, 5, 4, 9], [1, 6, 8, 8, 11]


@torch.no_grad()
def in_torch(model, source=SOURCE, inputs=INPUTS, length=None) -> dict[str, torch.Tensor]:
    lengths = None if length is None else torch.tensor([length])
    source, inputs = torch.tensor([source]), torch.tensor([inputs])
    weights = model.weights(source, lengths, inputs)
    found = {"logits": model(source, lengths, inputs).logits, **weights._asdict()}
    return {name: tensor[0] for name, tensor in found.items()}


def assert_same(got: dict, wanted: dict) -> None:
    assert wanted["logits"].abs().max() > 0.5, "logits too small to tell"
    for name, tensor in got.items():
        torch.testing.assert_close(tensor, wanted[name], **CLOSE, msg=lambda m, n=name: f"{n}: {m}")


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"norm": "post"},
        {"positions": "learned", "tie": "none"},
        {"positions": None, "tie": "all", "d_ff": None},
        {"num_layers": 1, "num_heads": 1, "d_model": 7},
    ],
    ids=str,
)
def test_equals_torch(both, options):
    model, browser = both(**options)
    assert_same(browser(SOURCE, INPUTS), in_torch(model))
    padded = [*SOURCE[:4], 0, 0, 0]
    assert_same(browser(padded, INPUTS, 4), in_torch(model, padded, length=4))


def test_the_browser_unpacks_what_python_does(both):
    model, browser = both()
    unpacked = browser.page.evaluate("tensors(translator)")
    state = model.state_dict()
    assert unpacked.keys() == state.keys()
    for name, tensor in state.items():
        assert torch.equal(array(unpacked[name], *tensor.shape), tensor), name


def test_one_token_at_a_time_equals_all_at_once(both):
    _, browser = both()
    whole, steps = browser(SOURCE, INPUTS, 5), browser(SOURCE, INPUTS, 5, steps=True)
    torch.testing.assert_close(steps["logits"], whole["logits"], rtol=0, atol=1e-5)


def test_padding_that_is_masked_changes_nothing_and_unmasked_something(both):
    model, browser = both()
    alone = browser(SOURCE, INPUTS)["logits"]
    padded = [*SOURCE, 0, 0, 0]
    masked, open_ = (browser(padded, INPUTS, n)["logits"] for n in (len(SOURCE), len(padded)))
    assert torch.equal(masked, alone)  # "to the last digit", as the page says
    torch.testing.assert_close(open_, in_torch(model, padded)["logits"], **CLOSE)
    assert (open_ - alone).abs().max() > 1e-3


@torch.no_grad()
def test_without_the_causal_mask_every_token_sees_every_other(both, monkeypatch):
    model, browser = both()
    masked = browser(SOURCE, INPUTS)
    got = browser(SOURCE, INPUTS, causal=False)
    monkeypatch.setattr(transformer, "causal_mask", lambda *sizes, **place: None)
    assert_same(got, in_torch(model))
    assert (got["logits"] - masked["logits"]).abs().max() > 1e-3
    assert (masked["decoder"].triu(1) == 0).all() and (got["decoder"] > 0).all()


def find(model, kind: str, layer: int):
    """The `MultiHeadAttention` of one kind and layer."""
    block = (model.encoder if kind == "encoder" else model).stack.blocks[layer]
    return (block.cross_attention if kind == "cross" else block.self_attention).attention


def change(layer: int, head: int, what: dict) -> list:
    """What `attend` is to change, [layer][head]."""
    return [[what if (n, h) == (layer, head) else None for h in range(3)] for n in range(2)]


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_a_head_taken_out_gives_nothing_to_the_sum(both, kind):
    model, browser = both()
    whole = in_torch(model)["logits"]
    got = browser(SOURCE, INPUTS, changes={kind: change(1, 2, {"out": True})})
    with torch.no_grad():
        find(model, kind, 1).W_o.weight[:, 16:24] = 0  # the third head's features
    assert_same(got, in_torch(model))
    assert (got["logits"] - whole).abs().max() > 1e-3


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
@torch.no_grad()
def test_forced_weight_goes_to_one_key(both, kind):
    model, browser = both()
    whole = in_torch(model)["logits"]
    what = {"forced": [[3, 1], [4, 2], [2, 30], [30, 0]]}  # the last two are not there
    got = browser(SOURCE, INPUTS, changes={kind: change(0, 1, what)})
    attention = find(model, kind, 0)
    plain = attention.attend

    def attend(queries, memory, **options):
        weights = plain(queries, memory, **{**options, "need_weights": True}).weights.clone()
        weights[:, 1, [3, 4]] = 0
        weights[:, 1, [3, 4], [1, 2]] = 1
        pooled = (weights @ memory.values).transpose(1, 2).flatten(2)
        return Attended(attention.W_o(pooled), weights if options["need_weights"] else None)

    attention.attend = attend
    assert_same(got, in_torch(model))
    assert (got["logits"] - whole).abs().max() > 1e-3


@pytest.mark.parametrize("name", playground.MODELS)
def test_the_packed_model_equals_torch_on_held_out_pairs(browser, name):
    """A sample of the test set; all of it where ATTNBOOK_WHOLE_SPLIT is set, in minutes."""
    path = playground.FOLDER / f"{name}.js"
    if not path.is_file():
        pytest.skip("no model is packed: `python -m devkit.playground` packs the stored ones")
    if not playground.is_stored(name):
        pytest.skip(f"the weights of {name} are not stored: `make train` stores them")
    if name == "everyday" and (reason := why_missing("fra_eng")):
        pytest.skip(reason)
    model, of = playground.load(name)
    model.load_state_dict(read(path).tensors)
    pairs = of.splits.test
    if not os.environ.get("ATTNBOOK_WHOLE_SPLIT"):
        pairs = pairs[:: len(pairs) // 20]
    page = browser.new_page()
    ask, furthest = InBrowser(page, path, name), 0.0
    for pair in pairs:
        source = [*of.source_vocab.encode(pair.source), EOS]
        inputs = [BOS, *of.target_vocab.encode(pair.target)]
        got, wanted = ask(source, inputs)["logits"], in_torch(model, source, inputs)["logits"]
        apart = (got - wanted).abs().max().item()
        assert apart < 1e-4, pair
        furthest = max(furthest, apart)
    page.close()
    print(f"{name}: {len(pairs)} pairs, logits at most {furthest:.1e} apart")
    assert len(pairs) >= 20 and furthest > 0


# Translates every example with each head out in turn: how many translations stay, and of how many.
WITHOUT_HEADS = """async (sources) => {
  const load = (source) =>
    import(URL.createObjectURL(new Blob([source], {type: "text/javascript"})));
  const [{ Translator }, { unpack }, { translate }] = await Promise.all(sources.map(load));
  const model = await unpack(window.attnPlayground.grammar);
  const translator = new Translator(model);
  const { examples, source, config } = model.head;
  const [layers, heads] = [config.num_layers, config.num_heads].map((n) => [...Array(n).keys()]);
  const [same, all] = [[], []];
  for (const { source: words } of examples.slice(0, 4)) {
    const ids = [...words, "<eos>"].map((word) => source.indexOf(word));
    const written = (changes) =>
      [...translate(translator, { ids, changes })].at(-1).done.tokens.join();
    const whole = written({});
    const every = ["encoder", "decoder", "cross"].flatMap((kind) =>
      layers.flatMap((l) => heads.map((h) => [kind, l, h])));
    for (const [kind, l, h] of every) {
      const out = layers.map((n) => heads.map((m) => ({ out: n === l && m === h })));
      all.push(1);
      if (written({ [kind]: out }) === whole) same.push(1);
    }
  }
  return [same.length, all.length];
}"""


def test_most_heads_can_go_one_at_a_time(browser):
    """As the page says."""
    path = playground.FOLDER / "grammar.js"
    if not path.is_file():
        pytest.skip("no model is packed: `python -m devkit.playground` packs the stored ones")
    page = browser.new_page()
    page.add_script_tag(content=path.read_bytes().decode("utf-16"))
    sources = [bundle.join(HERE / f"play_{name}.js") for name in ("model", "pack", "translate")]
    same, of = page.evaluate(WITHOUT_HEADS, sources)
    page.close()
    assert of == 4 * 3 * 2 * 4
    assert of / 2 < same < of, f"{same} of {of} translations stay: the page says most, and not all"
    lines = sum(
        len((HERE / f"play_{name}.js").read_text("utf-8").splitlines())
        for name in ("model", "attention", "layers")
    )
    assert lines + len((bundle.HERE / "core" / "softmax.js").read_text("utf-8").splitlines()) < 300
