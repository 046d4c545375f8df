"""Which name is meant: a log-linear ranking of the names a dialog has mentioned, learned from training dialogs.

Each name is described by features of how it was mentioned: how recently by the user and by the system, what its rows
say (the rating of a place), whether it is related to names mentioned last or chosen before in the same response.
No feature says what to do with it; that "the best rated place not yet offered" comes next is in the weights. They
maximise the probability of the names in the training responses.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from query_reduction.dialog.mentions import NAME_KIND, MentionLog
from query_reduction.dialog.name_weights import most_probable_weights

__all__ = ["Choice", "Ranking", "shared_facts"]


@dataclass(frozen=True, slots=True)
class Choice:
    """One slot of one training response: the features of each name it could be, and which it was."""

    features: tuple[tuple[str, ...], ...]
    right: int


@dataclass(frozen=True, slots=True)
class Ranking:
    """Weights of features; a name's score is the sum of its features' weights."""

    weights: Mapping[str, float]
    facts: frozenset[str]
    """``relation=value`` pairs of more than one subject in training: only these can generalise."""

    @staticmethod
    def learn(choices: Iterable[Choice], facts: frozenset[str]) -> Ranking:
        """The most probable weights given these choices."""
        open_choices = [choice for choice in choices if len(choice.features) > 1]
        if not open_choices:
            return Ranking({}, facts)
        return Ranking(most_probable_weights([(choice.features, choice.right) for choice in open_choices]), facts)

    def choose(self, slot: str, kind: str, log: MentionLog, chosen: Sequence[str]) -> str | None:
        """The name for a slot; None if the dialog has mentioned none of its kind."""
        names = log.of_kind(kind)
        if not names:
            return None
        scored = self.describe(slot, kind, names, log, chosen)
        scores = [sum(self.weights.get(feature, 0.0) for feature in features) for features in scored]
        return names[scores.index(max(scores))]

    def describe(
        self, slot: str, kind: str, names: Sequence[str], log: MentionLog, chosen: Sequence[str]
    ) -> tuple[tuple[str, ...], ...]:
        """The features of each name that could fill a slot; ``chosen`` are those already in the response."""
        user_rank = _ranks({name: log.names[name].by_user for name in names})
        system_rank = _ranks({name: log.names[name].by_system for name in names})
        subjects = log.of_kind(NAME_KIND)
        subject_by_user = _ranks({name: log.names[name].by_user for name in subjects})
        subject_by_system = _ranks({name: log.names[name].by_system for name in subjects})
        wanted = _lately_wanted(log)
        described = []
        for name in names:
            known = log.names[name]
            plain = [
                f"user {user_rank[name]}",
                f"system {system_rank[name]}",
                f"system times {min(known.times_by_system, 2)}",
                f"block {'never' if known.block < 0 else 'last' if known.block == log.blocks else 'before'}",
            ]
            if known.by_user == log.moment:
                plain.append("in question")
            facts = (f"{relation}={value}" for relation, value in known.about.items())
            plain += [fact for fact in facts if fact in self.facts]
            if known.about:
                missed = sum(
                    log.names[value].kind in wanted and wanted[log.names[value].kind] != value
                    for value in known.about.values()
                )
                plain.append(f"unwanted {min(missed, 2)}")
            if known.subjects:
                plain.append(f"of user {min((subject_by_user[s] for s in known.subjects), default='-')}")
                plain.append(f"of system {min((subject_by_system[s] for s in known.subjects), default='-')}")
            for other in chosen:
                if other == name:
                    plain.append("again")
                elif other in known.subjects or name in log.names[other].subjects:
                    plain.append("related")
            described.append(tuple(f"{scope} {feature}" for feature in plain for scope in (kind, slot)))
        return tuple(described)


def shared_facts(rows: Iterable[tuple[str, str, str]]) -> frozenset[str]:
    """``relation=value`` pairs that rows have for more than one subject."""
    subjects: dict[str, set[str]] = {}
    for subject, relation, value in rows:
        subjects.setdefault(f"{relation}={value}", set()).add(subject)
    return frozenset(fact for fact, who in subjects.items() if len(who) > 1)


def _ranks(moments: Mapping[str, int]) -> dict[str, str]:
    """``0`` for the latest, ``1`` for the one before, ``2`` for earlier ones, ``-`` for never."""
    order = sorted({moment for moment in moments.values() if moment >= 0}, reverse=True)
    return {name: "-" if moment < 0 else str(min(order.index(moment), 2)) for name, moment in moments.items()}


def _lately_wanted(log: MentionLog) -> dict[str, str]:
    """For each kind, the name the user mentioned last."""
    wanted: dict[str, str] = {}
    moment: dict[str, int] = {}
    for name, known in log.names.items():
        if known.by_user > moment.get(known.kind, -1):
            wanted[known.kind], moment[known.kind] = name, known.by_user
    return wanted
