import torch.distributed as dist

import three_d.topology


def average_gradients(model):
    groups = three_d.topology.process_groups
    for parameter in model.parameters():
        dist.all_reduce(parameter.grad, group=groups.dp_group)
        parameter.grad /= groups.dp_size
