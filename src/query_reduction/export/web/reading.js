// What people write, as the network can read it, as query_reduction.reading.reading does it.
const UNKNOWN_SHARE = 0.25;
const SPREAD = 3;
const MOST_UNKNOWN = 0.75;
const MOST_LISTED = 10;

class Reader {
  constructor(model) {
    this.vocabulary = new Vocabulary(model.vocabulary);
    this.names = model.symmetries ? new NameReaders(model.symmetries, model.vocabulary.words) : null;
    this.memory = model.memory;
    this.usual = UNKNOWN_SHARE + SPREAD * model.unseen_share;
    this.pairs = model.pairs && new Set(model.pairs.flatMap(([first, ...following]) => following.map((next) => `${first} ${next}`)));
  }

  understand(story, question) {
    let unknown = this.vocabulary.unknownWords([...story, question]);
    let named = unknown.length && this.names ? this.names.read(story, question) : null;
    const everyPlace = story.map((_, place) => place);
    let texts = new Map((named ? named.sentences : story).map((text, place) => [place, text]));
    let kept = everyPlace.filter((place) => this.readable(texts.get(place), named ? named.crowded : []));
    if (named && kept.length < story.length) {
      named = this.names.read(kept.map((place) => story[place]), question);
      texts = new Map(kept.map((place, number) => [place, named.sentences[number]]));
    }
    if (named) kept = kept.filter((place) => this.readable(texts.get(place)));
    const guess = story.length > 0 && !kept.length;
    if (guess) {
      [kept, texts, named] = [everyPlace, new Map(story.entries()), null];
    }
    if (named) {
      const placed = new Set([...named.names.values()].flatMap((name) => [name, ...name.split(" ")]).map((word) => word.toLowerCase()));
      unknown = unknown.filter((word) => !placed.has(word.toLowerCase()));
    }
    const skipped = this.memory ? Math.max(0, kept.length - this.memory) : 0;
    const asked = named ? named.question : question;
    const untold = this.untold(named, kept.slice(skipped).map((place) => texts.get(place)));
    if (!guess) untold.push(...this.unknownPronouns(asked, PERSONAL));
    const leftOut = everyPlace.filter((place) => !kept.includes(place));
    const positions = kept.slice(skipped);
    return {
      story,
      positions,
      leftOut,
      sentences: positions.map((place) => texts.get(place)),
      question: asked,
      unknown,
      nameBack: (answer) => answer.split(",").map((part) => named?.names.get(strip(part).toLowerCase()) ?? part).join(","),
      notes: this.notes(named, unknown, leftOut, untold, guess, kept.length, skipped),
    };
  }

  readable(text, crowded = []) {
    const numbers = this.vocabulary.numbers(text);
    let unknown = numbers.filter((number) => number === UNKNOWN).length;
    let named = 0;
    const words = new Set(crowded.flatMap((name) => name.split(" ")));
    if (unknown && words.size) {
      named = this.vocabulary.unknownWords([text]).filter((word) => words.has(word.toLowerCase())).length;
      unknown -= named;
    }
    if (unknown >= MOST_UNKNOWN * numbers.length || unknown > Math.max(1, this.usual * numbers.length)) return false;
    if (this.pairs && !named && !this.inKnownOrder(numbers)) return false;
    return !unknown || this.unknownPronouns(text, new Set([...PERSONAL, ...POSSESSIVE])).every((word) => words.has(word));
  }

  unknownPronouns(text, among) {
    const found = pronouns(text).map(({ word }) => word).filter((word) => among.has(word));
    const unknown = found.length ? this.vocabulary.unknownWords([text]) : [];
    const parts = new Set(unknown.flatMap((word) => word.toLowerCase().replaceAll("’", "'").split("'"))); // she's
    return [...new Set(found)].filter((word) => parts.has(word));
  }

  inKnownOrder(numbers) {
    const known = [0, ...numbers.filter((number) => number !== UNKNOWN), 0];
    return known.slice(1).every((next, place) => this.pairs.has(`${known[place]} ${next}`));
  }

  like(known) {
    const name = isUpper(known) || this.vocabulary.answerNumber(known) >= 0;
    return `a ${name ? "name" : "word"} like ${known}`;
  }

  untold(named, sentences) {
    const has = (text, unit) => ` ${splitWords(text.toLowerCase(), "words").join(" ")} `.includes(` ${unit} `);
    const told = sentences.join("\n");
    const asked = [...(named?.names ?? [])].filter(([unit]) => has(named.question, unit));
    return asked.filter(([unit]) => !has(told, unit)).map(([, name]) => name);
  }

  notes(named, unknown, leftOut, untold, guess, readable, skipped) {
    const lines = [...(named?.names ?? [])].map(([unit, name]) => `${name} read as ${this.like(this.names.written.get(unit) ?? unit)}`);
    const more = unknown.length - MOST_LISTED;
    if (unknown.length) {
      lines.push(`unknown words, ignored: ${unknown.slice(0, MOST_LISTED).join(", ")}${more > 0 ? ` and ${more} more` : ""}`);
    }
    if (leftOut.length === 1) lines.push("1 sentence could not be read and was left out");
    if (leftOut.length > 1) lines.push(`${leftOut.length} sentences could not be read and were left out`);
    lines.push(...untold.map((name) => `${name} is in no sentence that was read: the answer is a guess`));
    if (guess) lines.push("no sentence could be read: the answer is a guess");
    if (skipped) {
      const which = leftOut.length ? "readable sentences" : "sentences";
      lines.push(`read the last ${readable - skipped} of ${readable} ${which}: the model was trained to read no more`);
    }
    return lines;
  }
}
