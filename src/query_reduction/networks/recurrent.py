"""A plain recurrent reader: the sentence vectors of the Query-Reduction Network, read by PyTorch's GRU or LSTM.

Sentences are encoded alike, each distinct one once; the question's vector is added to every sentence's, so that the
recurrent layers are as wide as the network they are compared with; the last state answers.
"""

from __future__ import annotations

from typing import Literal

from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional

from query_reduction.data.batch import Batch
from query_reduction.networks.qrn import position_weights

__all__ = ["RecurrentReader"]


class RecurrentReader(nn.Module):
    """Embedding, position encoder, GRU or LSTM over the sentences, classifier of whole answers."""

    def __init__(
        self,
        kind: Literal["gru", "lstm"],
        vocabulary_size: int,
        answer_count: int,
        *,
        dimension: int,
        layers: int,
        longest_sentence: int,
    ) -> None:
        super().__init__()
        self.longest_sentence = longest_sentence
        self.embedding = nn.Embedding(vocabulary_size, dimension, padding_idx=0)
        recurrent = {"gru": nn.GRU, "lstm": nn.LSTM}[kind]
        self.reader = recurrent(dimension, dimension, layers, batch_first=True)
        self.answer = nn.Linear(dimension, answer_count, bias=False)

    def forward(self, batch: Batch) -> Float[Tensor, "batch answer"]:
        """Scores of every answer."""
        weight = self.embedding.weight
        weights = position_weights(batch.words, weight.shape[1], self.longest_sentence, weight.dtype)
        table = (self.embedding(batch.words.long()) * weights).sum(1)
        question = table[batch.questions.long()]
        states, _ = self.reader(table[batch.stories.long()] + question.unsqueeze(1))
        last = (batch.lengths.long() - 1).clamp(min=0).view(-1, 1, 1).expand(-1, 1, states.shape[2])
        scores: Tensor = self.answer(states.gather(1, last).squeeze(1))
        return scores

    def losses(self, batch: Batch) -> Float[Tensor, "batch"]:
        """Cross entropy of every right answer."""
        return functional.cross_entropy(self(batch), batch.answers.long(), reduction="none")
