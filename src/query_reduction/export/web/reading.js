// What people write, as the network can read it, as query_reduction.reading.reading does it.
const UNKNOWN_SHARE = 0.25;
const SPREAD = 3;
const MOST_UNKNOWN = 0.75;
const MOST_LISTED = 10;
const MOST_WORDS = 2000;
const NO_NAMES = new Set();
const nameOf = (word) => withoutPossessive(word).toLowerCase();
const wordsOf = (name) => name.split(" ");

class Reader {
  constructor(model) {
    this.vocabulary = new Vocabulary(model.vocabulary);
    this.readsAll = model.reads_all;
    this.names = model.symmetries ? new NameReaders(model.symmetries, model.vocabulary.words) : null;
    this.memory = model.memory;
    this.usual = UNKNOWN_SHARE + SPREAD * model.unseen_share;
    this.pairs = model.pairs && new Set(model.pairs.flatMap(([first, ...following]) => following.map((next) => `${first} ${next}`)));
  }

  // A story and a question as they are read: the same value as query_reduction.reading.question.ReadQuestion.
  read(story, question) {
    const sentence = (text) => this.vocabulary.sentence(text);
    const [written, asked] = [story.map(sentence), sentence(question)];
    const every = story.map((_, place) => place);
    if (this.readsAll) return this.asRead(story, question, written, asked, every, null, null, false);
    const unknown = [...new Set([...written, asked].flatMap((one) => one.unknown))];
    let named = unknown.length && this.names ? this.names.read(story, question) : null;
    let known = new Map((named ? named.sentences.map(sentence) : written).map((one, place) => [place, one]));
    const taken = new Set((named ? named.crowded : []).flatMap(wordsOf));
    let kept = every.filter((place) => this.readable(known.get(place), taken));
    if (named && kept.length < story.length) {
      named = this.names.read(kept.map((place) => story[place]), question);
      known = new Map(kept.map((place, number) => [place, sentence(named.sentences[number])]));
    }
    if (named) kept = kept.filter((place) => this.readable(known.get(place)));
    if (story.length && !kept.length) return this.asRead(story, question, written, asked, every, unknown, null, true);
    const placed = new Set([...(named?.names.values() ?? [])].flatMap((name) => [name, ...wordsOf(name)]).map(nameOf));
    const left = unknown.filter((word) => !placed.has(nameOf(word)));
    return this.asRead(story, question, kept.map((place) => known.get(place)), named ? sentence(named.question) : asked, kept, left, named, false);
  }

  // Without unknown words the story is read as it is written, and only the question's words are named.
  asRead(story, question, sentences, asked, kept, unknown, named, isGuess) {
    const beyond = this.memory ? Math.max(0, sentences.length - this.memory) : 0;
    const unmentioned = unknown === null || isGuess ? []
      : [...this.unmentioned(named, sentences.slice(beyond)), ...this.unknownPronouns(asked, PERSONAL)];
    const isKept = new Set(kept);
    const read = {
      story,
      question,
      sentence_count: story.length,
      sentences: sentences.slice(beyond),
      asked,
      positions: kept.slice(beyond),
      beyond_memory: beyond,
      omitted: story.map((_, place) => place).filter((place) => !isKept.has(place)),
      substituted: [...(named?.names ?? [])].map(([unit, name]) => [name, this.like(this.names.written.get(unit) ?? unit)]),
      unknown_words: unknown ?? asked.unknown,
      unmentioned,
      is_guess: isGuess,
      nameBack: (answer) => answer.split(",").map((part) => named?.names.get(strip(part).toLowerCase()) ?? part).join(","),
    };
    return { ...read, notes: notesOf(read) };
  }

  readable({ ids, unknown: words, text }, names = NO_NAMES) {
    if (ids.length > MOST_WORDS) return false;
    let unknown = ids.filter((id) => id === UNKNOWN).length;
    const named = unknown && names.size ? words.filter((word) => names.has(nameOf(word))).length : 0;
    unknown -= named;
    if (unknown >= MOST_UNKNOWN * ids.length || unknown > Math.max(1, this.usual * ids.length)) return false;
    if (this.pairs && !named && !this.inKnownOrder(ids)) return false;
    return !unknown || this.unknownPronouns({ text, unknown: words }, new Set([...PERSONAL, ...POSSESSIVE])).every((word) => names.has(word));
  }

  unknownPronouns({ text, unknown }, among) {
    const parts = new Set(unknown.flatMap((word) => word.toLowerCase().replaceAll("’", "'").split("'"))); // she's
    const standing = new Set(parts.size ? pronouns(text).map(({ word }) => word) : []);
    return [...standing].filter((word) => among.has(word) && parts.has(word));
  }

  inKnownOrder(ids) {
    const known = [0, ...ids.filter((id) => id !== UNKNOWN), 0];
    return known.slice(1).every((next, place) => this.pairs.has(`${known[place]} ${next}`));
  }

  like(known) {
    const name = isUpper(known) || this.vocabulary.answerNumber(known) >= 0;
    return `a ${name ? "name" : "word"} like ${known}`;
  }

  unmentioned(named, sentences) {
    const has = (text, unit) => ` ${splitWords(text.toLowerCase(), "words").join(" ")} `.includes(` ${unit} `);
    const told = sentences.map(({ text }) => text).join("\n");
    const asked = [...(named?.names ?? [])].filter(([unit]) => has(named.question, unit));
    return asked.filter(([unit]) => !has(told, unit)).map(([, name]) => name);
  }
}

function notesOf({ substituted, unknown_words: unknown, omitted, unmentioned, is_guess: isGuess, sentence_count: count, beyond_memory: beyond }) {
  const lines = substituted.map(([name, known]) => `${name} read as ${known}`);
  const more = unknown.length - MOST_LISTED;
  if (unknown.length) {
    lines.push(`unknown words, ignored: ${unknown.slice(0, MOST_LISTED).join(", ")}${more > 0 ? ` and ${more} more` : ""}`);
  }
  if (omitted.length === 1) lines.push("1 sentence could not be read and was left out");
  if (omitted.length > 1) lines.push(`${omitted.length} sentences could not be read and were left out`);
  lines.push(...unmentioned.map((name) => `${name} is in no sentence that was read: the answer is a guess`));
  if (isGuess) lines.push("no sentence could be read: the answer is a guess");
  if (beyond) {
    const readable = count - omitted.length;
    lines.push(`read the last ${readable - beyond} of ${readable} ${omitted.length ? "readable sentences" : "sentences"}: the model was trained to read no more`);
  }
  return lines;
}
