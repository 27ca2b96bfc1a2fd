// Watching the model and the page.

/** Calls f(name) whenever one of these traits changes; returns the function that stops it. */
export function follow(model, names, f) {
  const watched = names.map((name) => [`change:${name}`, () => f(name)]);
  watched.forEach(([event, g]) => model.on(event, g));
  return () => watched.forEach(([event, g]) => model.off(event, g));
}

/**
 * Calls f(width, before) whenever the width of `node` changes; it is 0 while the node is detached
 * or hidden. Returns the function that stops it.
 */
export function watchWidth(node, f) {
  let width = node.clientWidth;
  const sizer = new ResizeObserver(() => {
    const before = width;
    width = node.clientWidth;
    if (width !== before) f(width, before);
  });
  sizer.observe(node);
  return () => sizer.disconnect();
}
