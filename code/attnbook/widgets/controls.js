// The controls above the map: native inputs with labels, bound to the model's traits.

export function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

export function slider(text, attributes, room, format, onInput) {
  const input = element("input", { type: "range", ...attributes });
  const output = element("output", { class: "ah-value", style: `min-width: ${room}ch` });
  const label = element("label", { class: "ah-control ah-slider" },
    element("span", {}, text), input, output);
  const show = (value, shown) => {
    input.value = value;
    output.textContent = format(shown);
    input.setAttribute("aria-valuetext", format(shown));
  };
  input.addEventListener("input", () => onInput(Number(input.value)));
  return { label, show };
}

export function checkbox(text, onChange) {
  const input = element("input", { type: "checkbox" });
  const label = element("label", { class: "ah-control ah-check" }, input, element("span", {}, text));
  input.addEventListener("change", () => onChange(input.checked));
  return { label, show: (value) => { input.checked = value; } };
}

/**
 * Builds the controls that the model switches on. Returns the node and `refresh`, which
 * brings every input in line with the model. A slider moves the temperature by its logarithm.
 */
export function makeControls(model) {
  const [batches, , keys] = model.get("_shape");
  const store = (changes) => { model.set(changes); model.save_changes(); };
  const start = {};
  for (const name of ["lengths", "causal", "temperature", "scaled", "batch"]) {
    start[name] = model.get(name);
  }
  const makers = {
    batch() {
      const select = element("select");
      for (let b = 0; b < batches; b++) select.append(element("option", { value: b }, String(b)));
      select.addEventListener("change", () => store({ batch: Number(select.value) }));
      const label = element("label", { class: "ah-control" }, element("span", {}, "Sequence"), select);
      return { label, refresh: () => { select.value = String(model.get("batch")); } };
    },
    lengths() {
      const { label, show } = slider("Valid length", { min: 0, max: keys, step: 1 },
        4 + 2 * String(keys).length, (n) => `${n} of ${keys}`, (value) => {
          const lengths = [...model.get("lengths")];
          lengths[model.get("batch")] = value;
          store({ lengths });
        });
      return { label, refresh: () => {
        const length = model.get("lengths")[model.get("batch")];
        show(length, length);
      } };
    },
    causal() {
      const { label, show } = checkbox("Causal", (causal) => store({ causal }));
      return { label, refresh: () => show(model.get("causal")) };
    },
    temperature() {
      const { label, show } = slider("Temperature", { min: -1, max: 1, step: 0.05 },
        5, (t) => String(Number(t.toPrecision(3))), (value) => store({ temperature: 10 ** value }));
      return { label, refresh: () => {
        const temperature = model.get("temperature");
        show(Math.log10(temperature), temperature);
      } };
    },
    scale() {
      const size = Number(model.get("scale").toPrecision(6));
      const { label, show } = checkbox(`Divide by √${size}`, (scaled) => store({ scaled }));
      return { label, refresh: () => show(model.get("scaled")) };
    },
  };
  const node = element("div", { class: "ah-controls", role: "group", "aria-label": "Controls" });
  const refreshers = [];
  for (const name of ["batch", "lengths", "temperature", "causal", "scale"]) {
    if (!model.get("controls").includes(name)) continue;
    const { label, refresh } = makers[name]();
    node.append(label);
    refreshers.push(refresh);
  }
  if (refreshers.length) {
    const reset = element("button", { type: "button", class: "ah-reset" }, "Reset");
    reset.addEventListener("click", () => store(start));
    node.append(reset);
  } else {
    node.hidden = true;
  }
  return { node, refresh: () => refreshers.forEach((refresh) => refresh()) };
}
