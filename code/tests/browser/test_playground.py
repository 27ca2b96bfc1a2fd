"""The playground in a browser: what a reader does to the model, torch does too, with one result."""

import pytest
import torch
from page_parts import answered, french, use
from site_checks import complaints
from torch import nn

from attnbook import transformer
from attnbook.data import BOS, EOS, Vocabulary, tokenize
from attnbook.decoding import greedy
from attnbook.transformer import Transformer
from devkit import browser as harness
from devkit.playground.packing import pack, read
from devkit.playground.page import HERE
from devkit.playground.script import write

ENGLISH = "the a old cat dog sees eats neighbour 's not will . ? !".split()
FRENCH = "le la l' un vieux chat chien voit mange voisin ne pas , . ? !".split()
SENTENCE = "the old cat sees a dog ."
LAYERS, HEADS, D = 2, 2, 24


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    """A folder with the page of a small untrained model, and that model, rounded, in torch."""
    folder = tmp_path_factory.mktemp("playground")
    vocabularies = Vocabulary([ENGLISH]), Vocabulary([FRENCH])
    torch.manual_seed(1581)  # one whose translations end, and are not all one word
    model = Transformer(
        *map(len, vocabularies), tie="none", d_model=D, num_heads=HEADS, num_layers=LAYERS, d_ff=32
    )
    nn.init.normal_(model.output.weight, std=0.5)
    example = {"source": SENTENCE.split(), "target": ["le", "chat"], "sure": [[0, 0]]}
    example["possible"] = []
    other = {**example, "source": ["the", "dog", "eats", "."]}
    more = {"examples": [example, other], "longest": 8, "names": ["chat"], "about": {}}
    write(folder / "tiny.js", "tiny", *pack(model, *vocabularies, **more))
    model.load_state_dict(read(folder / "tiny.js").tensors)
    tiny = {"name": "tiny", "label": "Tiny", "file": "tiny.js", "about": "A tiny model."}
    tiny["examples"] = [example["source"], other["source"]]
    text = (folder / "tiny.js").read_text("utf-16")
    (folder / "again.js").write_text(text.replace("{}).tiny", "{}).again"), "utf-16")
    again = {**tiny, "name": "again", "label": "Again", "file": "again.js"}
    again |= {"about": "Another.", "examples": [["a", "cat", "."]]}
    settings = {"models": [tiny, again]}
    harness.playground_page(folder, settings)
    return folder, model.eval(), vocabularies


@pytest.fixture
def opened(visit, packed):
    """`opened(...)` opens the page from a file."""
    visits = []

    def open_page(**options):
        shown = visit(packed[0].as_uri(), **options)
        visits.append(shown)
        shown.asked = []
        shown.page.set_default_timeout(10_000)
        shown.page.on("request", lambda request: shown.asked.append(request.url))
        shown.page.goto((packed[0] / "page.html").as_uri())
        return shown

    yield open_page
    for shown in visits:
        assert not shown.faults
        shown.context.close()


@pytest.fixture
def translated(opened):
    """The page with its first sentence translated."""
    shown = opened()
    shown.page.get_by_role("button", name="Translate").click()
    answered(shown.page)
    return shown


def spelt(vocabulary, ids) -> list[str]:
    """The tokens as the page shows them."""
    names = {"<pad>": "⟨pad⟩", "<bos>": "⟨begin⟩", "<eos>": "⟨end⟩", "<unk>": "⟨unknown⟩"}
    return [names.get(token, token) for token in (vocabulary.tokens[i] for i in ids)]


@torch.no_grad()
def in_torch(packed, sentence=SENTENCE, pads=0, length=None) -> list[str]:
    """What torch writes, greedily, the end token too."""
    _, model, (source_vocab, target_vocab) = packed
    ids = [*source_vocab.encode(sentence.split()), EOS, *[0] * pads]  # as in training
    lengths = torch.tensor([len(ids) if length is None else length])
    tokens = greedy(model, torch.tensor([ids]), lengths, max_len=60).tokens[0].tolist()
    return spelt(target_vocab, tokens)


def test_the_model_is_loaded_when_it_is_asked_for(opened):
    shown = opened()
    shown.page.wait_for_timeout(300)
    assert not any("tiny" in url for url in shown.asked)
    shown.page.get_by_role("button", name="Translate").click()
    answered(shown.page)
    assert sum("tiny" in url for url in shown.asked) == 1


@pytest.mark.parametrize(
    "sentence", [SENTENCE, "the dog eats .", "will a neighbour 's cat not eats ?"]
)
def test_the_page_writes_what_torch_writes(translated, packed, sentence):
    page = translated.page
    page.get_by_label("English sentence").fill(sentence)
    got, wanted = answered(page), in_torch(packed, sentence)
    assert got == wanted and len(set(got)) > 2
    text = page.locator(".pg-text").inner_text()
    assert text == french([t for t in got if t != "⟨end⟩"], names=["chat"])
    assert text in page.locator(".pg-output [role=status]").inner_text()


def test_unknown_words_are_named_and_the_nearest_known_ones_offered(translated, packed):
    page = translated.page
    field = page.get_by_label("English sentence")
    field.fill("the old cot sees a dogg")
    assert answered(page) == in_torch(packed, "the old <unk> sees a dog .")
    notes = page.locator(".pg-notes").inner_text()
    for said in ("“cot” and reads ⟨unknown⟩", "“dogg” and reads “dog”", "A full stop was added"):
        assert said in notes
    near = page.locator(".pg-notes p", has_text="“dogg”").get_by_role("button")
    assert near.count() == 3 and near.first.inner_text() == "dog"
    near.first.click()
    assert field.input_value() == "the old cot sees a dog"
    page.get_by_role("button", name="Replace cot by cat").click()
    assert answered(page) == in_torch(packed)
    assert "does not know" not in page.locator(".pg-notes").inner_text()
    field.fill("the old old old old old old old cat .")
    answered(page)
    assert "at most 8 tokens" in page.locator(".pg-notes").inner_text()
    field.fill("   ")
    assert answered(page) == []


def test_padding_counts_only_without_its_mask(translated, packed):
    page = translated.page
    page.get_by_role("slider", name="Padding").fill("5")
    assert answered(page) == in_torch(packed)
    page.wait_for_timeout(250)
    assert "⟨pad⟩" in page.locator(".pg-maps table").inner_text()
    page.get_by_label("Padding mask").uncheck()
    wanted = in_torch(packed, pads=5)
    assert wanted != in_torch(packed), "a case in which padding changes nothing shows nothing"
    assert answered(page) == wanted
    assert page.locator(".pg-changed").count()
    assert "Without your changes" in page.locator(".pg-plain").inner_text()
    page.get_by_role("button", name="Reset changes").click()
    assert answered(page) == in_torch(packed)
    assert page.locator(".pg-plain").inner_text() == ""


@torch.no_grad()
def test_without_the_causal_mask_each_step_reads_all_anew(translated, packed, monkeypatch):
    translated.page.get_by_label("Causal mask").uncheck()
    got = answered(translated.page)
    _, model, (source_vocab, target_vocab) = packed
    monkeypatch.setattr(transformer, "causal_mask", lambda *sizes, **place: None)
    source, tokens = torch.tensor([[*source_vocab.encode(SENTENCE.split()), EOS]]), [BOS]
    while len(tokens) <= 60 and tokens[-1] != EOS:
        logits = model(source, None, torch.tensor([tokens])).logits
        tokens.append(int(logits[0, -1].argmax()))
    assert got == spelt(target_vocab, tokens[1:])
    assert got != in_torch(packed)
    use(translated.page, "radio", "Decoder")
    assert "masked" not in translated.page.locator(".pg-maps table").inner_text()


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_a_click_takes_a_head_out_and_puts_it_back(translated, packed, kind):
    page, (_, model, _) = translated.page, packed
    use(page, "radio", kind.capitalize())
    names = [f"layer 1, head {h + 1} at work" for h in range(HEADS)]
    switches = [page.get_by_role("switch", name=name) for name in names]
    whole, changed = in_torch(packed), []
    block = (model.encoder if kind == "encoder" else model).stack.blocks[0]
    W_o = (block.cross_attention if kind == "cross" else block.self_attention).attention.W_o
    for head, switch in enumerate(switches):
        kept = W_o.weight.detach().clone()
        with torch.no_grad():
            W_o.weight[:, head * D // HEADS : (head + 1) * D // HEADS] = 0
        wanted = in_torch(packed)
        with torch.no_grad():
            W_o.weight.copy_(kept)
        switch.click()
        assert switch.get_attribute("aria-checked") == "false"
        assert answered(page) == wanted
        changed.append(wanted != whole)
        switch.click()
        assert answered(page) == whole
    assert any(changed)


def weights_of(page) -> list[list[str]]:
    """The table that stands for the large map, without its head."""
    page.wait_for_timeout(250)
    rows = page.locator(".pg-maps table tr").all()[1:]
    return [row.locator("td").all_inner_texts() for row in rows]


def test_all_weight_is_put_on_a_cell_by_the_keyboard(translated):
    page = translated.page
    force = page.get_by_role("button", name="Put all weight here")
    assert force.get_attribute("aria-disabled") == "true"
    before = weights_of(page)
    page.locator(".pg-maps canvas[tabindex]").focus()
    for key in ("ArrowDown", "ArrowRight", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    force.focus()
    page.keyboard.press("Enter")
    answered(page)
    after = weights_of(page)
    assert after[1] == ["0", "0", "1.00", *["0"] * 5] != before[1]
    assert after[0] == before[0]
    chip = page.locator(".pg-forced li")
    assert chip.count() == 1 and "→ “cat”" in chip.inner_text()
    chip.get_by_role("button").click()
    answered(page)
    assert weights_of(page) == before and chip.count() == 0


def test_what_is_not_written_yet_cannot_be_forced(translated):
    page = translated.page
    use(page, "radio", "Decoder")
    page.locator(".pg-maps canvas[tabindex]").focus()
    for key in ("ArrowRight", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    assert "not written yet" in page.locator(".ah-readout").inner_text()
    button = page.locator(".pg-force")
    assert button.get_attribute("aria-disabled") == "true"
    button.click(force=True)
    assert page.locator(".pg-forced li").count() == 0


def test_a_new_sentence_lets_forced_weights_go(translated):
    page = translated.page
    page.locator(".pg-maps canvas[tabindex]").focus()
    page.keyboard.press("Enter")
    page.locator(".pg-force").click()
    assert page.locator(".pg-forced li").count() == 1
    chosen, field = page.get_by_label("Example"), page.get_by_label("English sentence")
    chosen.select_option("1")
    answered(page)
    assert page.locator(".pg-forced li").count() == 0
    example = field.input_value()
    field.fill("the cat sees a dog .")
    assert chosen.input_value() == "", "the list shows what stands in the field"
    field.fill(example)
    assert chosen.input_value() == "1"


def test_another_model_begins_anew(translated, packed):
    page = translated.page
    page.get_by_label("Causal mask").uncheck()
    answered(page)
    page.get_by_role("radio", name="Again").check(force=True)
    assert answered(page) == in_torch(packed, "a cat .")
    assert page.locator(".pg-about").inner_text() == "Another."
    assert page.get_by_label("Causal mask").is_checked()
    page.get_by_role("radio", name="Tiny").check(force=True)
    assert answered(page) == in_torch(packed)
    assert sum("tiny" in url for url in translated.asked) == 1, "loaded once"


def test_a_token_shows_what_else_could_have_stood_there(translated):
    page = translated.page
    page.locator(".pg-token").nth(1).focus()
    line = page.locator(".pg-candidates").inner_text()
    assert line.startswith("Step 2: ") and line.count("%") == 5


def test_only_the_newest_sentence_is_shown(translated, packed):
    page = translated.page
    field = page.get_by_label("English sentence")
    for sentence in ("a cat .", "the dog eats .", "a", "a dog", "a dog sees the cat ."):
        field.fill(sentence)
        page.wait_for_timeout(130)
    assert answered(page) == in_torch(packed, "a dog sees the cat .")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_fits_a_phone_and_every_reader(opened, theme):
    page = opened(width=360, height=740, theme=theme).page
    page.add_style_tag(
        content=f"body {{ background: {'#fff' if theme == 'light' else '#14181e'} }}"
    )
    page.get_by_role("button", name="Translate").click()
    answered(page)
    for kind in ("Encoder", "Decoder", "Cross"):
        use(page, "radio", kind)
        assert page.evaluate("document.documentElement.scrollWidth") == 360
    assert complaints(page) == []


def test_a_missing_file_is_said(visit, packed, tmp_path):
    page_text = (packed[0] / "page.html").read_text("utf-8").replace("tiny.js", "gone.js")
    (tmp_path / "page.html").write_text(page_text, "utf-8")
    (tmp_path / "play.js").write_text((packed[0] / "play.js").read_text("utf-8"), "utf-8")
    with visit(tmp_path.as_uri()) as shown:
        shown.page.goto((tmp_path / "page.html").as_uri())
        shown.page.get_by_role("button", name="Translate").click()
        shown.page.get_by_text("could not be loaded").first.wait_for()


def test_the_browser_takes_sentences_apart_as_python_does(module):
    sentences = [
        "The old man's cat, and the boys' dogs!",
        "He's here ; it's the king’s “house”…  isn't it ?",
        "Mr. Smith paid 10,000.50 at 2:30 p.m. in the U.S.",
        "ÉCOLE naïve cafe\u0301 co-op l'été -- no\u00adway",
        "  ",
        "what 's that's?! (yes) [no] 'quoted'",
    ]
    got = module(HERE / "play_text.js").evaluate(
        """(sentences) => {
          const { tokenize, distance } = window.arithmetic;
          return [sentences.map(tokenize), ["ab,ba", ",abc", "kitten,sitting", "a,a"]
            .map((pair) => distance(...pair.split(",")))];
        }""",
        sentences,
    )
    assert got[0] == [list(tokenize(sentence)) for sentence in sentences]
    assert got[1] == [1, 3, 3, 0]


# Whether it was ever busy: the state itself may be over before anybody looks.
BUSY = """() => new MutationObserver(() => { window.wasBusy = true; }).observe(
  document.querySelector(".pg-output"), { attributes: true, attributeFilter: ["aria-busy"] })"""


def test_the_books_page_opens_on_what_the_model_writes(visit, base, site):
    """Before any click: a translation with its weights, and no model; the model then agrees."""
    if not (site / "_static" / "playground" / "grammar.js").is_file():
        pytest.skip("no model is packed: `python -m devkit.playground` packs the stored ones")
    with visit(base) as shown:
        page, asked = shown.page, []
        page.on("request", lambda request: asked.append(request.url))
        page.goto(base + "book/playground.html")
        opened, weights = answered(page), weights_of(page)
        assert len(opened) > 4 and page.locator(".pg-maps canvas:visible").count() > 8
        assert not any("grammar.js" in url or "everyday.js" in url for url in asked)
        page.evaluate(BUSY)
        page.get_by_role("button", name="Translate").click()
        page.wait_for_function("window.wasBusy")
        assert answered(page) == opened and weights_of(page) == weights
        assert any("grammar.js" in url for url in asked)
        page.reload()
        page.get_by_role("switch", name="layer 2, head 2 at work").click()
        answered(page)
        assert "changes" in page.locator(".pg-plain").inner_text(), "a change loads it, too"
        assert not shown.faults


def test_the_books_page_translates(visit, base, site):
    """Over http and as a file, with the model that is packed."""
    if not (site / "_static" / "playground" / "grammar.js").is_file():
        pytest.skip("no model is packed: `python -m devkit.playground` packs the stored ones")
    head, tensors = read(site / "_static" / "playground" / "grammar.js")
    sizes = {key: head["config"][key] for key in ("d_model", "num_heads", "num_layers", "d_ff")}
    vocabularies = [Vocabulary.from_tokens(head[side]) for side in ("source", "target")]
    model = Transformer(*map(len, vocabularies), tie=head["tied"], **sizes).eval()
    model.load_state_dict(tensors)
    with visit(base) as shown:
        shown.page.goto(base + "book/playground.html")
        shown.page.get_by_role("button", name="Translate").click()
        got = answered(shown.page)
        sentence = shown.page.get_by_role("textbox").input_value().replace(".", " .")
        assert got == in_torch((None, model, vocabularies), sentence)
        assert shown.page.get_by_role("radio", name="Cross").is_checked()
        assert not shown.faults


SCENE = """(written) => {
  const example = { source: ["a", "cat"], target: ["un", "chat"],
    sure: [[0, 0], [1, 1]], possible: [[0, 0], [0, 1], [1, 1]] };
  const head = { config: { num_layers: 1, num_heads: 1 }, examples: [example] };
  const request = { ids: [5, 6, 2, 0], length: 3, causal: true };
  const chosen = { kind: "cross", layer: 0, head: 0, cell: null };
  const answer = { head, words: ["a", "cat", "<eos>"], request, written, maps: { cross: null } };
  const scene = window.arithmetic.sceneOf(answer, { get: (name) => chosen[name] });
  return ["sure", "possible", "allowed"].map((name) => scene[name] && [...scene[name]]);
}"""


def test_links_are_marked_where_the_translation_is_the_reference(module):
    page = module(HERE / "play_scene.js")
    allowed = [1, 1, 1, 0] * 3  # the last token of the source is padding
    got = page.evaluate(SCENE, ["un", "chat", "<eos>"])
    assert got == [[1, *[0] * 4, 1, *[0] * 6], [0, 1, *[0] * 10], allowed]
    assert page.evaluate(SCENE, ["le", "chat", "<eos>"]) == [None, None, allowed]
