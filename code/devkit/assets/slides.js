// Slides: arrows, space, Home and End, or the buttons; n shows the notes, f fills the screen.
(() => {
  const slides = [...document.querySelectorAll(".slide")];
  const place = document.querySelector(".slides-bar output");
  let now = 0;

  // What is too tall is drawn smaller, down to a half; below that it scrolls.
  const fit = (slide) => {
    const shown = slide.querySelector(".shown");
    shown.style.zoom = 1;
    for (let zoom = 1; zoom > 0.5 && shown.scrollHeight > shown.clientHeight + 1; zoom -= 0.05) {
      shown.style.zoom = zoom - 0.05;
    }
    const scrolls = shown.scrollHeight > shown.clientHeight + 1;
    scrolls ? shown.setAttribute("tabindex", "0") : shown.removeAttribute("tabindex");
  };
  const go = (number) => {
    now = Math.min(Math.max(number, 0), slides.length - 1);
    slides.forEach((slide, n) => slide.classList.toggle("now", n === now));
    place.textContent = `${now + 1} of ${slides.length}`;
    history.replaceState(null, "", `#${now + 1}`);
    fit(slides[now]);
    setTimeout(() => fit(slides[now]), 300); // a widget that has just woken
  };
  const notes = () => {
    document.body.classList.toggle("with-notes");
    fit(slides[now]);
  };
  const keys = {
    ArrowRight: () => go(now + 1), PageDown: () => go(now + 1), " ": () => go(now + 1),
    ArrowLeft: () => go(now - 1), PageUp: () => go(now - 1),
    Home: () => go(0), End: () => go(slides.length - 1), n: notes,
    f: () => (document.fullscreenElement ? document.exitFullscreen() : document.documentElement.requestFullscreen()),
  };
  addEventListener("keydown", (event) => {
    const busy = event.target.closest?.("canvas, input, select, textarea, button, [contenteditable]");
    if (busy || event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });
  document.querySelectorAll("[data-go]").forEach((button) =>
    button.addEventListener("click", () => go(now + Number(button.dataset.go))));
  document.querySelector("[data-notes]").addEventListener("click", notes);
  addEventListener("hashchange", () => go(Number(location.hash.slice(1)) - 1));
  addEventListener("resize", () => fit(slides[now]));
  addEventListener("load", () => go((Number(location.hash.slice(1)) || 1) - 1));
})();
