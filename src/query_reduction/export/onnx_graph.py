"""A Query-Reduction Network as an ONNX graph, for any number of questions, sentences and words.

Inputs are word numbers: ``story`` (question, sentence, word) and ``question`` (question, word), 0 where there is no
word, and ``lengths``, the number of sentences of each story. Outputs are ``probabilities`` (question, answer) and
``update_gates`` (question, sentence, layer). Words and answers are in the model's metadata, as JSON.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from query_reduction._version import __version__
from query_reduction.errors import InputError, install
from query_reduction.export.exportable import Weights, network_of, weights_of
from query_reduction.model import DialogModel, StoryModel
from query_reduction.qrn.variants import QRNConfig

__all__ = ["onnx_of"]

_OPSET = 17
_IR = 8
"""Versions of 2022: read by every runtime in use."""


def onnx_of(model: StoryModel | DialogModel) -> bytes:
    """The file of a model."""
    story_model, config = network_of(model, "an ONNX file")
    try:
        import onnx
    except ImportError as error:
        raise InputError(f"ONNX is not installed: {install('export')}") from error
    graph = _Graph(onnx.helper)
    vocabulary = story_model.task.vocabulary
    probabilities, gates = _network(graph, config, weights_of(story_model), vocabulary.longest_sentence)
    made = onnx.helper.make_model(
        graph.finish(
            {"story": ("int64", ["question", "sentence", "word"]), "lengths": ("int64", ["question"]),
             "question": ("int64", ["question", "question_word"])},
            {"probabilities": (probabilities, ["question", len(vocabulary.answers)]),
             "update_gates": (gates, ["question", "sentence", config.layers])},
        ),
        opset_imports=[onnx.helper.make_opsetid("", _OPSET)],
        ir_version=_IR,
        producer_name="query-reduction",
        producer_version=__version__,
        doc_string=__doc__,
    )  # fmt: skip
    metadata = {"vocabulary": asdict(vocabulary), "network": asdict(config), "memory": story_model.task.options.memory}
    onnx.helper.set_model_props(made, {name: json.dumps(value, ensure_ascii=False) for name, value in metadata.items()})
    onnx.checker.check_model(made, full_check=True)
    serialized: bytes = made.SerializeToString()
    return serialized


class _Graph:
    """Nodes and constants as they are added; every value has a name of its own."""

    def __init__(self, helper: Any, prefix: str = "") -> None:
        self._helper = helper
        self._prefix = prefix
        self._nodes: list[Any] = []
        self._constants: dict[str, NDArray[Any]] = {}

    def constant(self, value: NDArray[Any] | float | list[int]) -> str:
        """A constant: single precision, or whole numbers."""
        array = np.asarray(value)
        array = array.astype(np.int64 if array.dtype.kind in "iu" else np.float32)
        name = f"{self._prefix}constant_{len(self._constants)}"
        self._constants[name] = array
        return name

    def add(self, kind: str, *inputs: str, outputs: int = 1, **attributes: Any) -> Any:
        """A node; returns the name of its output, or the names of several."""
        name = f"{self._prefix}{kind.lower()}_{len(self._nodes)}"
        names = [name, *(f"{name}_{number}" for number in range(1, outputs))]
        self._nodes.append(self._helper.make_node(kind, list(inputs), names, **attributes))
        return names[0] if outputs == 1 else names

    def recurrence(self, z: str, v: str, start: str, *, backward: bool) -> tuple[str, str]:
        """h_t = (1 - z_t) h_{t-1} + v_t along the sentences: the last state, and all of them."""
        # Its names must differ from those around it and from those of other recurrences.
        prefix = f"recurrence_{len(self._nodes)}_"
        body = _Graph(self._helper, prefix)
        h, z_t, v_t = (f"{prefix}{name}" for name in ("h", "z", "v"))
        kept = body.add("Mul", body.add("Sub", body.constant(1.0), z_t), h)
        state = body.add("Add", kept, v_t)
        every = body.add("Identity", state)
        names = dict.fromkeys((h, z_t, v_t), ("float32", None))
        scanned = self.add(
            "Scan", start, z, v, outputs=2, num_scan_inputs=2,
            body=body.finish(names, {"h_next": (state, None), "state": (every, None)}, rename=False),
            scan_input_axes=[1, 1], scan_output_axes=[1],
            scan_input_directions=[int(backward)] * 2, scan_output_directions=[int(backward)],
        )  # fmt: skip
        return scanned[0], scanned[1]

    def finish(
        self, inputs: dict[str, tuple[str, Any]], outputs: dict[str, tuple[str, Any]], *, rename: bool = True
    ) -> Any:
        """The graph; with ``rename`` outputs get their names."""
        from onnx import TensorProto, numpy_helper

        kinds = {"int64": TensorProto.INT64, "float32": TensorProto.FLOAT}
        value = self._helper.make_tensor_value_info
        nodes = list(self._nodes)
        if rename:
            nodes += [self._helper.make_node("Identity", [made], [name]) for name, (made, _) in outputs.items()]
        return self._helper.make_graph(
            nodes,
            "query_reduction_network",
            [value(name, kinds[kind], shape) for name, (kind, shape) in inputs.items()],
            [value(name if rename else made, kinds["float32"], shape) for name, (made, shape) in outputs.items()],
            [numpy_helper.from_array(array, name) for name, array in self._constants.items()],
        )


def _network(graph: _Graph, config: QRNConfig, weights: Weights, longest: int) -> tuple[str, str]:
    """The probabilities and the update gates; ``networks.qrn`` names the equations."""
    embedding = graph.constant(weights["embedding"])
    x = _encode(graph, "story", embedding, config, longest)
    asked = _encode(graph, "question", embedding, config, longest)
    q = graph.add("Expand", graph.add("Unsqueeze", asked, graph.constant([1])), graph.add("Shape", x))
    start = graph.add("Mul", asked, graph.constant(0.0))
    sentences = graph.add("Gather", graph.add("Shape", "story"), graph.constant(1))
    place = graph.add("Range", graph.constant(0), sentences, graph.constant(1))
    told = graph.add("Less", place, graph.add("Unsqueeze", "lengths", graph.constant([1])))
    told = graph.add("Unsqueeze", graph.add("Cast", told, to=1), graph.constant([2]))
    gates = []
    answer = start
    for layer in range(config.layers):
        own, last = (0 if config.tied else layer), layer == config.layers - 1
        similarity = graph.add("Mul", x, q)
        bias = weights["update_bias"][own] - config.forget_bias
        z = _gate(graph, similarity, weights["update_weight"][own], bias)
        if config.gate_stretch != 1:
            stretched = graph.add("Mul", z, graph.constant(config.gate_stretch))
            moved = graph.add("Sub", stretched, graph.constant((config.gate_stretch - 1) / 2))
            z = graph.add("Clip", moved, graph.constant(0.0), graph.constant(1.0))
        # Sentences past a story's end leave the state as it is.
        z = graph.add("Mul", z, told)
        made = graph.add(
            "Add",
            graph.add("MatMul", q, graph.constant(weights["candidate_query"][own])),
            graph.add("MatMul", x, graph.constant(weights["candidate_sentence"][own])),
        )
        candidate = graph.add("Tanh", graph.add("Add", made, graph.constant(weights["candidate_bias"][own])))
        read = graph.add("Mul", z, candidate)
        directions = []
        for direction in range(1 if last else 2):
            v = read
            if config.reset_gate and not last:
                reset, bias = weights["reset_weight"][own][direction], weights["reset_bias"][own][direction]
                v = graph.add("Mul", read, _gate(graph, similarity, reset, bias))
            directions.append(graph.recurrence(z, v, start, backward=bool(direction)))
        answer = directions[0][0]
        q = directions[0][1] if last else graph.add("Add", directions[0][1], directions[1][1])
        gates.append(graph.add("ReduceMean", z, axes=[2], keepdims=1))
    scores = graph.add("MatMul", answer, graph.constant(weights["answer_weight"].T))
    return graph.add("Softmax", scores, axis=-1), graph.add("Concat", *gates, axis=2)


def _gate(graph: _Graph, similarity: str, weight: NDArray[np.float32], bias: NDArray[np.float32]) -> str:
    scores = graph.add("MatMul", similarity, graph.constant(np.ascontiguousarray(weight.T)))
    gate: str = graph.add("Sigmoid", graph.add("Add", scores, graph.constant(bias)))
    return gate


def _encode(graph: _Graph, words: str, embedding: str, config: QRNConfig, longest: int) -> str:
    """Bags of words weighted by position: l_kj = (1 - k/d) + (j/J)(2k/d - 1)."""
    along = np.arange(1, config.dimension + 1, dtype=np.float32) / np.float32(config.dimension)
    count = graph.add("Gather", graph.add("Shape", words), graph.constant(-1))
    numbers = graph.add(
        "Range", graph.constant(1), graph.add("Add", count, graph.constant(1)),
        graph.constant(1),
    )  # fmt: skip
    place = graph.add("Unsqueeze", graph.add("Cast", numbers, to=1), graph.constant([1]))
    length = graph.constant(float(longest))
    if config.position_length == "sentence":
        present = graph.add("Cast", graph.add("Greater", words, graph.constant(0)), to=1)
        own = graph.add("ReduceSum", present, graph.constant([-1]), keepdims=1)
        length = graph.add("Unsqueeze", graph.add("Max", own, graph.constant(1.0)), graph.constant([-1]))
    slope = graph.add("Mul", graph.add("Div", place, length), graph.constant(2 * along - 1))
    weights = graph.add("Add", slope, graph.constant(1 - along))
    vectors = graph.add("Mul", graph.add("Gather", embedding, words), weights)
    encoded: str = graph.add("ReduceSum", vectors, graph.constant([-2]), keepdims=0)
    return encoded
