"""The catalogue is complete and coherent, and a wrong name is answered with the right one."""

import dataclasses
import json
import pickle

import pytest

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
