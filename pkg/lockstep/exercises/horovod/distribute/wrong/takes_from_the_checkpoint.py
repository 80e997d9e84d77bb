"""The learner thought: what is loaded is needed no longer."""

import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

MISCONCEPTION = "changes-arguments"


def distribute(model, dataset, checkpoint, epochs, batch, rate, save):
    import horovod.torch as hvd

    optimizer = torch.optim.SGD(model.parameters(), lr=rate * hvd.size(), momentum=0.9)

    optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
    if checkpoint:
        model.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(checkpoint.pop("optimizer"))
    hvd.broadcast_parameters(model.state_dict(), root_rank=0)
    hvd.broadcast_optimizer_state(optimizer, root_rank=0)
    sampler = DistributedSampler(dataset, num_replicas=hvd.size(), rank=hvd.rank())
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for x, y in DataLoader(dataset, batch, sampler=sampler):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
    if hvd.rank() == 0:
        save({"model": model.state_dict(), "optimizer": optimizer.state_dict()})
    return model
