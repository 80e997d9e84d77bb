"""The learner thought: torch has this: DistributedSampler."""

from torch.utils.data.distributed import DistributedSampler

MISCONCEPTION = "pads-tail"


def partition(dataset, rank, ranks, epoch):
    sampler = DistributedSampler(dataset, num_replicas=ranks, rank=rank)
    sampler.set_epoch(epoch)
    return [dataset[i] for i in sampler]
