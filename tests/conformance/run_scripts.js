// Runs the scripts of an exported page in node: questions in on standard input, what the page would answer out.
const fs = require("node:fs");

const [scripts, runs] = JSON.parse(fs.readFileSync(0, "utf8"));
const answers = runs.map(({ model, questions }) => {
  const document = { getElementById: () => ({ textContent: JSON.stringify(model) }) };
  const window = {};
  new Function("document", "window", `"use strict";\n${scripts.join("\n")}`)(document, window);
  return questions.map(([story, question]) => window.qrn.answer(story, question));
});
process.stdout.write(JSON.stringify(answers));
