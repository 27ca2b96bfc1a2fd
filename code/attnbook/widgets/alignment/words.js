// What the alignment viewer says, on its card, under it and to screen readers.
import { fillRows } from "../core/table.js";
import { goldMark, shortWeight, strongest, weightText } from "../core/words.js";
import { takeScore, takeStep } from "./data.js";

const VERDICTS = {
  sure: "on a sure link", possible: "on a possible link", miss: "not on a gold link",
  none: "no gold link to hit", nothing: "all weights are zero",
};

export function verdictText(verdict) {
  return VERDICTS[verdict];
}

/** "0.62 on “car”", or that there is no weight. */
export function whereText(picture, { best, weight }) {
  return best < 0 ? "no weight" : `${shortWeight(weight)} on “${picture.keyLabels[best]}”`;
}

/** "gold: “car”, “the” (possible)". */
export function goldText(picture, { links }) {
  const name = ({ j, sure }) => `“${picture.keyLabels[j]}”${sure ? "" : " (possible)"}`;
  return `gold: ${links.map(name).join(", ") || "no link"}`;
}

/** The score in parts: [name, hits, tokens that have such a link]; possible ones if there are any. */
export function scoreParts(picture, step) {
  const { sure, possible } = takeScore(picture, step);
  const parts = [["on a sure link", sure.hits, sure.marked]];
  if (picture.possible.includes(1)) {
    parts.push(["on a sure or possible link", possible.hits, possible.marked]);
  }
  return parts;
}

export function describeScore(picture, step) {
  const parts = scoreParts(picture, step).map(([name, hits, of]) => `${hits} of ${of} ${name}`);
  return `argmax so far: ${parts.join(", ")}`;
}

/** One step in one line. */
export function describeStep(picture, i) {
  const step = takeStep(picture, i);
  return `“${picture.queryLabels[i]}”: ${whereText(picture, step)}, ${goldText(picture, step)}; `
    + verdictText(step.verdict);
}

/** One target word in one line, by each of the models shown: [[label, picture], ...]. */
function describeWord(shown, i) {
  const [[, picture]] = shown;
  if (i > picture.pinned) return `“${picture.queryLabels[i]}”: not decoded yet`;
  if (shown.length === 1) return describeStep(picture, i);
  return shown.map(([label, one]) => `${label}, ${describeStep(one, i)}`).join(". ");
}

/** What is pointed at in one line: a target word (j is null), or a cell with its weights. */
export function describePlace(shown, { i, j }) {
  if (j === null) return describeWord(shown, i);
  const [[, picture]] = shown;
  const at = i * picture.keys + j;
  const head = `“${picture.queryLabels[i]}” → “${picture.keyLabels[j]}”${goldMark(picture, at)}: `;
  if (i > picture.pinned) return `${head}not decoded yet`;
  if (j >= picture.length) return `${head}masked, padding`;
  const weigh = ({ allowed, weights }, name) => (allowed[at] ? `${name} ${weightText(weights[at])}` : "masked");
  if (shown.length === 1) return head + weigh(picture, "weight");
  return head + shown.map(([label, one]) => `${label} ${weigh(one, "").trim()}`).join(", ");
}

/** Fills the hidden table of one model: every target token, its strongest weights, its gold. */
export function fillStepTable(table, picture, caption) {
  fillRows(table, caption, ["target token", "strongest weights", "gold", "largest weight"],
    picture.queryLabels.map((token, i) => {
      const step = takeStep(picture, i);
      return [token, strongest(picture, i, 3), goldText(picture, step).replace("gold: ", ""),
        verdictText(step.verdict)];
    }));
}
