// A term's meaning where it is used: on pointing, on focus, on the first touch. Without this
// script the link's own title shows it. Escape puts it away; the pointer may rest on it.
(() => {
  const tip = document.createElement("div");
  tip.id = "attn-tip";
  tip.hidden = true;
  tip.setAttribute("role", "tooltip");
  let shown = null;
  let leaving = 0;
  let touched = false;

  const hide = () => {
    clearTimeout(leaving);
    shown?.removeAttribute("aria-describedby");
    shown = null;
    tip.hidden = true;
  };
  const leave = () => {
    clearTimeout(leaving);
    leaving = setTimeout(hide, 200);
  };
  const place = (link) => {
    const line = link.getClientRects()[0];
    const box = tip.getBoundingClientRect();
    const left = Math.min(line.left, document.documentElement.clientWidth - box.width - 8);
    const above = line.bottom + box.height + 12 > innerHeight && line.top > box.height + 12;
    tip.style.left = `${Math.max(8, left) + scrollX}px`;
    tip.style.top = `${(above ? line.top - box.height - 6 : line.bottom + 6) + scrollY}px`;
  };
  const show = (link) => {
    clearTimeout(leaving);
    if (shown === link) return;
    hide();
    const [name, ...meaning] = link.dataset.meaning.split(": ");
    const head = document.createElement("b");
    head.textContent = name;
    tip.replaceChildren(head, meaning.join(": "));
    tip.hidden = false;
    shown = link;
    link.setAttribute("aria-describedby", tip.id);
    place(link);
  };

  document.body.append(tip);
  tip.addEventListener("pointerenter", () => clearTimeout(leaving));
  tip.addEventListener("pointerleave", leave);
  addEventListener("keydown", (event) => event.key === "Escape" && hide());
  addEventListener("pointerdown", (event) => {
    touched = event.pointerType === "touch";
    if (shown && !tip.contains(event.target) && !shown.contains(event.target)) hide();
  });
  for (const link of document.querySelectorAll("a.attn-term")) {
    link.dataset.meaning = link.title;
    link.removeAttribute("title");
    link.addEventListener("pointerenter", (event) => event.pointerType !== "touch" && show(link));
    link.addEventListener("pointerleave", (event) => event.pointerType !== "touch" && leave());
    link.addEventListener("focus", () => touched || show(link));
    link.addEventListener("blur", leave);
    link.addEventListener("click", (event) => {
      if (!touched || shown === link) return; // the second touch follows the link
      event.preventDefault();
      show(link);
    });
  }
})();
