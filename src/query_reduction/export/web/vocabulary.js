// Words and answers as numbers, as query_reduction.text.vocabulary does it.
const UNKNOWN = 1;
const FIRST = 2;
const INNER = `(?:['\\-‐‑](?=${WORD})|(?<=\\p{Nd})[.,:](?=\\p{Nd}))`;
const LETTER = "[\\p{L}\\p{N}_\\p{M}\\u200c\\u200d]";
const SIGN = "[\\p{Sc}\\p{Sm}\\p{So}\\u{1f000}-\\u{1faff}%‰&@#§][\\p{M}\\u{1f3fb}-\\u{1f3ff}]*";
const SIGNS = new RegExp(`${SIGN}(?:\\u200d${SIGN})*`, "gu");
// Scripts written without spaces: each character is a word.
const UNSPACED = "[\\u3040-\\u309f\\u3400-\\u4dbf\\u4e00-\\u9fff\\uf900-\\ufaff\\u{20000}-\\u{3fffd}]";
const PLAIN_WORDS = new RegExp(`(?:(?!${UNSPACED})${WORD})+|${UNSPACED}`, "gu");
const SPACED = `(?!${UNSPACED})${LETTER}`;
const TEXT_WORDS = new RegExp(
  `(?!${UNSPACED})${WORD}(?:${SPACED})*(?:${INNER}(?:${SPACED})+)*|${UNSPACED}(?:(?!${WORD})${LETTER})*|${SIGNS.source}`, "gu");

const NAME_WORDS = new RegExp(`(?!(?<=${WORD}['’])[sS](?!${WORD}))(?<!${WORD})${WORD}+`, "gu");
const POSSESSIVE_ENDING = /(?<=.)['’][sS]$/su;
const MANY_MARKS = /(\P{M}?\p{M}{30})/u;
const LONG = 1000;

// Sorting the marks of a letter takes time by the square of their number: of a long text thirty at a time are sorted.
const compose = (text) => (text.length <= LONG ? text.normalize("NFC")
  : text.split(MANY_MARKS).map((piece) => piece.normalize("NFC")).join(""));
const withoutPossessive = (word) => word.replace(POSSESSIVE_ENDING, "");
// Upper, then lower case is what Python's casefold gives, except for the dotless i.
const foldLetter = (letter) => (letter === "ı" ? letter : letter.toUpperCase().toLowerCase());
const fold = (word) => compose([...word].map(foldLetter).join(""));

function splitWords(text, tokens) {
  if (tokens === "words") return text.match(PLAIN_WORDS) ?? [];
  return compose(text).replaceAll("’", "'").match(TEXT_WORDS) ?? [];
}

// Words that stand for whoever was named before, as query_reduction.text.pronouns finds them.
const PERSONAL = wordsIn("he him it she them they");
const POSSESSIVE = wordsIn("her his its their");
const RELATIVE = wordsIn("which who whom whose");

function pronouns(text) {
  const shouted = text === text.toUpperCase() && text !== text.toLowerCase();
  return [...text.matchAll(NAME_WORDS)]
    .map(({ 0: written, index }, number) => ({ written, word: written.toLowerCase(), index, end: index + written.length, number }))
    .filter(({ word }) => PERSONAL.has(word) || POSSESSIVE.has(word) || RELATIVE.has(word))
    .filter(({ written, word, number }) => number === 0 || written === word || shouted);
}

class Vocabulary {
  constructor(known) {
    Object.assign(this, known); // words, answers, longest_sentence, tokens, fold_case, phrases
    const folded = (texts, first) => new Map(known.fold_case ? texts.map((text, n) => [fold(text), n + first]) : []);
    this.numberOf = new Map(known.words.map((word, number) => [word, number + FIRST]));
    this.numberOfFolded = folded(known.words, FIRST);
    this.answerOf = new Map(known.answers.map((answer, number) => [answer, number]));
    this.answerOfFolded = folded(known.answers, 0);
    this.longestFirst = [...known.phrases].sort((one, other) => other.length - one.length);
  }

  asWritten(word) {
    return this.numberOf.get(word) ?? this.numberOfFolded.get(this.fold_case ? fold(word) : word) ?? UNKNOWN;
  }

  number(word) {
    const found = this.asWritten(word);
    return found === UNKNOWN && this.tokens === "text" ? this.asWritten(withoutPossessive(word)) : found;
  }

  answerNumber(answer) {
    const found = this.answerOf.get(answer) ?? this.answerOf.get(compose(answer));
    return found ?? this.answerOfFolded.get(fold(compose(answer))) ?? -1;
  }

  joined(words) {
    if (!this.phrases.length) return words;
    const lower = words.map((word) => word.toLowerCase());
    const found = [];
    for (let start = 0; start < words.length;) {
      const phrase = this.longestFirst.find((one) => one.every((word, n) => word === lower[start + n]));
      const length = phrase ? phrase.length : 1;
      found.push(words.slice(start, start + length).join(" "));
      start += length;
    }
    return found;
  }

  split(text) {
    const words = this.joined(splitWords(text, this.tokens));
    const composed = compose(text);
    if (this.tokens === "text" || composed === text) return words;
    const other = this.joined(splitWords(composed, this.tokens));
    const unknown = (list) => list.filter((word) => this.number(word) === UNKNOWN).length;
    return unknown(other) < unknown(words) ? other : words;
  }

  // A text with its words and their numbers, as query_reduction.text.vocabulary.Sentence has them.
  sentence(text) {
    const words = this.split(text);
    const ids = words.map((word) => this.number(word));
    const signs = this.tokens === "words" ? text.match(SIGNS) ?? [] : [];
    return { text, words, ids, unknown: [...new Set([...words.filter((_, place) => ids[place] === UNKNOWN), ...signs])] };
  }
}
