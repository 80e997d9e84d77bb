"""What lesson 07's demos find, told as its sentences tell it: by counts and values, never by times."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from lockstep.experiments.horovod import commits, demo_tables, demos, dialects, legacy, scaling, your_line
from lockstep.experiments.horovod.recorded import recording
from lockstep.with_horovod import script

Found = dict[str, Any]


def forgotten(value: Found) -> None:
    whole, of = value["whole"], {row["part"]: row for row in value["rows"]}
    assert [part for part, row in of.items() if row["spread"] > 0] == ["wrap", "broadcast"]
    assert (of["sampler"]["times"], whole["times"]) == (4, 1)
    assert (of["set_epoch"]["orders"], whole["orders"]) == (1, 4)
    assert (of["save"]["files"], whole["files"]) == (4, 1)
    assert abs(of["rate"]["loss"] - whole["loss"]) > 0.01, "the table shows two digits"


def orders(value: Found) -> None:
    assert value["sums"] == [[3.0, 30.0]] * 2
    assert "rank 0 waits in allreduce 'a'" in value["told"]
    assert "rank 1 waits in allreduce 'b'" in value["told"]


def a_step(value: Found) -> None:
    """Six gradients, each summed once a step, and each rank is heard of each in the first step."""
    table = your_line.operations_table(lambda a, b: a[0] < b[1] and b[0] < a[1], value["timeline"])
    assert sum(int(row[1]) for row in table.rows) == 12
    assert sorted(ticks(value)) == ["0"] * 6 + ["1"] * 6 + ["2"] * 6


def ticks(value: Found) -> list[str]:
    """The ranks, in the order in which rank 0 heard of them."""
    return [event["name"] for event in value["timeline"] if event["ph"] == "X"]


def fused(value: Found) -> None:
    assert [row["carries"] for row in value["rows"]] == [[1] * 20, [7, 7, 6], [20], [10, 10], [1] * 20]


def half_precision(value: Found) -> None:
    full, half = value["rows"]
    assert (full["travelled"], half["travelled"]) == ("float32", "float16")
    assert full["error"] < 1e-6 < 1e-4 < half["error"] < 1e-3


def process_sets(value: Found) -> None:
    assert value["rows"] == [[6.0, 1.0], [6.0, 1.0], [6.0, 5.0], [6.0, 5.0]]


def join(value: Found) -> None:
    """The mean is divided by all ranks, also by those that have joined."""
    assert [sum_ for sum_, _ in value["steps"]] == [3.0, 2.0, 1.0]
    assert [mean for _, mean in value["steps"]] == pytest.approx([1, 2 / 3, 1 / 3])


def elastic(value: Found) -> None:
    for run in value["runs"]:
        assert run["same"]
        assert run["went_on"] == run["killed"] // run["every"] * run["every"]
        assert sorted(set(run["steps"])) == list(range(demos.STEPS))
        assert run["commits"] == demos.STEPS // run["every"]
    assert [run["sizes"][-1] for run in value["runs"]] == [2, 2, 2]
    assert max(value["runs"][2]["sizes"]) == 3, "one was added"


SAID: dict[str, Callable[[Found], None]] = {
    "forgotten": forgotten,
    "orders": orders,
    "a_step": a_step,
    "fused": fused,
    "half_precision": half_precision,
    "process_sets": process_sets,
    "join": join,
    "elastic": elastic,
}


def test_each_demo_is_examined() -> None:
    assert SAID.keys() == demos.DEMOS.keys()


@pytest.mark.parametrize("name", SAID)
def test_what_is_recorded_is_what_the_lesson_says(name: str) -> None:
    SAID[name](recording(name).value)


def test_what_is_recorded_has_the_late_rank_last() -> None:
    """Of the recording alone: on a busy machine any rank may be later than the one that sleeps."""
    assert ticks(recording("a_step").value)[-1] == "2"


@pytest.mark.horovod
@pytest.mark.parametrize("name", SAID)
def test_horovod_does_it_here_too(name: str) -> None:
    SAID[name](json.loads(json.dumps(demos.DEMOS[name]())))


def test_a_line_that_is_right_negotiates_in_the_last_cycle_in_which_a_tensor_is_ready() -> None:
    table = your_line.negotiated_table(lambda counts, ranks: [n for n, c in counts.items() if c == ranks])
    assert [row[-1] for row in table.rows] == ["–", "head, right", "left, stem"]


def test_a_line_that_parts_every_tensor_finds_as_many_operations() -> None:
    timeline = recording("a_step").value["timeline"]
    assert len(your_line.operations_table(lambda a, b: False, timeline).rows) == 12
    assert len(your_line.operations_table(lambda a, b: True, timeline).rows) == 1


def test_161_gradients_and_two_bits_of_status_are_three_words() -> None:
    assert demo_tables.told_by_bits(161) == 24
    assert demo_tables.told_by_bits(61) == 8
    assert demo_tables.told_by_bits(62) == 16


def test_vgg_16_has_as_many_parameters_as_everyone_counts() -> None:
    """138,357,544: torchvision's documentation of its weights; 15.47 billion multiply-adds there."""
    layers = scaling.vgg16()
    assert sum(layer.parameters for layer in layers) == 138_357_544
    assert sum(layer.multiplications for layer in layers) == pytest.approx(15.47e9, rel=1e-3)
    assert scaling.largest(layers) == pytest.approx((74.27, 0.664), rel=1e-3)


def test_the_lesson_says_how_vgg_16_compares_with_resnet_101() -> None:
    rows = {row[0]: row for row in scaling.scaling_table().rows}
    vgg, resnet = rows["VGG-16"], rows["ResNet-101"]
    assert int(vgg[6]) / int(resnet[6]) == pytest.approx(1.6, abs=0.05)
    assert int(vgg[4].split()[0]) / int(resnet[4].split()[0]) == pytest.approx(3, abs=0.2)
    assert float(vgg[5]) / float(resnet[5]) == pytest.approx(2, abs=0.1)


@pytest.mark.slow
def test_most_of_what_comes_in_at_the_coordinator_is_names() -> None:
    (row,) = (row for row in demo_tables.negotiation_table(ranks=8, gradients=40).rows if row[0] == "coordinator")
    names = 7 * sum(len(f"layer{n}.weight") for n in range(40))
    assert names > int(row[2].replace(",", "")) / 2


@pytest.mark.parametrize(("commit", "between"), [(0.5, 400), (1, 200), (0.1, 2000), (3, 5000)])
def test_the_cheapest_interval_is_youngs(commit: float, between: float) -> None:
    assert commits.cheapest(commit, between) == pytest.approx((2 * commit * between) ** 0.5, abs=1)


def test_the_notes_rows_agree_with_the_lines_that_are_counted() -> None:
    """The table's *why* says so: Horovod, DDP and TensorFlow need about as many lines, and Lightning's user two."""
    horovod, ddp = (dialects.changed(fn) for fn in (script.distribute, script.ddp))
    assert ddp == horovod + 1, "the lesson says so below the table"
    counts = [row[2] for row in legacy.notes_table().rows]
    assert counts[2].startswith(f"{ddp} lines")
    assert counts[3].startswith(f"{horovod} lines")
    assert counts[4].startswith("2 lines ")
    assert counts[0].startswith("9 of 18 ")
    assert 9 in range(horovod - 3, horovod)
