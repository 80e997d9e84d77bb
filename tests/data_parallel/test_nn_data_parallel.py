"""nn.DataParallel as the notes print it: refused on GPUs, one call on a CPU; and what passes through the first GPU."""

import inspect

import pytest
import torch
from torch import nn
from torch.nn.parallel.replicate import replicate

from lockstep.cost.algorithms import ring_all_reduce
from lockstep.errors import UsageError
from lockstep.experiments.all_reduce_sgd import torch_data_parallel as ours


def test_on_a_cpu_the_model_is_called_once_with_all_examples() -> None:
    assert ours.forward_calls() == [32]
    assert ours.forward_calls(7) == [7]


@pytest.mark.parametrize("gpus", [2, 8])
def test_on_gpus_torch_refuses_parameters_that_were_never_moved(gpus: int) -> None:
    assert "parameters and buffers on device cuda:0 (device_ids[0])" in ours.refusal(gpus)
    assert "found one of them on device: cpu" in ours.refusal(gpus)


@pytest.mark.parametrize("gpus", [0, 1])
def test_without_a_second_gpu_nothing_is_refused(gpus: int) -> None:
    with pytest.raises(UsageError, match="no copies"):
        ours.refusal(gpus)


def test_the_refusal_is_torchs_check_of_the_parameters_and_nothing_else() -> None:
    """With its parameters where torch wants them it goes on, to cut the batch, for which nothing was set here."""
    parallel = ours.as_the_notes(ours.SimpleNN(), gpus=2)
    parallel.src_device_obj = torch.device("cpu")
    with pytest.raises(AttributeError, match="'dim'"):
        parallel(torch.ones(4, 10))


def test_the_constructor_moves_a_model_only_to_a_single_gpu() -> None:
    """What the sentence about two GPUs stands on; a torch that does otherwise fails here."""
    source = inspect.getsource(nn.DataParallel.__init__)
    assert source.count(".to(") == 1
    assert source.rstrip().endswith("if len(self.device_ids) == 1:\n            self.module.to(self.src_device_obj)")


def test_each_forward_pass_makes_new_copies_and_torch_itself_recommends_ddp() -> None:
    assert "self.replicate(" in inspect.getsource(nn.DataParallel.forward)
    assert "_broadcast_coalesced_reshape(params" in inspect.getsource(replicate)  # all of them in one function
    assert "recommended to use" in (nn.DataParallel.__doc__ or "")


@pytest.mark.parametrize("gpus", [1, 2, 3, 8])
def test_bytes_through_the_first_gpu(gpus: int) -> None:
    n, outputs = 1200, 240
    copies, nccl, ddp = ours.through_the_first_gpu(n, gpus, outputs)
    gathered = (gpus - 1) * outputs / gpus
    assert copies.out == copies.into == (gpus - 1) * n + gathered
    assert nccl.out == nccl.into == (n + gathered if gpus > 1 else 0)
    assert ddp.out == ddp.into == ring_all_reduce(n, gpus).nbytes_per_rank
    assert [way.hidden for way in (copies, nccl, ddp)] == [False, False, True]


def test_seconds_of_both_ways_follow_one_another_and_those_of_a_ring_do_not() -> None:
    assert [ours.seconds(step, 100) for step in ours.through_the_first_gpu(400, 4)] == [24, 8, 6]


def test_the_tables_tell_these_numbers() -> None:
    refused, alone = ours.data_parallel_table().rows
    assert refused[1] == f"RuntimeError: {ours.refusal()}"
    assert alone[1] == "1 forward call, with 32 of 32 examples"
    assert [row[1:4] for row in ours.first_gpu_table(10**8, 8).rows] == [
        ("700 MB", "700 MB", "9.33 ms"),
        ("100 MB", "100 MB", "1.33 ms"),
        ("175 MB", "175 MB", "1.17 ms"),
    ]


def test_no_gpu_is_no_machine_for_it() -> None:
    with pytest.raises(UsageError, match="at least 1 GPU"):
        ours.through_the_first_gpu(1, 0)
