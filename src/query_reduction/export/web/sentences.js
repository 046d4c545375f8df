// Prose as sentences, by the rules of query_reduction.text.sentences; what Python calls white space, letters and case.
const SPACE = "\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const WORD = "[\\p{L}\\p{N}_]";
const OUTSIDE = new RegExp(`^[${SPACE}]+|[${SPACE}]+$`, "gu");
const LINE_END = /\r\n|[\n\v\f\r\x1c-\x1e\x85\u2028\u2029]/u;
const END = new RegExp(
  `(?<![.!?…‥؟])(?<marks>[.!?…‥؟]+)(?<closing>["'“”‘’»›)\\]}]*)(?=[${SPACE}])|[。！？｡।॥۔]+[」』）】〕"'”’»›)\\]}]*`, "gu");
const AFTER = new RegExp(`[${SPACE}]*`, "uy");
const OPENING = new RegExp(`[${SPACE}"'“”‘’«»‹›„(\\[{¿¡—–-]*`, "uy");
const LAST_WORD = new RegExp(`[^${SPACE}"'“”‘’«»‹›„(\\[{¿¡—–]*$`, "u");
const NEXT_WORD = new RegExp(`(?:${WORD}|')*`, "uy");
const ITEM = /^(?:\p{Nd}{1,3}|[ivxIVX]+|[a-zA-Z])$/u;
const LETTERS = /^(?:\p{L}\.)+\p{L}$/u;
const LONGEST_ABBREVIATION = 20;

const wordsIn = (text) => new Set(text.split(" "));
const TITLES = wordsIn("mr mrs ms mx dr prof messrs mme mlle vs cf viz approx ca e.g i.e bzw z.b d.h u.a");
const TITLES_WITH_CAPITAL = wordsIn("Rev Hon St Gen Col Maj Capt Cmdr Lt Sgt Cpl Pvt Gov Sen Rep Pres Supt Mt Ft");
const BEFORE_NUMBERS = wordsIn(
  "no nr nos vol vols p pp fig figs eq eqs sec ch art jan feb mar apr jun jul aug sep sept oct nov dec");
const ANYWHERE = wordsIn("etc inc ltd co corp llc plc jr sr al dept univ bros ph.d");
const OPENERS = wordsIn(
  "the a an this that these those he she it they we you i there here his her their our my its in on at but and so " +
  "then after before when while if what where who why how is are was were do does did no yes");
const TIMES = wordsIn("a.m p.m");
const SHORT = new Set([
  ...TITLES, ...[...TITLES_WITH_CAPITAL].map((word) => word.toLowerCase()), ...BEFORE_NUMBERS, ...ANYWHERE]);

const strip = (text) => text.replace(OUTSIDE, "");
const isLower = (letter) => /^\p{Lowercase}/u.test(letter);
const isUpper = (letter) => /^\p{Uppercase}/u.test(letter);

function matchAt(pattern, text, at) {
  pattern.lastIndex = at;
  return pattern.exec(text)[0];
}

function splitSentences(text) {
  return text.split(LINE_END).map(strip).filter(Boolean).flatMap(sentencesOfLine);
}

function sentencesOfLine(line) {
  const sentences = [];
  let start = 0;
  for (const end of line.matchAll(END)) {
    const after = end.index + end[0].length;
    if (after < line.length && (end.groups.marks === undefined || endsSentence(line, start, end))) {
      sentences.push(line.slice(start, after));
      start = after + matchAt(AFTER, line, after).length;
    }
  }
  return [...sentences, line.slice(start)];
}

function endsSentence(line, start, end) {
  const { marks, closing } = end.groups;
  const after = end.index + end[0].length;
  const begin = after + matchAt(OPENING, line, after).length;
  if (begin === line.length || end.index === start) return false;
  const next = String.fromCodePoint(line.codePointAt(begin));
  if (isLower(next) && (closing || marks.length > 1 || "…‥".includes(marks))) return false;
  if (marks !== ".") return true;
  const low = Math.max(start, end.index - LONGEST_ABBREVIATION);
  const looked = line.slice(low, end.index);
  const space = looked.lastIndexOf(" ");
  const last = looked.slice(space + 1);
  if (space >= 0 && last.length > 1 && /^\p{L}+$/u.test(last) && !SHORT.has(last.toLowerCase())) return true;
  const word = looked.match(LAST_WORD)[0];
  if (low === start && ITEM.test(word) && line.slice(start, end.index).replace(/^\(+/, "") === word) return false;
  return !isAbbreviation(word, line, begin, next);
}

function isAbbreviation(word, line, begin, next) {
  const lower = word.toLowerCase();
  if (TITLES.has(lower) || TITLES_WITH_CAPITAL.has(word)) return true;
  if (BEFORE_NUMBERS.has(lower)) return /\p{Nd}/u.test(next);
  if (TIMES.has(lower)) return !isUpper(next);
  const initial = [...word].length === 1 && isUpper(word) && word !== "I";
  if (initial || ANYWHERE.has(lower) || LETTERS.test(word)) {
    return isLower(next) || !OPENERS.has(matchAt(NEXT_WORD, line, begin).toLowerCase());
  }
  return false;
}
