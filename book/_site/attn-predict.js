// Takes a prediction, opens what it is about, and sets it beside what was measured. Answers stay in
// this browser. What is closed opens by style sheets where all is to be open (attn_predict.py).
(() => {
  let store = {}; // slides begin anew each time
  try { if (!document.body.matches(".slides")) store = localStorage; } catch { /* not kept */ }
  const answers = () => JSON.parse(store.attnPredictions ?? "{}");
  const keep = (name, answer) => {
    store.attnPredictions = JSON.stringify({ ...answers(), [name]: answer });
  };

  /** A number as people write it: 0.4, 0,4, 40 %, 2/5. */
  const numberOf = (text) => {
    const plain = text.trim().replace(",", ".").replace("−", "-");
    const [, top, below = 1, hundred] = plain.match(/^(-?[\d.]+)(?:\s*\/\s*([\d.]+))?\s*(%)?$/) ?? [];
    return Number(top) / Number(below) / (hundred ? 100 : 1);
  };

  const words = (...parts) => {
    const line = document.createElement("p");
    for (const part of parts) {
      if (typeof part === "string") { line.append(part); continue; }
      const own = document.createElement("b");
      own.append(...part);
      line.append(own);
    }
    return line;
  };
  const copies = (node) => [...node.childNodes].map((child) => child.cloneNode(true));

  for (const box of document.querySelectorAll(".attn-answer")) {
    const { box: name, right, number, within } = box.dataset;
    const closed = [...document.querySelectorAll(`.attn-closed[data-box="${name}"]`)];
    const choices = [...box.querySelectorAll(".attn-choices button")];
    const form = box.querySelector("form");
    const skip = box.querySelector(".attn-skip");
    const status = box.querySelector('[role="status"]');

    /** The sentence that explains, from the text below. */
    const reason = () => {
      const sentence = document.querySelector(`.attn-reason[data-box="${name}"]`);
      if (!sentence) return [];
      const line = document.createElement("p");
      line.append(...copies(sentence));
      line.querySelectorAll(".footnote-reference").forEach((mark) => mark.remove());
      return [line];
    };
    const open = (on = true) => closed.forEach((part) => { part.open = on; });
    const verdict = (answer) => {
      if (form) {
        const own = [answer], near = Math.abs(numberOf(answer) - Number(number)) <= Number(within) + 1e-9;
        return near ? words("Near enough: you expected ", own, ", measured is ", [number], ".")
          : words("You expected ", own, ". Measured: ", [number], ".");
      }
      const [own, measured] = [choices[answer - 1], choices[right - 1]].map(copies);
      return answer === Number(right) ? words("As you expected: ", measured, ".")
        : words("You expected: ", own, ". Measured: ", measured, ".");
    };
    const show = (answer) => {
      open();
      choices.forEach((choice, n) => {
        choice.setAttribute("aria-disabled", "true");
        choice.setAttribute("aria-pressed", String(n + 1 === answer));
        choice.classList.toggle("attn-right", n + 1 === Number(right));
      });
      if (form) form.hidden = true;
      skip.textContent = "Answer again";
      skip.previousSibling.textContent = "";
      status.replaceChildren(verdict(answer), ...reason());
    };
    const ask = skip.previousSibling.textContent;
    const again = () => {
      keep(name, undefined);
      status.removeAttribute("aria-live");
      open(false);
      for (const choice of choices) {
        choice.removeAttribute("aria-disabled");
        choice.removeAttribute("aria-pressed");
        choice.classList.remove("attn-right");
      }
      if (form) { form.reset(); form.hidden = false; }
      skip.textContent = "Show without a guess";
      skip.previousSibling.textContent = ask;
      status.replaceChildren();
    };
    const answered = () => answers()[name] !== undefined;
    const commit = (answer) => {
      if (answered()) return;
      keep(name, answer);
      show(answer);
    };

    choices.forEach((choice, n) => choice.addEventListener("click", () => commit(n + 1)));
    form?.addEventListener("submit", (event) => {
      event.preventDefault();
      const field = form.querySelector("input");
      const known = Number.isFinite(numberOf(field.value));
      field.setCustomValidity(known ? "" : "A number, such as 0.3 or 30 %");
      if (known) commit(field.value.trim());
      else field.reportValidity();
    });
    form?.addEventListener("input", () => form.querySelector("input").setCustomValidity(""));
    skip.addEventListener("click", () => (answered() ? again() : open()));
    if (answered()) {
      status.setAttribute("aria-live", "off"); // said when it was given
      show(answers()[name]);
    }
  }

  const all = document.querySelector(".attn-all input");
  if (!all) return;
  const root = document.documentElement;
  const openAll = () => {
    root.classList.toggle("attn-all-open", all.checked);
    store.attnAnswers = all.checked ? "open" : "closed";
    if (CSS.supports("selector(::details-content)")) return;
    document.querySelectorAll(".attn-closed").forEach((part) => { part.open = all.checked; });
  };
  all.checked = root.classList.contains("attn-all-open");
  all.addEventListener("change", openAll);
  if (all.checked) openAll();
})();
