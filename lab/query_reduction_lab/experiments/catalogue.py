"""The tables: those of the paper, and our own comparisons, with every recipe and number of restarts they use."""

from __future__ import annotations

from dataclasses import replace

from query_reduction_lab.experiments import table_recipes as recipes
from query_reduction_lab.experiments.plan import Column, Experiment, Variation

__all__ = ["EXPERIMENTS"]


def _controls(restarts: int, recipe: Variation = recipes.CONTROL, *, given: str = "") -> tuple[Column, ...]:
    """The most frequent answer needs no second restart: it is the same whatever the initial weights."""
    trained = ("question-only", "story-only", "bag-of-words")
    return (
        Column("majority", (recipe,), 1, control=True, given=given),
        *(Column(network, (recipe,), restarts, control=True, given=given) for network in trained),
    )


def _stored(controls: tuple[Column, ...], table: str) -> tuple[Column, ...]:
    """The controls of a table, to be shown in another one on the same data."""
    return tuple(replace(control, stored=table) for control in controls)


_CONTROLS_1K = _controls(10)
_CONTROLS_10K = _controls(3)
_TASKS = tuple(str(number) for number in range(1, 21))
# Systems that take hours on all tasks are trained on those that tell systems apart.
_TELLING_TASKS = ("1", "2", "3", "5", "14", "16", "17", "18", "19")
_TELLING_AVERAGE = "average of tasks 1-3, 5, 14, 16-19"
# Its authors show these two alone.
_REASONER_TASKS = ("17", "19")
_DIALOG_TASKS = ("1", "2", "3", "4", "5")
_BEST_COLUMN = Column("3rv100", (recipes.BEST,), restarts=10, label="best")
_UNRENAMED_COLUMN = Column("3rv100", (recipes.WITHOUT_SYMMETRIES,), restarts=3, label="without symmetries")
_BY_QUESTION = (
    "Restarts and recipes are chosen on a tenth of the training questions, held out question by question as in the "
    "original code: stories, and at times whole questions, occur in both parts"
)
_BY_STORY = (
    "Restarts are chosen on a tenth of the training stories, held out whole, which share nothing with the others"
)
_EXCEPT = "; for the columns {} whole stories are held out, which share nothing with those trained on"

_SYSTEMS_SOURCE = (
    "2r, GMemN2N, DMN+, LSTM and, at 10k, MemN2N as printed by Seo et al., ICLR 2017 (its DMN+ at 1k was measured with "
    "code whose softmax ran over the batch); MemN2N and EntNet at 1k as collected in the QDREN repository (MemN2N: "
    "position encoding, linear start, random noise, one network per task); EntNet at 10k, Henaff et al., ICLR 2017; "
    "Universal Transformer with halting, best of ten, Dehghani et al., ICLR 2019 (ours has no halting; without it, its "
    "authors report averages of 5.31 at 1k and 0.23 at 10k); DNC, one network for all tasks, best of twenty, Graves et "
    "al., Nature 2016 (ours is one network per task, with the changes of Franke et al., 2018, who report 6.3 ± 2.7 for "
    "one network for all tasks)"
)
_CANDIDATES = (
    "the list of candidate responses published with the data, those of the test among them, as far as training says "
    "them, possibly with other names"
)
_MATCH = "the same, and for each word of a candidate whether the dialog has mentioned it, and whether last of its kind"
_COPYING = (
    "the kind of every name in the published knowledge base, including names that only the test mentions; responses "
    "with slots for names, found in training, to choose from instead of candidates; hand-written features for choosing "
    "the name of a slot"
)
_HALF = "the same, but of the names that training does not mention, the knowledge base tells the kind of only half"

_DIALOG_COLUMNS = (
    *(Column(each, (recipes.DIALOG,), restarts=3, given=_CANDIDATES) for each in ("1r", "2r", "2r100", "2rv")),
    Column("2r+", (recipes.DIALOG,), restarts=3, given=_MATCH),
    # Not in the paper: copying makes it possible to read and produce unseen names.
    Column("2rc", (recipes.DIALOG,), restarts=3, given=_COPYING),
    # Vector gates err least on the development dialogs of task 6.
    Column("2rvc", (recipes.DIALOG,), restarts=3, given=_COPYING),
    Column("2rc", (recipes.DIALOG_HALF,), restarts=3, label="2rc half", given=_HALF),
)


_DIALOG_CONTROLS = _controls(3, recipes.DIALOG_CONTROL, given=_CANDIDATES)


def _dialogs(
    name: str,
    title: str,
    columns: tuple[Column, ...],
    controls: tuple[Column, ...],
    measures: tuple[str, ...],
    *,
    systems: bool = False,
) -> Experiment:
    return Experiment(
        name,
        title,
        columns,
        (*_DIALOG_TASKS, "6"),
        "dialog",
        "Restarts are chosen on the published development dialogs",
        controls=controls,
        measures=measures,
        rows={task: (task, f"{task}-OOV") for task in _DIALOG_TASKS},
        averaged={"average": _DIALOG_TASKS, "average-OOV": tuple(f"{task}-OOV" for task in _DIALOG_TASKS)},
        counts_failed=False,
        systems=systems,
    )


EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        Experiment(
            "qa-1k",
            "bAbI story tasks, 1k training questions per task",
            (
                Column("1r", (recipes.ONE_LAYER, recipes.ADAM), restarts=10),
                Column("2", (recipes.ORIGINAL,), restarts=10),
                Column("2r", (recipes.ORIGINAL,), restarts=10),
                Column("3r", (recipes.DEEP, recipes.ADAM_LONG), restarts=10),
                Column("6r", (recipes.DEEP,), restarts=10),
                Column("6r200", (recipes.WIDE_10K,), restarts=3, joint=True),
                _BEST_COLUMN,
                Column("3rv100", (recipes.BEST_JOINT,), restarts=3, joint=True, label="best joint"),
            ),
            _TASKS,
            "en",
            _BY_QUESTION + _EXCEPT.format("best and best joint"),
            controls=_CONTROLS_1K,
        ),
        Experiment(
            "qa-10k",
            "bAbI story tasks, 10k training questions per task",
            (
                Column("2r", (recipes.ORIGINAL_10K, recipes.ADAM_10K), restarts=3),
                Column("2rv", (recipes.BRIEF_10K, recipes.VECTOR_10K), restarts=3),
                Column("3r", (recipes.BRIEF_10K, recipes.ADAM_10K), restarts=3),
                Column("6r200", (recipes.WIDE_RENAMED_10K, recipes.WIDE_OPEN_10K), restarts=3),
                Column("3rv100", (recipes.BEST_10K,), restarts=3, label="best"),
                Column("3rv100", (recipes.BEST_JOINT_10K,), restarts=3, joint=True, label="best joint"),
            ),
            _TASKS,
            "en-10k",
            _BY_QUESTION + _EXCEPT.format("6r200, best and best joint"),
            controls=_CONTROLS_10K,
            marked_tasks=("3",),
        ),
        Experiment(
            "task-16",
            "how surely the paper's networks learn task 16 from a start that follows shared words, 10k questions",
            (
                Column("3r", (recipes.FOLLOWING_10K,), restarts=6),
                Column("6r200", (recipes.WIDE_FOLLOWING_10K,), restarts=3),
            ),
            ("16",),
            "en-10k",
            _BY_QUESTION,
            controls=_stored(_CONTROLS_10K, "qa-10k"),
        ),
        Experiment(
            "ablation",
            "what the parts of the recipe best give, 1k training questions per task",
            (
                replace(_BEST_COLUMN, stored="qa-1k"),
                _UNRENAMED_COLUMN,
                Column("3rv100", (recipes.WITHOUT_FOLLOWING,), restarts=3, label="without following"),
                Column("3rv100", (recipes.WITH_NEITHER,), restarts=3, label="with neither"),
            ),
            _TASKS,
            "en",
            _BY_STORY,
            controls=_stored(_CONTROLS_1K, "qa-1k"),
        ),
        Experiment(
            "compare",
            "systems side by side on the bAbI story tasks, 1k training questions per task",
            (
                replace(_BEST_COLUMN, stored="qa-1k"),
                Column("2r", (recipes.ORIGINAL,), restarts=10, stored="qa-1k", published="qa-1k/2r"),
                Column("memn2n", (recipes.RIVAL,), restarts=10),
                Column("gmemn2n", (recipes.RIVAL,), restarts=10, published="qa-1k/GMemN2N"),
                Column("entnet", (recipes.RIVAL,), restarts=3),
                Column("dmn", (recipes.RIVAL,), restarts=3, published="qa-1k/DMN+"),
                Column("ut", (recipes.RIVAL,), restarts=3),
                Column("lstm", (recipes.RIVAL_WORDS,), restarts=10, published="qa-1k/LSTM"),
                Column("gru", (recipes.RIVAL_WORDS,), restarts=10),
                Column("t-gru", (recipes.RIVAL_WORDS,), restarts=10),
                Column("neural-reasoner", (recipes.RIVAL,), restarts=3, tasks=_REASONER_TASKS),
            ),
            _TASKS,
            "en",
            _BY_STORY
            + "; those of 2r are held out question by question, as in its authors' code. EntNet, UT and the Neural "
            "Reasoner were changed and trained again after tests of a first column had been seen (EXPERIMENTS.md)",
            controls=_stored(_CONTROLS_1K, "qa-1k"),
            systems=True,
            source=_SYSTEMS_SOURCE,
        ),
        Experiment(
            "compare-renamed",
            "what renaming gives to each system, 1k training questions per task",
            (
                replace(_BEST_COLUMN, stored="qa-1k"),
                replace(_UNRENAMED_COLUMN, stored="ablation"),
                *(
                    column
                    for system, restarts, recipe in (
                        ("memn2n", 10, recipes.RIVAL_RENAMED),
                        ("gmemn2n", 10, recipes.RIVAL_RENAMED),
                        ("entnet", 3, recipes.RIVAL_RENAMED),
                        ("ut", 3, recipes.RIVAL_UT_RENAMED),
                    )
                    for column in (
                        Column(system, (recipe,), restarts=3, label=f"{system} renamed"),
                        Column(system, (recipes.RIVAL,), restarts=restarts, stored="compare"),
                    )
                ),
            ),
            ("2", "3", "7", "16", "17", "18", "19"),
            "en",
            _BY_STORY,
            controls=_stored(_CONTROLS_1K, "qa-1k"),
            systems=True,
        ),
        Experiment(
            "compare-10k",
            "systems side by side on the bAbI story tasks, 10k training questions per task",
            (
                Column("3rv100", (recipes.BEST_10K,), restarts=3, label="best", stored="qa-10k"),
                Column("memn2n", (recipes.RIVAL_10K,), restarts=3),
                # All tasks of this variant would take another hour and more of one core.
                Column(
                    "memn2n",
                    (recipes.RIVAL_RELU_10K,),
                    restarts=3,
                    label="memn2n relu",
                    published="qa-10k/N2N",
                    tasks=("2", "3", "5"),
                ),
                Column("gmemn2n", (recipes.RIVAL_10K,), restarts=3, published="qa-10k/GMemN2N"),
                Column("entnet", (recipes.RIVAL_10K,), restarts=3, tasks=_TELLING_TASKS),
                Column("dmn", (recipes.RIVAL_DMN_10K,), restarts=3, published="qa-10k/DMN+", tasks=_TELLING_TASKS),
                Column("ut", (recipes.RIVAL_UT_10K,), restarts=3, tasks=_TELLING_TASKS),
                Column("dnc", (recipes.RIVAL_DNC_10K,), restarts=3, tasks=("1", "4", "6", "9", "12", "20")),
                Column("neural-reasoner", (recipes.RIVAL_10K,), restarts=3, tasks=_REASONER_TASKS),
            ),
            _TASKS,
            "en-10k",
            _BY_STORY,
            controls=_stored(_CONTROLS_10K, "qa-10k"),
            averaged={
                "average": _TASKS,
                "average without task 3": tuple(task for task in _TASKS if task != "3"),
                _TELLING_AVERAGE: _TELLING_TASKS,
            },
            systems=True,
            pictured=_TELLING_AVERAGE,
            source=_SYSTEMS_SOURCE,
        ),
        Experiment(
            "dnc-joint",
            "one Differentiable Neural Computer for three tasks, 10k training questions per task",
            (Column("dnc", (recipes.RIVAL_DNC_10K,), restarts=3, joint=True),),
            # As its authors train it, on all tasks at once, would take days on two cores.
            ("1", "4", "12"),
            "en-10k",
            _BY_STORY,
            controls=_stored(_CONTROLS_10K, "qa-10k"),
            systems=True,
        ),
        Experiment(
            "transfer",
            "trained on 10k generated questions per task, tested on the published ones",
            (Column("2r", (recipes.ORIGINAL_10K,), restarts=3),),
            _TASKS,
            "en-10k",
            _BY_QUESTION,
            controls=_CONTROLS_10K,
            generated=True,
        ),
        _dialogs(
            "dialog",
            "bAbI dialog tasks",
            _DIALOG_COLUMNS,
            _DIALOG_CONTROLS,
            ("per slot", "exact match", "per dialog"),
        ),
        _dialogs(
            "compare-dialog",
            "systems side by side on the bAbI dialog tasks",
            (
                *(replace(each, stored="dialog") for each in _DIALOG_COLUMNS if each.given != _CANDIDATES),
                replace(_DIALOG_COLUMNS[1], stored="dialog"),
                Column("memn2n", (recipes.DIALOG_RIVAL,), restarts=3, published="dialog/N2N", given=_CANDIDATES),
                Column("gmemn2n", (recipes.DIALOG_RIVAL,), restarts=3, published="dialog/GMemN2N", given=_CANDIDATES),
                Column("memn2n+", (recipes.DIALOG_RIVAL,), restarts=3, published="dialog/N2N+", given=_MATCH),
                Column("gmemn2n+", (recipes.DIALOG_RIVAL,), restarts=3, published="dialog/GMemN2N+", given=_MATCH),
            ),
            _stored(_DIALOG_CONTROLS, "dialog"),
            ("exact match", "per slot", "per dialog"),
            systems=True,
        ),
    )
}
"""The tables by name."""
