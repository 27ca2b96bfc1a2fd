// Play: the French words come one by one, and the count with them.
const PACE = 900; // milliseconds a word

for (const panel of document.querySelectorAll(".attn-translation")) {
  const steps = [...panel.querySelectorAll(".step")];
  const [count, button] = [".attn-count", ".attn-play"].map((name) => panel.querySelector(name));
  const whole = count.innerHTML;
  let timer = null;

  const show = (reached) => {
    steps.forEach((step, n) => step.classList.toggle("later", n >= reached));
    const judged = steps.slice(0, reached).filter(({ dataset }) => dataset.hit !== "");
    const hits = judged.filter(({ dataset }) => dataset.hit === "1").length;
    count.innerHTML = reached === steps.length ? whole : `<b>${hits} of ${judged.length}</b> so far`;
  };
  const stop = () => {
    clearInterval(timer);
    timer = null;
    show(steps.length);
    button.textContent = "Play";
  };
  button.addEventListener("click", () => {
    if (timer) { stop(); return; }
    let reached = 0;
    show(reached);
    button.textContent = "Stop";
    timer = setInterval(() => {
      reached += 1;
      if (reached === steps.length) stop();
      else show(reached);
    }, PACE);
  });
  button.hidden = matchMedia("(prefers-reduced-motion: reduce)").matches;
}
