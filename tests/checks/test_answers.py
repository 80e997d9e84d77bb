"""What each known answer is told, in every exercise: the proof of CHECKS.md.

A wrong answer is told first what it states, and nothing specific besides that its ALSO does not name. Without its own
entry it gets a general sentence, or another entry's that is true of it. A right answer passes.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from asked import is_asked_for

from lockstep import checks
from lockstep.checks import closer_look, verdict
from lockstep.checks.exercise import Exercise
from lockstep.checks.known import Known, known_answers, stated, tellable
from lockstep.checks.observation import Observation
from lockstep.exercises.gpu.launches import RULES
from lockstep.grading.lesson_counts import minutes
from lockstep.grading.text_notebook import read

EXERCISES = checks.exercises()
ASKED = [e for e in EXERCISES if is_asked_for(e) or e is EXERCISES[0]]  # that one for a row in each table
BANK = {e.id: [stated(path) for path in sorted(e.wrong.glob("[!_]*.py"))] for e in ASKED}  # all are read in a second
KNOWN = [(e, k) for e in ASKED for k in BANK[e.id]]

# What any answer may be told: the run's own error, which cases fail, what the values, gradients and messages are, and
# what the warp machine found of a kernel.
GENERAL = {
    "no-function", "signature", "not-written", "library-call", "prints", "too-slow", "never-waited",
    "changes-what-it-sends", "reads-before-wait",
    "wrong-values", "wrong-type", "wrong-shape", "wrong-dtype", "changes-arguments",
    "unchanged", "all-zeros", "not-a-number", "minus-own", "transposed", "shifted",
    "cut-to-whole", "single-precision", "constant", "constant-factor", "complement", "rounded", "offset",
    "not-by-messages",
    "fails-alone", "only-two-ranks", "only-powers-of-two", "only-even-sizes", "only-root-zero", "ignores-group",
    "only-floats", *(rule.misconception for rule in RULES),
    "wrong-gradient", "no-gradient", "not-its-part", "changes-in-place",
}  # fmt: skip


def is_general(misconception: str) -> bool:
    return misconception in GENERAL or misconception.startswith(("crashed:", "too-many-", "too-few-"))


# Answers that take more than 2.6 CPU seconds: in `make test` another one of the exercise stands for each.
DEAR = {
    "all_reduce_sgd.bucketed_ddp/bytes_as_numbers",
    "all_reduce_sgd.replicas_agree/all_the_parameters",
    "all_reduce_sgd.replicas_agree/bytes_of_the_memory",
    "communication.is_all_reduce/beside_torch",
    "communication.mend_out_of_order_tags/returns_swapped",
    "communication.overlapped_step/average",
    "communication.ping_pong/both_at_once",
    "cpu.blocked_matmul/block_of_its_own",
    "cpu.blocked_matmul/overwrites",
    "fsdp.fully_shard_model/a_function_a_layer",
    "fsdp.prefetch_backward/all_at_once",
    "fsdp.fully_shard_model/all_reduce_and_slice",
    "fsdp.fully_shard_model/cut_short",
    "fsdp.make_it_fit/an_optimizer_a_layer",
    "fsdp.make_it_fit/averages_parameters",
    "fsdp.make_it_fit/gradients_pile_up",
    "horovod.negotiate/a_broadcast_a_name",
    "horovod.negotiate/all_gather",
    "horovod.negotiate/messages",
    "mixture_of_experts.name_the_expert/by_a_matrix",
    "pipeline.pipeline_worker/ascending_inputs",
    "pipeline.pipeline_worker/own_schedule",
    "scikit_learn.parallel_forest/drawn_beforehand",
    "scikit_learn.parallel_grid_search/best_fold",
    "scikit_learn.parallel_kmeans_step/absolute",
    "tensor_parallel.catch_the_bug/a_falling_loss",
    "tensor_parallel.catch_the_bug/flat_vectors",
    "tensor_parallel.parallel_attention/adds_up_keys_too",
    "tensor_parallel.parallel_conv2d/bias_on_each_rank",
    "tensor_parallel.parallel_conv2d/channels_of_v",
    "tensor_parallel.regions/all_reduces_what_arrives",
    "without_waiting.local_sgd/averages_gradients",
    "without_waiting.local_sgd/last_mean_missing",
}

# Of those that `make test` tries, what `pytest -k EXERCISE` leaves to it: a wrong answer is compared with all that are
# known, which takes seconds.
LATER = {
    "all_reduce_sgd.bucketed_ddp/divides_twice",
    "all_reduce_sgd.replicas_agree/compares_with_mean",
    "communication.halving_doubling_all_reduce/lower_ranks",
    "communication.is_all_reduce/quarters",
    "communication.overlapped_step/skips_transfer",
    "communication.ping_pong/doubles",
    "cpu.blocked_matmul/i_j_k_inside",
    "cpu.blocked_matmul/textbook",
    "cpu.dot/forgets_sums",
    "cpu.dot/halves_by_four",
    "cpu.parallel_sum/first_worker_only",
    "cpu.parallel_sum/padded",
    "cpu.saxpy/rebinds",
    "fsdp.fully_shard_model/never_lets_go",
    "fsdp.fully_shard_model/own_gradient",
    "fsdp.make_it_fit/by_hand",
    "fsdp.make_it_fit/new_optimizer_each_step",
    "fsdp.make_it_fit/one_step_short",
    "fsdp.prefetch/keeps_all",
    "horovod.distribute/all_rows_on_all_ranks",
    "horovod.distribute/broadcasts_what_is_trained",
    "horovod.distribute/by_hand",
    "horovod.elastic_state/by_hand",
    "horovod.elastic_state/no_optimizer",
    "horovod.elastic_state/no_run",
    "horovod.negotiate/at_the_end",
    "horovod.negotiate/own_names",
    "horovod.negotiate/sets",
    "mixture_of_experts.dispatch_and_combine/dropped_tokens_stay",
    "mixture_of_experts.load_balancing_loss/first_choices",
    "pipeline.mend_one_f_one_b_exchange/longer_warm_up",
    "pipeline.pipeline_worker/by_autograd_grad",
    "pipeline.pipeline_worker/grad_not_cleared",
    "pipeline.pipeline_worker/grads_of_the_last",
    "scikit_learn.parallel_forest/forgets_return",
    "scikit_learn.parallel_grid_search/forgets_parameters",
    "scikit_learn.parallel_grid_search/last_of_ties",
    "tensor_parallel.catch_the_bug/loss_only",
    "tensor_parallel.catch_the_bug/one_run",
    "tensor_parallel.parallel_attention/all_keys",
    "tensor_parallel.parallel_conv2d/input_channels_first",
    "tensor_parallel.parallel_mlp/b_by_columns_too",
    "tensor_parallel.regions/detached",
    "without_waiting.delete_the_lock/a_barrier",
    "without_waiting.local_sgd/last_mean_twice",
    "without_waiting.local_sgd/mean_after_the_first_step",
    "without_waiting.parameter_server/always_waits_for_all",
    "without_waiting.parameter_server/asks_for_w",
    "without_waiting.push_sum/divides_each_round",
}

SOME = 1  # wrong answer of each core exercise that `make test` tries, beside one right answer


def some() -> set[Path]:
    """Of each core exercise those that are hardest to tell apart: recognised by what they do, and most like others. One
    of a catch, which is dozens of runs itself."""
    found = set()
    for exercise in (e for e in ASKED if e.core or len(ASKED) <= 2):
        known = sorted(
            (k for e, k in KNOWN if e is exercise), key=lambda k: (is_dear(exercise, k.path), hard_to_tell(k))
        )
        found |= {k.path for k in known[: 1 if exercise.kind == "catch" else SOME]}
    return found


def is_dear(exercise: Exercise, path: Path) -> bool:
    return named(exercise, path) in DEAR


def marks_of(exercise: Exercise, path: Path, tried: bool) -> list[pytest.MarkDecorator]:
    return [*([] if tried else [pytest.mark.slow]), *([pytest.mark.later] if named(exercise, path) in LATER else [])]


def named(exercise: Exercise, path: Path) -> str:
    return f"{exercise.id}/{path.stem}"


def hard_to_tell(known: Known) -> tuple[bool, int, str]:
    return not known.tellable, -len(known.also) - len(known.variants), known.name


def ids(rows: list[tuple[Exercise, Known]], tried: set[Path]) -> list[object]:
    """All of them; slow what `make test` does not try. Those of an exercise stay in one worker, where its known answers
    have run; those of one exercise alone are shared out."""
    found = []
    for e, k in rows:
        marks = marks_of(e, k.path, k.path in tried)
        group = pytest.mark.xdist_group(named(e, k.path) if len(ASKED) <= 2 else e.id)
        found.append(pytest.param(e, k, id=named(e, k.path), marks=[group, *marks]))
    return found


class Remembering:
    """Runs each answer once, and judges it as often as it is asked: the run takes nearly all of the time. Of one
    exercise at a time."""

    def __init__(self) -> None:
        self.exercise = ""
        self.seen: dict[tuple[Path, float], Observation] = {}

    def of(self, path: Path) -> Callable[..., Observation]:
        def observed(exercise: Exercise, fn: Callable[..., Any], on: str | None) -> Observation:
            if self.exercise != exercise.id:
                self.exercise, self.seen = exercise.id, {}
            key = path, exercise.run.timeout  # where time ran out, another try has more of it
            if key not in self.seen:
                self.seen[key] = _observe(exercise, fn, on)
            return self.seen[key]

        return observed


_observe = verdict._observe
REMEMBERING = Remembering()


@pytest.fixture
def judged_again(known: Known, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verdict, "_observe", REMEMBERING.of(known.path))


@pytest.mark.runs("exercise")
@pytest.mark.usefixtures("judged_again")
@pytest.mark.parametrize(("exercise", "known"), ids(KNOWN, some()))
def test_a_wrong_answer_is_told_first_what_it_states(exercise: Exercise, known: Known) -> None:
    score = checks.check_file(exercise.id, known.path, keep=False)
    told = [finding.misconception for finding in score.findings]
    assert score.verdict in ("wrong", "crashed"), score.text()
    assert score.points < score.maximum, score.text()
    assert told[0] == known.misconception, score.text()
    specific = [id for id in told[1:] if not is_general(id) and id not in known.also and id != known.misconception]
    assert not specific, score.text()
    if known.tell and not known.tellable:  # of one that crashes or hangs it is the hint
        assert known.tell in score.findings[0].message, score.text()


@pytest.mark.runs("exercise")
@pytest.mark.slow
@pytest.mark.usefixtures("judged_again")
@pytest.mark.parametrize(("exercise", "known"), ids([(e, k) for e, k in KNOWN if k.tell], set()))
def test_without_its_own_entry_a_wrong_answer_is_told_something_general(
    exercise: Exercise, known: Known, monkeypatch: pytest.MonkeyPatch
) -> None:
    variants = {known.name, *known.variants}
    others = [k for k in tellable(exercise) if k.name not in variants and known.name not in k.variants]
    monkeypatch.setattr(closer_look, "tellable", lambda _: others)
    score = checks.check_file(exercise.id, known.path, keep=False)
    told = score.findings[0].misconception
    assert score.points < score.maximum, score.text()
    assert is_general(told) or told in (known.misconception, *known.also), score.text()


def right_answers() -> list[object]:
    """The first of each exercise is tried by `make test`; its lab tries the reference."""
    found = []
    for e in ASKED:
        for number, path in enumerate(sorted(e.right.glob("[!_]*.py"), key=lambda path: (is_dear(e, path), path))):
            found.append(pytest.param(e, path, id=named(e, path), marks=marks_of(e, path, number == 0)))
    return found


@pytest.mark.runs("exercise")
@pytest.mark.parametrize(("exercise", "path"), right_answers())
def test_a_right_answer_passes(exercise: Exercise, path: Path) -> None:
    score = checks.check_file(exercise.id, path, keep=False)
    assert (score.verdict, score.points) == ("passed", score.maximum), score.text()


@pytest.mark.slow
@pytest.mark.runs("exercise")
@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.id)
def test_the_reference_passes(exercise: Exercise) -> None:
    score = checks.check_reference(exercise.id)
    assert (score.verdict, score.points) == ("passed", score.maximum), score.text()


@pytest.mark.later
@pytest.mark.runs("exercise")
@pytest.mark.sampled(6)
@pytest.mark.parametrize("exercise", [e for e in EXERCISES if not e.pure], ids=lambda e: e.id)
def test_the_reference_passes_on_processes(exercise: Exercise) -> None:
    score = checks.check_reference(exercise.id, on="processes")
    assert (score.verdict, score.points) == ("passed", score.maximum), score.text()


@pytest.mark.parametrize("exercise", ASKED, ids=lambda e: e.id)
def test_the_bank_is_large_enough(exercise: Exercise) -> None:
    assert len(BANK[exercise.id]) >= 5
    assert known_answers(exercise) == BANK[exercise.id], "each of them is an answer"
    assert len(list(exercise.right.glob("[!_]*.py"))) >= 2


@pytest.mark.parametrize("exercise", ASKED, ids=lambda e: e.id)
def test_a_variant_is_another_entry_of_the_same_mistake(exercise: Exercise) -> None:
    known = {k.name: k for k in BANK[exercise.id]}
    for answer in known.values():
        assert all(known[name].misconception == answer.misconception for name in answer.variants), answer.path


def test_points_and_minutes_rank_alike() -> None:
    for topic in {e.topic for e in EXERCISES}:
        rows = sorted((e.minutes, e.points) for e in EXERCISES if e.topic == topic)
        points = [points for _, points in rows]
        assert points == sorted(points), (topic, rows)


FEW = {"horovod": 2}  # units whose lesson and core exercises take 90 minutes together


def test_each_unit_has_four_or_five_core_exercises_of_two_hours_together_and_they_come_first() -> None:
    for topic in {e.topic for e in EXERCISES}:
        mine = [e for e in EXERCISES if e.topic == topic]
        core = [e for e in mine if e.core]
        assert mine[: len(core)] == core, topic
        assert len(core) == FEW.get(topic) or (topic not in FEW and 4 <= len(core) <= 5), topic
        assert sum(e.minutes for e in core) <= 150, topic
        assert [e.number for e in mine] == list(range(1, len(mine) + 1)), topic


@pytest.mark.reads("course/")
@pytest.mark.parametrize("topic", FEW)
def test_a_short_unit_takes_90_minutes_with_its_lesson(topic: str) -> None:
    (lesson,) = Path(__file__).parents[2].glob(f"course/*_{topic}/lesson.py")
    reading = sum(map(minutes, read(lesson)))
    assert round(reading) + sum(e.minutes for e in EXERCISES if e.topic == topic and e.core) <= 90


def test_an_exercise_is_short() -> None:
    """A median of 45 lines at most."""
    lengths = sorted(len((e.wrong.parent / "exercise.py").read_text().splitlines()) for e in EXERCISES)
    assert lengths[len(lengths) // 2] <= 45, lengths


def test_what_is_left_for_later_is_an_answer() -> None:
    every = {named(e, path) for e in EXERCISES for folder in (e.wrong, e.right) for path in folder.glob("[!_]*.py")}
    assert every >= LATER | DEAR
