// English in, French out: tokens as `attnbook.data.tokenize` gives them, and text for reading.
const SAME = { "’": "'", "‘": "'", "ʼ": "'", "“": '"', "”": '"', "…": "...", "\u2010": "-", "\u2011": "-" };
const NOTHING = /[\u00ad\u200b\ufeff]/g;
const LETTER = "[\\p{L}\\p{N}_\\u0300-\\u036f]";
const TOKEN = new RegExp([
  "\\p{Nd}+(?:[.,:/]\\p{Nd}+)+[\\p{L}\\p{N}_]*", // 2:30, 10,000
  "(?:\\p{L}\\.){2,}", // a.m.
  "(?:mr|mrs|ms|dr|mt|st)\\.(?=\\s*[\\p{L}\\p{N}_])",
  `'s(?!${LETTER})`,
  `${LETTER}+(?:['-]${LETTER}+)*`,
  "\\.{2,}",
  "\\S",
].join("|"), "giu");
// behind these words 's is a verb, and a part of the word
const CONTRACTS = new Set("he she it that this there here let what who where when why how".split(" "));

function withoutPossessive(token) {
  let word = token;
  const behind = [];
  while (word.endsWith("'s") && word.length > 2 && !CONTRACTS.has(word.slice(0, -2))) {
    behind.push("'s");
    word = word.slice(0, -2);
  }
  return [word, ...behind];
}

/** A sentence as lower-case words, numbers and marks. */
export function tokenize(text) {
  const plain = text.replace(/[’‘ʼ“”…\u2010\u2011]/g, (mark) => SAME[mark]).replace(NOTHING, "");
  const spelt = plain.normalize("NFC").toLowerCase().normalize("NFC");
  const tokens = spelt.replace(/\s+(?=[.,!?;:)\]}%])/g, "").match(TOKEN) ?? [];
  return tokens.flatMap(withoutPossessive);
}

/** English tokens as a sentence that `tokenize` takes apart again. */
export function englishText(tokens) {
  return tokens.reduce((text, token) =>
    text + (!text || token === "'s" || token === "'" || /^[.,!?]/.test(token) ? "" : " ") + token, "");
}

// As in `attnbook.data.text.detokenize`: spaces at which no line breaks, thin before some marks.
const [THIN, FIXED] = ["\u202f", "\u00a0"];
const BEFORE = {
  ...Object.fromEntries([...".,)]}"].map((mark) => [mark, ""])),
  ...Object.fromEntries([..."!?;%"].map((mark) => [mark, THIN])),
  ...Object.fromEntries([...":»$€"].map((mark) => [mark, FIXED])),
};
const AFTER = { "(": "", "[": "", "{": "", "«": FIXED };
const ELIDED = /^(?:[cçdjlmnst]|qu|jusqu|lorsqu|puisqu|quoiqu)'$/i;
const BEHIND = /^(?:-t)?-(?:je|tu|il|elle|on|nous|vous|ils|elles|ce|moi|toi|lui|leur|le|la|les|y|en)$/i;

/** The space between two French tokens, where `quoted` says whether straight quotes are open. */
function spaceBetween(last, token, quoted) {
  if (BEHIND.test(token) || (token === '"' && quoted)) return "";
  if (token in BEFORE || token.startsWith("..")) {
    const joined = "([{".includes(last) || ("!?".includes(token) && "!?".includes(last)); // ?! is one mark
    return joined ? "" : BEFORE[token] ?? "";
  }
  if (last === '"') return quoted ? "" : " ";
  return ELIDED.test(last) ? "" : AFTER[last] ?? " ";
}

/** French tokens as French is written; names, and what begins a sentence, get capitals. */
export function frenchText(tokens, names = []) {
  const capital = (word) => word.slice(0, 1).toUpperCase() + word.slice(1);
  let [text, quoted, begins] = ["", false, true];
  tokens.forEach((token, n) => {
    const space = n ? spaceBetween(tokens[n - 1], token, quoted) : "";
    text += space + (begins || names.includes(token) ? capital(token) : token);
    begins = /^[.?!]$/.test(token) || (begins && !/[\p{L}\p{N}]/u.test(token));
    if (token === '"') quoted = !quoted;
  });
  return text.replaceAll("'", "’");
}

/** How many letters to add, drop, change or swap with their neighbour, to make one word the other. */
export function distance(a, b) {
  let [before, last] = [[], Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      row.push(Math.min(last[j] + 1, row[j - 1] + 1, last[j - 1] + same));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        row[j] = Math.min(row[j], before[j - 2] + 1);
      }
    }
    [before, last] = [last, row];
  }
  return last[b.length];
}

/**
 * The word that an unknown one is meant to be, or null: one of `words`, the most frequent first, that
 * has an apostrophe more or less, or that one slip makes of it: two letters swapped, one too few or
 * too many. (Another letter is more often another word: coat is no goat.)
 */
export function slipOf(word, words) {
  const plain = (text) => text.replaceAll("'", "");
  const sorted = (text) => [...text].sort().join("");
  const slip = (known) => distance(word, known) === 1 && (known.length !== word.length || sorted(known) === sorted(word));
  return words.find((known) => known !== "'" && plain(known) === plain(word))
    ?? (word.length < 4 ? null : words.find((known) => /^\p{L}{3,}$/u.test(known) && slip(known))) ?? null;
}

/** The `count` words nearest to an unknown one; of equally near ones the more frequent first. */
export function nearest(word, words, count = 3) {
  return words.filter((known) => /\p{L}/u.test(known) && !known.startsWith("<"))
    .map((known, rank) => ({ known, rank, far: distance(word, known) }))
    .sort((a, b) => a.far - b.far || a.rank - b.rank)
    .slice(0, count).map(({ known }) => known);
}
