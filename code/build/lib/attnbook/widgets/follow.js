// Watching the model and the page.

/** Calls f(name) whenever one of these traits changes; returns the export function that stops it. */
export function follow(model, names, f) {
  const watched = names.map((name) => [`change:${name}`, () => f(name)]);
  watched.forEach(([event, g]) => model.on(event, g));
  return () => watched.forEach(([event, g]) => model.off(event, g));
}

/** Calls f whenever the width of `node` changes; returns the export function that stops it. */
export function watchWidth(node, f) {
  let width = node.clientWidth;
  const sizer = new ResizeObserver(() => {
    if (node.clientWidth === width) return;
    width = node.clientWidth;
    f();
  });
  sizer.observe(node);
  return () => sizer.disconnect();
}
