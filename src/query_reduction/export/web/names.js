// Names never heard, read as known names of their kind, as query_reduction.names.unknown does it.
const OTHER = "@?";
const GAP = "@_";
const MOST_VARIED = 3;
const LONGEST_NAME = 12;
const DECIMAL = /\p{Nd}/u;
const plainUnit = (unit) => unit.split("#")[0];
const isPlaced = ({ runs }) => runs.every((run) => run.kinds.size);

class Units {
  constructor(phrases, columns) {
    this.longestFirst = [...phrases].sort((one, other) => other.length - one.length);
    this.columns = new Map(Object.entries(columns).map(([unit, places]) => [
      unit, new Map(places.map(([kind, left, right, column]) => [`${kind}\0${left}\0${right}`, column]))]));
  }

  lengths(words) {
    const lengths = [];
    for (let start = 0; start < words.length; start += lengths.at(-1)) {
      const phrase = this.longestFirst.find((one) => one.every((word, n) => word === words[start + n]));
      lengths.push(phrase ? phrase.length : 1);
    }
    return lengths;
  }

  ofWords(words, kind) {
    let start = 0;
    const units = this.lengths(words).map((length) => words.slice(start, start += length).join(" "));
    return units.map((unit, place) => {
      const places = this.columns.get(unit);
      const column = places?.get(`${kind}\0${units[place - 1] ?? ""}\0${units[place + 1] ?? ""}`) ?? 0;
      return column ? `${unit}#${column + 1}` : unit;
    });
  }
}

class NameReader {
  constructor(found, words) {
    this.kinds = found.lending;
    this.written = new Map(Object.entries(found.written));
    this.units = new Units(found.phrases.map((phrase) => phrase.split(" ")), found.columns);
    this.known = new Set(words.filter((word) => !word.includes(" ")).flatMap((word) => word.toLowerCase().match(NAME_WORDS) ?? []));
    this.wordsOfKind = found.fillers.map((kind) => new Set(kind.flatMap((unit) => plainUnit(unit).match(NAME_WORDS) ?? [])));
    this.kindOf = new Map(found.fillers.flatMap((kind, number) => kind.map((unit) => [unit, number])));
    this.contexts = new Map();
    for (const [context, kinds] of Object.entries(found.contexts)) {
      const parts = context.split(" ");
      this.contexts.set(parts.length, [...(this.contexts.get(parts.length) ?? []), [parts, kinds]]);
    }
    const before = [...this.contexts.values()].flat().map(([parts]) => parts[parts.indexOf(GAP) - 1]);
    this.articles = [...new Set(before)].filter((word) => !word.startsWith("@")).sort();
  }

  read(sentences, question) {
    const texts = this.withNamesApart([...sentences.map((text) => this.apart(text, "sentence")), this.apart(question, "question")]);
    const fitting = new Map();
    const written = new Map();
    const used = new Set();
    for (const { text, units, runs } of [...texts].reverse()) {
      units.forEach((unit) => used.add(unit));
      for (const run of [...runs].reverse()) {
        written.set(run.name, text.slice(run.start, run.end));
        const fits = fitting.get(run.name) ?? null;
        fitting.set(run.name, run.kinds.size === 0 ? fits : fits === null ? run.kinds
          : new Set([...fits].filter((kind) => run.kinds.has(kind))));
      }
    }
    const chosen = new Map();
    const crowded = [];
    for (const [name, fits] of fitting) {
      const [kind] = fits ?? [];
      if (fits === null || fits.size !== 1 || kind >= this.kinds.length) continue;
      const free = this.kinds[kind].find((unit) => !used.has(unit));
      if (free === undefined) crowded.push(name);
      else {
        chosen.set(name, free);
        used.add(free);
      }
    }
    const replaced = texts.map((one) => replaceRuns(one, chosen));
    const names = new Map([...chosen].reverse().map(([name, unit]) => [plainUnit(unit), written.get(name)]));
    const unplaced = [...fitting.keys()].filter((name) => !chosen.has(name)).length;
    const strange = texts.filter(({ runs }) => runs.some((run) => !run.kinds.size || run.article || run.covered !== run.start)).length;
    return { sentences: replaced.slice(0, -1), question: replaced.at(-1), names, crowded, unplaced, strange };
  }

  // "Zoë walked" and "Then Zoë" are no names if Zoë has a place elsewhere.
  withNamesApart(texts) {
    const names = new Set(texts.flatMap(({ runs }) => runs.filter((run) => run.kinds.size).map((run) => run.name)));
    const inside = new Set(texts.flatMap(({ runs }) => runs.filter((run) => !run.opens).map((run) => run.name)));
    return texts.map((apart, number) => {
      const [ended, openers] = [[], []];
      for (const run of apart.runs) {
        const words = run.name.split(" ");
        for (let length = 1; length < words.length && words.length <= LONGEST_NAME; length++) {
          const [first, rest] = [words.slice(0, length).join(" "), words.slice(length).join(" ")];
          if (names.has(first) && endsAfter(apart.text, run, length)) ended.push(first);
          else if (names.has(rest) && !inside.has(run.name)) openers.push(first);
        }
      }
      const kind = number === texts.length - 1 ? "question" : "sentence";
      return ended.length || openers.length ? this.apart(apart.text, kind, ended, openers) : apart;
    });
  }

  apart(given, kind, ended = [], openers = []) {
    const text = compose(given);
    const runs = this.unknownRuns(text, new Set([...ended, ...openers]));
    const apart = this.inSomeWay(text, kind, runs, 0);
    const opener = runs.length > 0 && openers.includes(runs[0].name);
    // "Then Mary went to pier 4": what comes before a sentence does not change the places of its names.
    if (opener || (runs.length > 1 && !isPlaced(apart) && runs[0].opens && !ended.includes(runs[0].name))) {
      const rest = this.inSomeWay(text, kind, runs.slice(1), runs[0].end);
      if (opener || isPlaced(rest)) return { ...rest, runs: [{ ...runs[0], kinds: new Set() }, ...rest.runs] };
    }
    return apart;
  }

  inSomeWay(text, kind, runs, after) {
    const units = [];
    const places = [];
    let done = after;
    for (const run of runs) {
      units.push(...this.units.ofWords(wordsBetween(text, done, run.start), kind));
      places.push(units.length);
      units.push(OTHER);
      done = run.end;
    }
    units.push(...this.units.ofWords(wordsBetween(text, done, text.length), kind));
    let first = null;
    for (const way of this.ways(text, units, places, runs)) {
      const apart = this.placed(text, units, new Map(way.map((run, number) => [places[number], run])), kind);
      if (isPlaced(apart)) return apart;
      first ??= apart;
    }
    return first;
  }

  // How the unknown names of a text can be taken: as they stand first, then with as few changes as possible.
  * ways(text, units, places, runs) {
    yield runs;
    if (!runs.length || runs.length > MOST_VARIED) return;
    let ways = [[]];
    runs.forEach((run, number) => {
      const each = this.taken(text, units[places[number] - 1] ?? "", run);
      ways = ways.flatMap((way) => each.map((one) => [...way, one]));
    });
    const changes = (way) => way.filter((run) => run.withUnitBefore || run.article).length;
    yield* ways.slice(1).sort((one, other) => changes(one) - changes(other));
  }

  taken(text, before, run) {
    const ways = [run];
    const match = [...text.slice(0, run.start).matchAll(NAME_WORDS)].at(-1);
    if (this.articles.includes(before) && match) ways.push({ ...run, covered: match.index, withUnitBefore: true });
    const capital = isUpper(text.slice(run.start));
    const [initial] = run.name;
    const ownName = DECIMAL.test(initial) || (capital && match && isUpper(match[0]));
    if (this.kindOf.has(before) && match && match[0].toLowerCase() === before && ownName) {
      ways.push({ ...run, name: `${before} ${run.name}`, start: match.index, covered: match.index, withUnitBefore: true });
    }
    if (capital || DECIMAL.test(run.name)) {
      ways.push(...this.articles.filter((word) => word !== before).map((word) => ({ ...run, article: word })));
    }
    return ways;
  }

  placed(text, units, taken, kind) {
    const kept = units.map((_, place) => place).filter((place) => !taken.get(place + 1)?.withUnitBefore);
    const pattern = [`@${kind}`];
    const gaps = [];
    for (const place of kept) {
      if (taken.get(place)?.article) pattern.push(taken.get(place).article);
      if (taken.has(place)) gaps.push(pattern.length);
      pattern.push(this.kindOf.has(units[place]) ? `@${this.kindOf.get(units[place])}` : units[place]);
    }
    const fits = this.contexts.has(pattern.join(" ").split(" ").length); // most foreign sentences have another length
    const standing = fits ? pronouns(text) : [];
    const runs = [...taken.values()].map((run, number) => {
      if (!fits) return { ...run, kinds: new Set() };
      const gap = gaps[number];
      const fitting = this.fitting([...pattern.slice(0, gap), GAP, ...pattern.slice(gap + 1)]);
      return { ...run, kinds: this.withPronouns(run, standing, fitting) };
    });
    return { text, units: kept.map((place) => units[place]), runs };
  }

  // Of a name with a pronoun, the kinds that have it: "Later they" may be "then they". "Her cat" is a name.
  withPronouns(run, standing, kinds) {
    const within = standing.filter(({ index }) => run.start <= index && index < run.end);
    const [first] = within;
    if (first?.index === run.start && first.end < run.end && POSSESSIVE.has(first.word)) within.shift();
    return new Set([...kinds].filter((kind) => within.every(({ word }) => this.wordsOfKind[kind].has(word))));
  }

  unknownRuns(text, cut) {
    const matches = [...text.matchAll(NAME_WORDS)];
    const words = matches.map((match) => match[0].toLowerCase());
    const spans = [];
    const isCut = ([first, end]) => cut.size > 0 && end - first <= LONGEST_NAME && cut.has(words.slice(first, end).join(" "));
    let lastKnown = true;
    let start = 0;
    for (const length of this.units.lengths(words)) {
      const known = length > 1 || this.known.has(words[start]) || this.kindOf.has(words[start]);
      if (!known && (lastKnown || isCut(spans.at(-1)))) spans.push([start, start + 1]);
      else if (!known) spans.at(-1)[1] = start + 1;
      lastKnown = known;
      start += length;
    }
    return spans.map(([first, end]) => {
      const [begin, last] = [matches[first].index, matches[end - 1]];
      return { name: words.slice(first, end).join(" "), start: begin, covered: begin, end: last.index + last[0].length, opens: first === 0 };
    });
  }

  fitting(pattern) {
    const words = pattern.join(" ").split(" ");
    const fits = (context) => context.every((theirs, n) => words[n] === theirs || (words[n] === OTHER && /^@\d+$/.test(theirs)));
    return new Set((this.contexts.get(words.length) ?? []).filter(([context]) => fits(context)).flatMap(([, kinds]) => kinds));
  }
}

// By the symmetries of the task in which most unknown names have a place.
class NameReaders {
  constructor(ofTasks, words) {
    this.readers = ofTasks.map((found) => new NameReader(found, words));
    this.written = new Map(ofTasks.flatMap((found) => Object.entries(found.written)));
  }

  read(sentences, question) {
    const readings = this.readers.map((reader) => reader.read(sentences, question));
    const worse = (one, other) => one.unplaced - other.unplaced || one.strange - other.strange;
    return readings.reduce((best, other) => (worse(best, other) > 0 ? other : best));
  }
}

// The ending of "Zoë's" is no word wherever the text is cut.
function wordsBetween(text, start, end) {
  const words = [];
  NAME_WORDS.lastIndex = start;
  for (let match = NAME_WORDS.exec(text); match && match.index < end; match = NAME_WORDS.exec(text)) words.push(match[0].toLowerCase());
  return words;
}

// A name may end before "walked" in "Zoë walked" or before "then", but not within "Zoë Washburne" or "Zoë's cat".
function endsAfter(text, run, length) {
  const words = [...text.slice(run.start, run.end).matchAll(NAME_WORDS)];
  const last = words[length - 1];
  if (/^['’][sS]/u.test(text.slice(run.start + last.index + last[0].length))) return false;
  return !run.kinds.size || (isUpper(words[0][0]) && isLower(words[length][0]));
}

function replaceRuns({ text, runs }, chosen) {
  let replaced = "";
  let done = 0;
  for (const run of runs.filter(({ name }) => chosen.has(name))) {
    const [first, ...rest] = plainUnit(chosen.get(run.name));
    const capital = isUpper(text.slice(run.covered));
    replaced += text.slice(done, run.covered) + (run.article ? `${run.article} ` : "") + (capital ? first.toUpperCase() : first) + rest.join("");
    done = run.end;
  }
  return replaced + text.slice(done);
}
