"""Widgets in hosts that cannot be run here, as closely as can be: Colab's and VS Code's outputs.

The page is a sandboxed frame of no origin that an outer page fills, as Colab's outputs are; it
loads anywidget's own front-end code and the saved state of the book's widgets. What the real
manager does around them is short and documented: models with `get`, `set`, `on`, and an element
that is rendered before it stands in the document.
"""

import base64
from pathlib import Path

import anywidget
import pytest
from attnbook_testing.book_widgets import NAMES, SAVED, moved, steer

from attnbook.widgets import bundle

RUNTIME = Path(anywidget.__file__).parent / "nbextension" / "index.js"
# The part of @jupyter-widgets/base that anywidget's model and view stand on.
BASE = """
class DOMWidgetModel {
  initialize(traits) { this.traits = traits; this.listeners = []; }
  get(name) { return this.traits[name]; }
  set(name, value) {
    const all = typeof name === "object" ? name : { [name]: value };
    const changed = Object.keys(all).filter((key) => this.traits[key] !== all[key]);
    Object.assign(this.traits, all);
    for (const key of changed) this.emit(`change:${key}`, this, all[key]);
    if (changed.length) this.emit("change", this);
  }
  emit(event, ...args) {
    for (const one of [...this.listeners]) if (one.event === event) one.f.apply(one.context, args);
  }
  on(event, f, context) { this.listeners.push({ event, f, context }); }
  once() {}
  off(event, f, context) {
    this.listeners = this.listeners.filter((one) => (event && one.event !== event)
      || (f && one.f !== f) || (context && one.context !== context));
  }
  save_changes() { this.saved = (this.saved ?? 0) + 1; }
  send() {}
}
class DOMWidgetView {
  constructor(model, el) {
    Object.assign(this, { model, el, $el: { empty: () => el.replaceChildren() } });
  }
  remove() { this.el.remove(); }
}
window.define = (names, factory) => {
  window.front = factory({ DOMWidgetModel, DOMWidgetView });
};
"""
HOST = """
const bytes = (text) => new DataView(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
window.models = new Map();
window.addModel = async (name, { state, buffers = [] }) => {
  for (const { path, data } of buffers) {
    const holder = path.slice(0, -1).reduce((node, key) => node[key], state);
    holder[path.at(-1)] = bytes(data);
  }
  const model = new front.AnyModel();
  model.initialize(state);
  window.models.set(name, model);
};
// As the managers do: the view is rendered into an element that is put into the page afterwards.
window.newView = async (name) => {
  const el = document.createElement("div");
  const view = new front.AnyView(window.models.get(name), el);
  await view.render();
  await new Promise((done) => setTimeout(done, 60)); // the view's own promises
  return view;
};
window.canvases = (el) => [...el.querySelectorAll("canvas")].filter((c) => c.checkVisibility());
window.painted = (el) => canvases(el).length > 0 && canvases(el).every((c) => c.width && c.height
  && new Set(new Uint32Array(
    c.getContext("2d").getImageData(0, 0, c.width, c.height).data.buffer)).size > 1);
window.picture = (el) => canvases(el).map((c) => c.toDataURL()).join();
window.until = async (what) => {
  for (let n = 0; n < 200; n++) {
    if (what()) return true;
    await new Promise((done) => setTimeout(done, 20));
  }
  throw new Error(`never: ${what}`);
};
"""


def with_code(name: str) -> dict:
    """A saved model with its code, as a kernel sends it."""
    code = bundle.sources(SAVED[name]["state"]["_anywidget_id"])
    return moved(SAVED[name], _esm=code["esm"], _css=code["css"])


def data_url(text: str) -> str:
    return "data:text/html;base64," + base64.b64encode(text.encode()).decode()


@pytest.fixture
def frame(visit, tmp_path, request):
    """`frame(html=..., body=...)`: a document in a sandboxed frame of no origin, and its page."""
    opened = []

    def make(html="", body="", width="100%"):
        runtime = RUNTIME.read_text(encoding="utf-8").replace("</", "<\\/")
        inner = (
            f"<!doctype html><html {html}><body {body}>"
            f"<script>{BASE}</script><script>{runtime}</script><script>{HOST}</script></body></html>"
        )
        (tmp_path / "outer.html").write_text(
            '<!doctype html><html lang="en"><link rel="icon" href="data:,"><body>'
            f'<iframe sandbox="allow-scripts" style="width:{width};height:900px;border:0"'
            f' src="{data_url(inner)}"></iframe></body></html>',
            encoding="utf-8",
        )
        shown = visit((tmp_path / "outer.html").as_uri())
        opened.append(shown)
        shown.page.goto(shown.base)
        found = shown.page.frames[1]
        found.wait_for_function("!!window.newView")
        return found, shown

    yield make
    for shown in opened:
        faults = [f for f in shown.faults if "ResizeObserver" not in f]
        shown.context.close()
        assert faults == []


def for_all(inner, script, *arguments):
    """Run a script, which gets a change of traits, for a model `a` of each class."""
    for name in NAMES:
        inner.evaluate("(model) => addModel('a', model)", with_code(name))
        back = {trait: SAVED[name]["state"][trait] for trait in steer(name)}
        try:
            inner.evaluate(f"(all) => ({script})(...all)", [steer(name), back, *arguments])
        except Exception as error:
            raise AssertionError(f"{name}: {error}") from error
        inner.evaluate("document.body.replaceChildren()")


def test_a_view_rendered_detached_draws_when_it_is_attached_and_has_a_width(frame):
    inner, _ = frame('theme="light"')
    for_all(
        inner,
        """async (steer) => {
          const view = await newView("a");
          if (painted(view.el)) throw new Error("drawn before it was in the page");
          const box = document.createElement("div");
          box.style.display = "none";  // attached, and still without a width
          document.body.append(box);
          box.append(view.el);
          await new Promise((done) => setTimeout(done, 80));
          if (painted(view.el)) throw new Error("drawn without a width");
          window.models.get("a").set(steer);  // before anything was drawn
          box.style.display = "";
          await until(() => painted(view.el));
        }""",
    )


def test_two_views_of_a_model_follow_it_and_survive_a_move(frame):
    inner, _ = frame('theme="light"')
    for_all(
        inner,
        """async (steer, back) => {
          const views = [await newView("a"), await newView("a")];
          for (const view of views) document.body.append(view.el);
          await until(() => views.every((view) => painted(view.el)));
          const look = (view) => picture(view.el) + view.el.innerText;
          const before = views.map(look);
          window.models.get("a").set(steer);
          await until(() => views.every((view, n) => look(view) !== before[n]));
          // out of the page, the model changes, and back into a narrower place
          views[0].el.remove();
          await new Promise((done) => setTimeout(done, 60));
          const narrow = document.createElement("div");
          narrow.style.width = "340px";
          document.body.append(narrow);
          const wide = picture(views[0].el);
          narrow.append(views[0].el);
          await until(() => painted(views[0].el));
          const root = views[0].el.firstElementChild;
          await until(() => root.clientWidth <= 340
            && root.classList.contains("ah-narrow") === true || root.scrollWidth <= 342);
          const radios = views.map((view) => view.el.querySelector("input[type=radio]")?.name);
          if (radios[0] && radios[0] === radios[1]) throw new Error("one group of radio buttons");
          views[1].remove();  // the other one goes on
          const after = look(views[0]);
          window.models.get("a").set(back);
          await until(() => look(views[0]) !== after);
        }""",
    )


DARK = {
    "Colab": ('theme="dark"', "", "document.documentElement.setAttribute('theme', 'light')"),
    "VS Code": (
        "",
        'class="vscode-dark"',
        "document.body.className = 'vscode-light'",
    ),
    "VS Code, high contrast": (
        "",
        'class="vscode-high-contrast"',
        "document.body.className = 'vscode-high-contrast vscode-high-contrast-light'",
    ),
}


@pytest.mark.parametrize("host", DARK)
def test_it_is_as_dark_as_its_host(frame, host):
    html, body, lighter = DARK[host]
    inner, _ = frame(html, body)
    for_all(
        inner,
        """async (_, back, lighter) => {
          eval(lighter.replaceAll("light", "dark").replace("high-contrast-dark", ""));
          const view = await newView("a");
          document.body.append(view.el);
          await until(() => painted(view.el));
          const root = view.el.firstElementChild;
          if (root.dataset.theme !== "dark") throw new Error(root.dataset.theme);
          const dark = picture(view.el);
          eval(lighter);
          await until(() => root.dataset.theme === "light" && picture(view.el) !== dark);
          // while it is out of the page the host turns again
          view.el.remove();
          eval(lighter.replaceAll("light", "dark").replace("high-contrast-dark", ""));
          await new Promise((done) => setTimeout(done, 60));
          document.body.append(view.el);
          await until(() => root.dataset.theme === "dark");
        }""",
        lighter,
    )


def test_the_style_sheet_may_come_late_or_be_a_stubs(frame):
    """A notebook's saved state, restored last, must not take the colours away."""
    from attnbook.widgets import stub_state

    inner, _ = frame('theme="light"')
    name = "AttentionHeatmap"
    stub = stub_state({"a": with_code(name)})["a"]
    inner.evaluate("(model) => addModel('live', model)", with_code(name))
    inner.evaluate("(model) => addModel('stub', model)", stub)
    inner.evaluate(
        """async () => {
          const view = await newView("live");
          document.body.append(view.el);
          await until(() => painted(view.el));
        }"""
    )
