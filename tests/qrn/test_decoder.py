"""The question decoder: its loss, its words, and that it learns without harm to the rest."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from small_networks import in_use, qrn, variant, vocabulary_of

from query_reduction.model import StoryModel, model_of
from query_reduction.qrn import decoder_training as decoder
from query_reduction.qrn.decoder import decode
from query_reduction.qrn.network import QRNConfig
from query_reduction.reading.stories import StoryParts
from query_reduction.stacked.tensors import TensorBatch
from query_reduction.text.encoding import encode_stories
from query_reduction.text.vocabulary import Vocabulary
from query_reduction.training.run import Run, best_restart, train_to_end, trained_model
from query_reduction.training.setup import setup
from query_reduction.worlds import generate

CONFIG = QRNConfig(decode_questions=True)


def test_loss_is_minus_the_log_of_the_questions_probability() -> None:
    generator = torch.Generator().manual_seed(0)
    network = qrn(variant("2r4", decode_questions=True), vocabulary_of(6, 3, 3), range(2))
    with torch.no_grad():
        network.decoder_weight.normal_(generator=generator)
        network.decoder_bias.normal_(generator=generator)
    parts = network.decoder_weight, network.decoder_bias, network.update_weight
    weight, bias, gate = (part.detach() for part in parts)
    query = torch.randn(2, 2, 4, generator=generator)
    words = torch.tensor([[2, 5], [4, 0]])
    found = decoder.losses(network, query, words).detach()
    for restart in range(2):
        for number, told in enumerate([(2, 5, 0), (4, 0, 0)]):
            total = 0.0
            for position, word in enumerate(told):
                seen = query[restart, number] * gate[restart, 0, 0].abs()
                direction = seen / seen.norm()
                scores = weight[restart, position] @ direction + 5 * bias[restart, position]
                total -= float(torch.log_softmax(scores, 0)[word])
            assert float(found[restart, number]) == pytest.approx(total, rel=1e-5)


def test_words_end_where_no_word_is_best() -> None:
    vocabulary = Vocabulary(("apple", "is", "where"), ("garden",), 4)
    network = qrn(CONFIG, vocabulary)
    with torch.no_grad():
        for position, word in enumerate((4, 3, 0, 2)):
            network.decoder_bias[0, position, word] = 1
    assert decode(in_use(network, vocabulary).weights, np.zeros((2, 50)), vocabulary) == ["where is", "where is"]


def test_other_weights_start_as_without_a_decoder() -> None:
    plain = qrn(QRNConfig(), vocabulary_of(9, 3, 4), range(3))
    decoding = qrn(CONFIG, vocabulary_of(9, 3, 4), range(3))
    for name, weight in plain.named_parameters():
        assert torch.equal(weight, decoding.get_parameter(name))


def test_gradients_reach_decoder_and_embedding() -> None:
    stories = generate(1, 8)
    vocabulary = Vocabulary.from_stories(stories)
    network = qrn(CONFIG, vocabulary, range(2))
    torch.nn.init.normal_(network.decoder_weight)
    batch = TensorBatch.of(encode_stories(stories, vocabulary, 50).batch(np.arange(8)))
    with torch.no_grad():
        table = network.encode(batch.words)
        reduced = network.read(table, table[:, batch.questions.long()], batch.stories, batch.lengths)
        plain = network.head.losses(network, reduced, batch)
    losses = network.losses(batch)
    assert (losses > plain).all()
    (losses - plain).sum().backward()
    for name in ("decoder_weight", "decoder_bias", "embedding"):
        gradient = network.get_parameter(name).grad
        assert gradient is not None
        assert gradient.abs().sum() > 0


def test_the_decoder_does_not_train_the_gate() -> None:
    network = qrn(CONFIG, vocabulary_of(6, 3, 3))
    torch.nn.init.normal_(network.decoder_weight)
    loss = decoder.losses(network, torch.randn(1, 2, 50), torch.tensor([[2], [3]])).sum()
    loss.backward()
    assert network.update_weight.grad is None


def test_a_trained_model_says_its_questions() -> None:
    parts = StoryParts("generated", generate(1, 200), generate(1, 50, split="valid"), generate(1, 100, split="test"))
    run = Run(parts, setup("2r", changes={"decode_questions": True, "restarts": 1, "max_epochs": 20}))
    train_to_end(run)
    model = model_of(trained_model(run, best_restart(run)))
    assert isinstance(model, StoryModel)
    assert model.decodes_questions
    for story in parts.test[:10]:
        question = story.questions[0]
        trace = model.explain(story.sentences[: question.after], question.text)
        assert trace.in_words is not None and trace.in_words.question == question.text.rstrip("?")
        assert [len(layer) for layer in trace.in_words.queries] == [len(trace.sentences)]
        assert trace.as_json()["queries_in_words"][0][0].startswith("Where is")
        assert {text[:8] for text in trace.in_words.so_far[0]} <= {"", "Where is"}
