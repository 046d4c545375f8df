// What the network's probabilities are worth: reading/calibration.py.
const FURTHEST = 12;
const LISTED = 5;

function logOdds(probability) {
  const inside = Math.min(Math.max(probability, 1e-12), 1 - 1e-12);
  return Math.min(Math.max(Math.log(inside) - Math.log1p(-inside), -FURTHEST), FURTHEST);
}

// The omitted sentences that may matter: ReadQuestion.missed.
function missedOf(read) {
  const words = (text) => text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
  const telling = new Set([...words(read.question), ...PERSONAL]);
  return read.omitted.filter((place) => words(read.story[place]).some((word) => telling.has(word)));
}

function confidenceOf(calibration, probability, read, asked) {
  let confidence = probability;
  if (calibration.questions) {
    confidence = 1 / (1 + Math.exp(-(calibration.slope * logOdds(probability) + calibration.offset)));
  }
  const missed = missedOf(read).length / Math.max(read.sentence_count, 1);
  confidence *= (1 - missed) ** calibration.matters * calibration.ignored ** asked.unknown.length;
  return read.unmentioned.length || read.is_guess ? Math.min(confidence, calibration.threshold / 2) : confidence;
}

function calibrated(calibration, ranked, read, asked) {
  const [{ answer, probability }, ...others] = ranked;
  const confidence = confidenceOf(calibration, probability, read, asked);
  const left = Math.min(1, (1 - confidence) / Math.max(1 - probability, 1e-12));
  return [{ answer, probability: confidence },
    ...others.map((other) => ({ answer: other.answer, probability: Math.min(other.probability * left, confidence) }))];
}

function doubtsOf(calibration, confidence, read, asked) {
  if (confidence >= calibration.threshold) return [];
  const reasons = read.unmentioned.map((name) => `no sentence that was read mentions ${name}`);
  if (read.is_guess) reasons.push("no sentence could be read");
  if (asked.unknown.length) reasons.push(`the question has unknown words: ${asked.unknown.slice(0, LISTED).join(", ")}`);
  reasons.push(...missedOf(read).slice(0, LISTED).map((place) => `sentence ${place + 1} could not be read: ${read.story[place]}`));
  return reasons.length ? reasons : ["the model is not sure"];
}
