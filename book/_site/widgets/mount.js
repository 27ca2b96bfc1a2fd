// Wakes the widgets of a static page: no kernel, no outside host, from http and from file://.
// A page holds the widget state that the notebook saved (JSON scripts), one box for each widget
// with its view (a JSON script) and its picture, and `attnWidgets`, the code by `_anywidget_id`
// (a classic script: pages opened as files may not fetch). See book/_ext/attn_widgets.py.
(() => {
  const STATE = 'script[type="application/vnd.jupyter.widget-state+json"]';
  const VIEW = 'script[type="application/vnd.jupyter.widget-view+json"]';
  const MARGIN = "600px"; // a widget wakes this far before it scrolls into view

  const saved = {};
  const models = new Map();
  const modules = new Map();

  function bytes(base64) {
    return new DataView(Uint8Array.from(atob(base64), (c) => c.charCodeAt(0)).buffer);
  }

  /** The traits of a saved model, its binary ones put back in their places. */
  function restore({ state, buffers = [] }) {
    const traits = structuredClone(state);
    for (const { path, data } of buffers) {
      const holder = path.slice(0, -1).reduce((node, key) => node[key], traits);
      holder[path.at(-1)] = bytes(data);
    }
    return traits;
  }

  /** The part of anywidget's model that a view uses; views of one model share it. */
  function modelFor(id) {
    if (models.has(id)) return models.get(id);
    const traits = restore(saved[id]);
    const listeners = new Map();
    const emit = (event, ...args) => [...(listeners.get(event) ?? [])].forEach((f) => f(...args));
    const model = {
      get: (name) => traits[name],
      set(name, value) {
        const changes = Object.entries(typeof name === "object" ? name : { [name]: value })
          .filter(([key, next]) => traits[key] !== next);
        changes.forEach(([key, next]) => { traits[key] = next; });
        changes.forEach(([key, next]) => emit(`change:${key}`, model, next));
        if (changes.length) emit("change", model);
      },
      save_changes() {}, // there is no kernel to tell
      send() {},
      on(event, f) { listeners.set(event, [...(listeners.get(event) ?? []), f]); },
      off(event, f) {
        if (!event) listeners.clear();
        else listeners.set(event, f ? (listeners.get(event) ?? []).filter((g) => g !== f) : []);
      },
      widget_manager: {
        get_model: async (reference) => modelFor(String(reference).replace("IPY_MODEL_", "")),
      },
    };
    models.set(id, model);
    return model;
  }

  /** The module of a widget class, imported once, and its style sheet, added once. */
  function moduleFor(name) {
    if (!modules.has(name)) {
      const source = window.attnWidgets?.[name];
      if (!source) throw new Error(`no code for the widget ${name}: was the site built?`);
      const style = document.createElement("style");
      style.textContent = source.css;
      document.head.append(style);
      const url = URL.createObjectURL(new Blob([source.esm], { type: "text/javascript" }));
      modules.set(name, import(url).then(async (module) => {
        URL.revokeObjectURL(url);
        return typeof module.default === "function" ? module.default() : module.default;
      }));
    }
    return modules.get(name);
  }

  async function wake(box) {
    const id = JSON.parse(box.querySelector(VIEW).textContent).model_id;
    const name = saved[id]?.state._anywidget_id;
    if (!name) throw new Error(`no saved state for the widget ${id}`);
    const widget = await moduleFor(name);
    const first = !models.has(id);
    const model = modelFor(id);
    if (first) await widget.initialize?.({ model });
    const host = document.createElement("div");
    // In one task, so that nothing is painted in between: the picture goes, the widget comes.
    const picture = box.querySelector("img");
    if (picture) picture.replaceWith(host);
    else box.append(host);
    try {
      await widget.render?.({ model, el: host });
    } catch (error) {
      if (picture) host.replaceWith(picture);
      throw error;
    }
    box.dataset.widget = "awake";
  }

  function start() {
    for (const tag of document.querySelectorAll(STATE)) {
      Object.assign(saved, JSON.parse(tag.textContent).state);
    }
    const begin = (box) => wake(box).catch((error) => {
      box.dataset.widget = "failed"; // the picture stays
      console.error(error);
    });
    const boxes = [...document.querySelectorAll(".attn-widget")];
    if (!window.IntersectionObserver) {
      boxes.forEach(begin);
      return;
    }
    const observer = new IntersectionObserver((entries) => {
      for (const { isIntersecting, target } of entries) {
        if (!isIntersecting) continue;
        observer.unobserve(target);
        begin(target);
      }
    }, { rootMargin: MARGIN });
    boxes.forEach((box) => observer.observe(box));
  }

  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
