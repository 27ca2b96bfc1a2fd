// What the ablation widget says in words: what is in, what is right, and how one answer comes about.
import { numeral } from "../core/words.js";

const list = (parts) => (parts.length < 2 ? parts.join("")
  : `${parts.slice(0, -1).join(", ")} and ${parts[parts.length - 1]}`);

/** Which heads are out. */
export function describeOut(labels, out) {
  if (!out.length) return "All heads are in.";
  return `${list(out.map((head) => labels[head]))} ${out.length === 1 ? "is" : "are"} out.`;
}

/** The relations, and where there are several, all of them at once. */
export function withAll(relations) {
  const all = { 1: [], 2: ["both"] }[relations.length] ?? ["all at once"];
  return [...relations, ...all];
}

/** How many answers of each relation are right, over all sequences. */
export function describeRight(relations, counts, total) {
  return withAll(relations).map((name, r) => `${name}: ${counts[r]} of ${total} right`).join("; ");
}

/** The answers of one query: what is said, what is right, and what each head adds to the right one. */
export function describeQuery({ label, relations, classes, said, right, shares, base, headLabels, out }) {
  const parts = relations.map((name, r) => {
    const verdict = said[r] === right[r] ? "right" : `wrong, ${classes[right[r]]} is right`;
    const sums = headLabels.map((head, n) =>
      `${head} ${out.includes(n) ? "out" : signed(shares[r][n])}`);
    return `${name} ${classes[said[r]]}, ${verdict} `
      + `(logit of ${classes[right[r]]}: ${numeral(base[r], 1)} without heads, ${sums.join(", ")})`;
  });
  return `${label}: ${parts.join("; ")}.`;
}

function signed(x) {
  const text = numeral(x, 1);
  return text.startsWith("−") ? text : `+${text}`;
}
