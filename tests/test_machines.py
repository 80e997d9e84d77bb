"""The catalogue is complete and coherent, and a wrong name is answered with the right one."""

import dataclasses
import json
import pickle
import re
from typing import Any

import pytest

from lockstep.cost.operations import op_time
from lockstep.errors import UsageError
from lockstep.machines import Cluster, Device, Link, find, names

CLUSTERS = [find(name) for name in names()]
GPUS = [c for c in CLUSTERS if c.ranks_per_node == 8 and c.name != "laptop"]


def test_a_message_costs_alpha_and_beta() -> None:
    assert Link(2e-6, 1e-9).time(1000) == pytest.approx(3e-6)
    assert Link(2e-6, 1e-9).time(0) == 2e-6
    assert Link(0.0, 4e-10).bandwidth == pytest.approx(2.5e9)


def test_links_to_several_neighbours_are_used_together_by_a_collective() -> None:
    """Found: two MI300X had the bandwidth of seven links, of which one joins them."""
    link = find("mi300x").inside
    assert link.bandwidth == pytest.approx(64e9)
    assert [round(link.together(k).bandwidth / 1e9) for k in (1, 2, 3, 8, 16)] == [64, 64, 128, 448, 448]
    assert link.together(8).alpha == link.alpha
    nvlink = find("dgx-a100").inside
    assert nvlink.together(8) == nvlink


def test_the_link_is_chosen_by_the_node_of_both_ranks() -> None:
    cluster = find("dgx-a100")
    assert cluster.link(0, 7) is cluster.inside
    assert cluster.link(8, 15) is cluster.inside
    assert cluster.link(7, 8) is cluster.between
    assert cluster.link(0, 8) is cluster.between
    assert find("commodity-10g").link(0, 1) is find("commodity-10g").between


def test_published_numbers_are_those_of_the_data_sheets() -> None:
    a100 = find("dgx-a100")
    assert a100.device.peak("bfloat16") == 312e12
    assert a100.device.peak("torch.float32") == 19.5e12
    assert a100.inside.bandwidth == pytest.approx(300e9)
    assert a100.between.bandwidth == pytest.approx(200e9 / 8)
    assert find("dgx-h100").device.peak("bfloat16") == 989e12
    assert find("dgx-b200").device.peak("bfloat16") == 2250e12
    assert find("commodity-25g").between.bandwidth == pytest.approx(25e9 / 8)


def test_a_dtype_without_a_rate_is_computed_as_float32() -> None:
    device = find("dgx-h100").device
    assert device.peak("torch.int64") == device.peak("float32")


@pytest.mark.parametrize("cluster", CLUSTERS, ids=lambda c: c.name)
def test_every_cluster_is_coherent_and_says_where_it_comes_from(cluster: Cluster) -> None:
    assert {"float32", "float64", "bfloat16"} <= set(cluster.device.flops)
    assert cluster.device.peak("float64") < cluster.device.peak("bfloat16")
    assert cluster.device.memory > 1e9
    assert cluster.inside.beta <= cluster.between.beta or cluster.ranks_per_node == 1
    for part in (cluster, cluster.device, cluster.inside, cluster.between):
        assert len(part.source) > 10
    assert "alpha" in cluster.between.source


@pytest.mark.parametrize("cluster", CLUSTERS, ids=lambda c: c.name)
def test_a_cluster_travels_as_json_and_as_pickle_and_is_hashable(cluster: Cluster) -> None:
    assert Cluster.from_json(json.loads(json.dumps(dataclasses.asdict(cluster)))) == cluster
    assert pickle.loads(pickle.dumps(cluster)) == cluster
    assert len({cluster, dataclasses.replace(cluster)}) == 1


@pytest.mark.parametrize("cluster", GPUS, ids=lambda c: c.name)
def test_machines_of_gpus_are_far_faster_inside_a_node(cluster: Cluster) -> None:
    assert cluster.inside.together(8).bandwidth > 5 * cluster.between.bandwidth
    assert cluster.inside.alpha < cluster.between.alpha


@pytest.mark.parametrize(("wrong", "meant"), [("dgx-a10", "dgx-a100"), ("DGX A100", "dgx-a100"), ("labtop", "laptop")])
def test_a_misspelt_name_is_answered_with_the_near_ones(wrong: str, meant: str) -> None:
    with pytest.raises(UsageError, match=f"Did you mean '{meant}'"):
        find(wrong)


@pytest.mark.parametrize("wrong", ["", "zzz", None, 3])
def test_a_senseless_name_gets_the_list(wrong: object) -> None:
    with pytest.raises(UsageError, match="dgx-a100, dgx-b200"):
        find(wrong)  # type: ignore[arg-type]


def test_names_are_sorted_and_found() -> None:
    assert names() == sorted(names())
    assert all(find(name).name == name for name in names())


def test_ranks_that_share_a_memory_share_its_bandwidth() -> None:
    core, wire = Device("core", {"float32": 1e9}, 20e9, 10**9, 0.0), Link(0.0, 1e-9)
    machine = Cluster("laptop", core, 1024, wire, wire, cores=8, memory_bandwidth=60e9)
    found = [machine.device_among(ranks).memory_bandwidth / 1e9 for ranks in (1, 3, 4, 8, 100)]
    assert found == [20, 20, 15, 7.5, 7.5]  # at most 8 of them at a time: the others wait for a core
    assert machine.device_among(2) is core
    assert find("dgx-a100").device_among(8) is find("dgx-a100").device


def test_a_device_needs_no_more_than_float32() -> None:
    core = Device("core", {"float32": 1e9}, 1e9, 10**9, 0.0)
    assert core.peak("bfloat16") == 1e9


# ---- unequal ranks


def test_a_slow_rank_takes_exactly_so_many_times_as_long_for_everything() -> None:
    """Found: one Device stood for all ranks, so that there could be no straggler."""
    cluster = find("dgx-a100").with_rank(3, speed=0.5)
    slow, fast = cluster.device_of(3), cluster.device_of(2)
    assert fast is find("dgx-a100").device
    for flops, nbytes in ((1e12, 0), (0, 1e9), (0, 0), (1e12, 1e9)):
        assert op_time(slow, flops, nbytes, "bfloat16") == 2 * op_time(fast, flops, nbytes, "bfloat16")
    assert slow.memory == fast.memory


def test_what_differs_is_said_step_by_step_and_leaves_the_cluster_as_it_was() -> None:
    plain = find("dgx-a100")
    both = plain.with_rank(3, speed=0.5).with_rank(3, memory=40e9)
    assert (both.device_of(3).memory, both.device_of(3).peak("float32")) == (40 * 10**9, 19.5e12 / 2)
    assert both.with_rank(3, speed=2).device_of(3).peak("float32") == 19.5e12 * 2  # the later one holds
    assert both == plain.with_rank(3, memory=40e9, speed=0.5)
    assert plain.with_rank(1, speed=2).with_rank(0, speed=3) == plain.with_rank(0, speed=3).with_rank(1, speed=2)
    assert plain == find("dgx-a100")
    assert both != plain


def test_a_slow_link_is_slow_in_both_directions_and_of_the_same_kind() -> None:
    """Found: two Links stood for all pairs, so that there could be no slow link."""
    cluster = find("dgx-a100").with_link(5, 0, bandwidth=1e9).with_link(0, 8, latency=0.0)
    assert cluster.link(0, 5) == cluster.link(5, 0)
    assert cluster.link(0, 5).time(1e9) == cluster.inside.alpha + 1
    assert (cluster.link(8, 0).alpha, cluster.link(8, 0).beta) == (0.0, cluster.between.beta)
    assert cluster.link(0, 4) is cluster.inside
    assert cluster.link(1, 8) is cluster.between
    assert cluster.is_inside(0, 5)
    assert not cluster.is_inside(0, 8)
    assert cluster.link(5, 5) is cluster.inside


def test_an_unequal_cluster_travels_too() -> None:
    cluster = find("laptop").with_rank(3, speed=0.5, memory=1e9).with_link(0, 9, bandwidth=1e6).with_jitter(0.1, seed=7)
    assert cluster.link(0, 9).beta == 1e-6  # what is looked up once is kept, and must not disturb
    assert Cluster.from_json(json.loads(json.dumps(dataclasses.asdict(cluster)))) == cluster
    assert pickle.loads(pickle.dumps(cluster)) == cluster
    assert len({cluster, dataclasses.replace(cluster), find("laptop")}) == 2
    assert dataclasses.replace(cluster, inside=Link(1.0, 1.0)).link(0, 9).beta == 1e-6


def test_a_survey_of_before_ranks_could_differ_is_read() -> None:
    data = dataclasses.asdict(find("laptop"))
    del data["unequal"], data["jitter"]
    assert Cluster.from_json(data) == find("laptop")


def test_only_what_a_run_has_is_different_in_it() -> None:
    cluster = find("laptop").with_rank(3, speed=0.5).with_link(1, 4, latency=1.0).with_jitter(messages=0.2)
    all_of_them = [((1, 4), "latency", 1.0), ((3,), "speed", 0.5), ((), "message jitter", 0.2)]
    assert list(cluster.differences(5)) == all_of_them
    assert list(cluster.differences(4)) == all_of_them[1:]
    assert list(cluster.differences(3)) == all_of_them[2:]


@pytest.mark.parametrize("ranks", [2, 100])
def test_a_slow_rank_among_ranks_that_share_a_memory_is_as_slow(ranks: int) -> None:
    core, wire = Device("core", {"float32": 1e9}, 20e9, 10**9, 1e-6), Link(0.0, 1e-9)
    machine = Cluster("laptop", core, 1024, wire, wire, cores=8, memory_bandwidth=60e9).with_rank(1, speed=0.5)
    slow, fast = (machine.device_among(ranks, rank) for rank in (1, 0))
    assert op_time(slow, 0, 1e9) == pytest.approx(2 * op_time(fast, 0, 1e9))
    assert machine.device_among(ranks) == fast


def test_ranks_that_share_cores_share_the_memory_and_none_has_less_than_its_core() -> None:
    laptop = find("laptop")
    assert [laptop.memory_among(ranks, 0) / 1e9 for ranks in (1, 2, 4, 5, 8, 64)] == [16, 8, 4, 2, 2, 2]
    assert [laptop.with_rank(0, memory=1e9).memory_among(1, rank) / 1e9 for rank in (0, 1)] == [1, 16]
    assert find("dgx-a100").memory_among(1, 0) == 80 * 10**9


@pytest.mark.parametrize(
    ("call", "wrong", "advice"),
    [
        (lambda c: c.with_rank(-1, speed=1), "not -1", "as in 0 or 3"),
        (lambda c: c.with_rank(1.0, speed=1), "not 1.0", "as in 0 or 3"),
        (lambda c: c.with_rank(True, speed=1), "not True", "as in 0 or 3"),
        (lambda c: c.with_rank(1), r"with_rank\(1\) changes nothing", r"with_rank\(1, speed=0.5"),
        (lambda c: c.with_rank(1, speed=0), "speed is a number above 0, not 0", "half as fast"),
        (lambda c: c.with_rank(1, speed=float("nan")), "not nan", "half as fast"),
        (lambda c: c.with_rank(1, memory="40GB"), "not '40GB'", "memory=40e9 is 40 GB"),
        (lambda c: c.with_rank(1, memory=-1), "not -1", "in bytes"),
        (lambda c: c.with_link(2, 2, bandwidth=1), "no link to itself", "Name two ranks"),
        (lambda c: c.with_link(0, "5", bandwidth=1), "not '5'", "by its number"),
        (lambda c: c.with_link(0, 5), r"with_link\(0, 5\) changes nothing", "latency=20e-6"),
        (lambda c: c.with_link(0, 5, bandwidth="1 Gbit/s"), "not '1 Gbit/s'", "in bytes per second"),
        (lambda c: c.with_link(0, 5, bandwidth=0), "above 0", "in bytes per second"),
        (lambda c: c.with_link(0, 5, latency=-1e-6), "at least 0", "in seconds"),
        (lambda c: c.with_link(0, 5, latency=float("inf")), "not inf", "in seconds"),
        (lambda c: c.with_jitter(), "changes nothing", "compute=0.1"),
        (lambda c: c.with_jitter(compute=-0.1), "at least 0", "0.1 is 10 %"),
        (lambda c: c.with_jitter(0.1, seed=None), "whole number, not None", "seed=0"),
    ],
)
def test_what_makes_no_sense_is_told_with_what_to_do(call: Any, wrong: str, advice: str) -> None:
    with pytest.raises(UsageError, match=wrong) as told:
        call(find("dgx-a100"))
    assert re.search(advice, told.value.remedy)
