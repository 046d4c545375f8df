// Prose as sentences, by the rules of query_reduction.text.sentences; what Python calls white space, letters and case.
const SPACE = "\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const WORD = "[\\p{L}\\p{N}_]";
const IS_SPACE = new RegExp(`[${SPACE}]`, "u");
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
const MARKS = new Set(["", ...".!?…‥؟。！？｡।॥۔"]);
const CLOSING = new Set("」』）】〕\"'“”‘’»›)]}");
const ANY_SPACE = new RegExp(`[${SPACE}]+`, "u");
const ITEM_LINE = new RegExp(`^(?:[-*•–—]|\\(?(?:\\p{Nd}{1,3}|[a-zA-Z])[.)])[${SPACE}]`, "u");

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

// A regular expression would look at every run of spaces again and again.
function strip(text) {
  let [start, end] = [0, text.length];
  while (start < end && IS_SPACE.test(text[start])) start += 1;
  while (end > start && IS_SPACE.test(text[end - 1])) end -= 1;
  return text.slice(start, end);
}
const isLower = (letter) => /^\p{Lowercase}/u.test(letter);
const isUpper = (letter) => /^\p{Uppercase}/u.test(letter);

function matchAt(pattern, text, at) {
  pattern.lastIndex = at;
  return pattern.exec(text)[0];
}

function splitSentences(text) {
  return unwrapped(text.split(LINE_END).map(strip)).flatMap(sentencesOfLine);
}

// The lines of wrapped prose are joined where a sentence goes on in the next one; lines without marks are a list.
function unwrapped(lines) {
  const joined = [];
  let paragraph = [];
  for (const line of [...lines, ""]) {
    if (line) paragraph.push(line);
    else {
      joined.push(...(paragraph.slice(0, -1).every(isEnded) ? paragraph : withoutBreaks(paragraph)));
      paragraph = [];
    }
  }
  return joined;
}

function withoutBreaks(lines) {
  const parts = lines.map(sentencesOfLine);
  const isOpen = lines.map((line) => !isEnded(line));
  const lastEnd = lines.findLastIndex((_, place) => parts[place].length > 1 || !isOpen[place]);
  let capital = isUpper(lines[0]);
  const goesOn = (place) => isOpen[place] && (parts[place].length > 1 || (capital && isLower(lines[place + 1])));
  const wrapped = isFilled(lines) && lines.some((_, place) => place < lastEnd && goesOn(place));
  const joined = [];
  lines.forEach((line, place) => {
    const may = place > 0 && place <= lastEnd && isOpen[place - 1] && !ITEM_LINE.test(line);
    if (may && (wrapped || (capital && isLower(line)))) joined.at(-1).push(line);
    else {
      joined.push([line]);
      capital = isUpper(line);
    }
    if (parts[place].length > 1) capital = isUpper(parts[place].at(-1));
  });
  return joined.map((pieces) => pieces.join(" "));
}

// Whether no line had room for the first word of the next one: so an editor wraps a paragraph.
function isFilled(lines) {
  const lengths = lines.map((line) => [...line].length);
  const width = lengths.reduce((most, length) => Math.max(most, length), 0);
  return lines.slice(1).every((line, place) => lengths[place] + 1 + [...line.split(ANY_SPACE, 1)[0]].length > width);
}

function isEnded(line) {
  if (line.endsWith(".")) {
    const last = line.slice(-LONGEST_ABBREVIATION, -1).split(" ").at(-1);
    return !TITLES.has(last.toLowerCase()) && !TITLES_WITH_CAPITAL.has(last);
  }
  let end = line.length;
  while (end && CLOSING.has(line[end - 1])) end -= 1;
  return MARKS.has(line.slice(0, end).at(-1) ?? "");
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
