function render({ el }) { el.textContent = "layers and heads"; }
export default { render };
