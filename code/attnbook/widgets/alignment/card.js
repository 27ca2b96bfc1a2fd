// The card of one step: the token, its candidates, where its weight went, and the score so far.
import { element } from "../core/inputs.js";
import { shortWeight, strongestKeys } from "../core/words.js";
import { takeStep } from "./data.js";
import { goldText, scoreParts, verdictText, whereText } from "./words.js";

const SIGNS = { sure: "✓", possible: "≈", miss: "✗", none: "–", nothing: "–" };
const line = (name, ...children) => element("p", { class: name }, ...children);

function bar(share) {
  return element("i", { class: "al-bar", style: `--share: ${share}`, "aria-hidden": "true" });
}

/** The runners-up after the largest weight. */
function othersText(picture, i) {
  const parts = strongestKeys(picture, i).slice(1, 3)
    .map((j) => `“${picture.keyLabels[j]}” ${shortWeight(picture.weights[i * picture.keys + j])}`);
  return parts.length ? `then ${parts.join(", ")}` : " ";
}

function tokenPart(picture, i) {
  const step = takeStep(picture, i);
  const name = picture.classes[i];
  return element("div", { class: "al-part" },
    line("al-token", element("b", {}, picture.queryLabels[i]),
      ...(name ? [element("span", { class: "al-note" }, name)] : [])),
    line("al-where", `${whereText(picture, step)}, ${goldText(picture, step)}`),
    line("al-note", othersText(picture, i)),
    element("p", { class: "al-verdict", "data-verdict": step.verdict },
      element("i", { "aria-hidden": "true" }, SIGNS[step.verdict]), verdictText(step.verdict)));
}

/** The most probable tokens; a tick marks the one of this step. */
function candidatesPart(picture, i) {
  const list = element("ul", { class: "al-candidates", "aria-label": "most probable tokens" });
  for (const [token, p] of picture.candidates[i]) {
    const same = token === picture.queryLabels[i];
    list.append(element("li", same ? { class: "al-chosen" } : {},
      element("span", { class: "al-word", title: token }, token), bar(p),
      element("span", { class: "al-number" }, shortWeight(p))));
  }
  return element("div", { class: "al-part" }, line("al-note", "most probable tokens"), list);
}

function scorePart(picture, i) {
  const part = element("div", { class: "al-part al-score" }, line("al-note", "hit rate so far"));
  for (const [name, hits, of] of scoreParts(picture, i)) {
    const share = of ? hits / of : 0;
    const percent = of ? ` (${Math.round(100 * share)}%)` : "";
    part.append(element("div", {}, line("", element("b", {}, `${hits} of ${of}`), `${percent} ${name}`),
      bar(share)));
  }
  return part;
}

export function fillCard(card, picture, i) {
  const parts = [tokenPart(picture, i), scorePart(picture, i)];
  if (picture.candidates[i]?.length) parts.splice(1, 0, candidatesPart(picture, i));
  card.replaceChildren(...parts);
}

/** The steps with the most to say; to lay out the card of every step would take too long. */
function longestSteps(picture) {
  const steps = [...picture.queryLabels.keys()];
  const longest = (text) => {
    const lengths = steps.map((i) => text(i).length);
    return [...steps].sort((a, b) => lengths[b] - lengths[a]).slice(0, 2);
  };
  const where = (i) => {
    const step = takeStep(picture, i);
    return `${whereText(picture, step)}${goldText(picture, step)}`;
  };
  const token = (i) => `${picture.queryLabels[i]} ${picture.classes[i] ?? ""}`;
  const asked = (i) => "x".repeat(picture.candidates[i]?.length ?? 0);
  const last = steps.length - 1; // the longest numbers
  return new Set([...longest(where), ...longest((i) => othersText(picture, i)), longest(token)[0],
    longest(asked)[0], last]);
}

/** The height of the highest step: kept free, nothing below moves while one steps. */
export function cardHeight(card, picture) {
  card.style.minHeight = "";
  let highest = 0;
  for (const i of longestSteps(picture)) {
    fillCard(card, picture, i);
    highest = Math.max(highest, card.offsetHeight);
  }
  return highest;
}
