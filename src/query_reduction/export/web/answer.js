// The model of this page: a story and a question in; out comes the JSON that Trace.as_json gives in Python.
const model = JSON.parse(document.getElementById("model").textContent);
const reader = new Reader(model);
const network = new Network(model.network, model.vocabulary.longest_sentence, model.weights);
const SHOWN = 4;

function answer(story, question) {
  const sentences = (typeof story === "string" ? [story] : story).flatMap(splitSentences);
  const { nameBack, sentences: read, asked, ...about } = reader.read(sentences, question);
  const record = network.read(read.map(({ ids }) => ids), asked.ids);
  const best = model.vocabulary.answers
    .map((text, number) => ({ answer: nameBack(text), probability: record.probabilities[number] }))
    .sort((one, other) => other.probability - one.probability)
    .slice(0, SHOWN);
  const ranked = calibrated(model.calibration, best, about, asked);
  const doubts = doubtsOf(model.calibration, ranked[0].probability, about, asked);
  const total = record.contributions.reduce((sum, value) => sum + value, 0) || 1;
  return {
    answer: ranked[0].answer,
    confidence: ranked[0].probability,
    declined: doubts.length > 0,
    doubts,
    runners_up: ranked.slice(1),
    ranked,
    ...about,
    sentences: about.positions.map((place) => sentences[place]),
    words: read.map(({ words }) => words),
    shares: record.contributions.map((value) => value / total),
    layers: record.layers.map(({ update, forward, backward }) => ({
      gates: { update: update.map(mean), reset_forward: forward?.map(mean), reset_backward: backward?.map(mean) },
    })),
  };
}

window.qrn = { answer };
