// The model of this page: a story and a question in, an answer and how it was read out.
const model = JSON.parse(document.getElementById("model").textContent);
const reader = new Reader(model);
const network = new Network(model.network, model.vocabulary.longest_sentence, model.weights);
const SHOWN = 4;

function answer(story, question) {
  const sentences = (typeof story === "string" ? [story] : story).flatMap(splitSentences);
  const understood = reader.understand(sentences, question);
  const numbers = (text) => reader.vocabulary.numbers(text);
  const read = network.read(understood.sentences.map(numbers), numbers(understood.question));
  const ranked = model.vocabulary.answers
    .map((text, number) => ({ text: understood.nameBack(text), probability: read.probabilities[number] }))
    .sort((one, other) => other.probability - one.probability);
  const total = read.contributions.reduce((sum, value) => sum + value, 0) || 1;
  return {
    text: ranked[0].text,
    confidence: ranked[0].probability,
    ranked: ranked.slice(0, SHOWN),
    story: understood.story,
    positions: understood.positions,
    leftOut: understood.leftOut,
    unknownWords: understood.unknown,
    notes: understood.notes,
    shares: read.contributions.map((value) => value / total),
    layers: read.layers.map(({ update, forward, backward }) => ({
      update: update.map(mean), reset_forward: forward?.map(mean), reset_backward: backward?.map(mean),
    })),
  };
}

window.qrn = { answer };
