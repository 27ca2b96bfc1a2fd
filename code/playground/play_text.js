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

/** French tokens as a sentence: elided words close up, names and the first word get capitals. */
export function frenchText(tokens, names = []) {
  const capital = (word) => word.slice(0, 1).toUpperCase() + word.slice(1);
  let text = "";
  for (const token of tokens) {
    const word = names.includes(token) ? capital(token) : token;
    if (token === "?" || token === "!") text += `\u00a0${word}`;
    else text += (text && !text.endsWith("'") && !/^[.,-]/.test(token) ? " " : "") + word;
  }
  return capital(text).replaceAll("'", "’");
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

/** The `count` words nearest to an unknown one; of equally near ones the more frequent first. */
export function nearest(word, words, count = 3) {
  return words.filter((known) => /\p{L}/u.test(known) && !known.startsWith("<"))
    .map((known, rank) => ({ known, rank, far: distance(word, known) }))
    .sort((a, b) => a.far - b.far || a.rank - b.rank)
    .slice(0, count).map(({ known }) => known);
}
