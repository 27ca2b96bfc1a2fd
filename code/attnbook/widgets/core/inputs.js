// Native inputs with labels: each maker returns its `label` and `show`, which sets what it shows.

export function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

export function slider(text, attributes, room, format, onInput) {
  const input = element("input", { type: "range", ...attributes });
  const output = element("output", { class: "ah-value", style: `min-width: ${room}ch` });
  const name = element("span", {}, text);
  const label = element("label", { class: "ah-control ah-slider" }, name, input, output);
  const show = (value, shown = value) => {
    input.value = value;
    output.textContent = format(shown);
    input.setAttribute("aria-valuetext", format(shown));
  };
  input.addEventListener("input", () => onInput(Number(input.value)));
  return { label, name, input, show };
}

export function checkbox(text, onChange) {
  const input = element("input", { type: "checkbox" });
  const label = element("label", { class: "ah-control ah-check" }, input, element("span", {}, text));
  input.addEventListener("change", () => onChange(input.checked));
  return { label, show: (value) => { input.checked = value; } };
}

/** A list to choose one position from; `show` takes a position, or one of the `values`. */
export function select(text, options, onChange, values = [...options.keys()]) {
  const input = element("select");
  options.forEach((option, n) => input.append(element("option", { value: values[n] }, option)));
  input.addEventListener("change", () => onChange(input.selectedIndex));
  const label = element("label", { class: "ah-control ah-select" }, element("span", {}, text), input);
  return { label, show: (n) => { input.value = String(n); } };
}

let groups = 0; // radio buttons belong together by a name that is theirs alone

/** A few named choices side by side; `choices`: [[value, text], ...]. */
export function segments(text, choices, onChange) {
  const name = `ah-group-${groups++}`;
  const inputs = new Map();
  const label = element("div", { class: "ah-control ah-segments", role: "radiogroup", "aria-label": text });
  for (const [value, words] of choices) {
    const input = element("input", { type: "radio", name, value });
    input.addEventListener("change", () => onChange(value));
    inputs.set(value, input);
    label.append(element("label", {}, input, element("span", {}, words)));
  }
  return { label, show: (value) => { inputs.get(value).checked = true; } };
}

export function button(text, onClick, attributes = {}) {
  const node = element("button", { type: "button", class: "ah-button", ...attributes }, text);
  node.addEventListener("click", onClick);
  return node;
}
