"""All gradients of a step travel in one vector, after its backward pass."""

import horovod.torch as hvd
import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


def distribute(model, dataset, checkpoint, epochs, batch, rate, save):
    hvd.init()
    optimizer = torch.optim.SGD(model.parameters(), lr=rate * hvd.size(), momentum=0.9)
    if checkpoint:
        model.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(checkpoint["optimizer"])
    hvd.broadcast_parameters(model.state_dict(), 0)
    hvd.broadcast_optimizer_state(optimizer, 0)
    sampler = DistributedSampler(dataset, hvd.size(), hvd.rank(), seed=7)
    batches = DataLoader(dataset, batch, sampler=sampler)
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for number, (x, y) in enumerate(batches):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x), y)
            loss.backward()
            learned = [p for p in model.parameters() if p.requires_grad]
            mean = hvd.allreduce(torch.cat([p.grad.flatten() for p in learned]), name="gradients")
            for p, grad in zip(learned, mean.split([p.numel() for p in learned])):
                p.grad = grad.view_as(p)
            optimizer.step()
            hvd.allreduce(loss.detach(), name="loss")
    if hvd.rank() == 0:
        save({"model": model.state_dict(), "optimizer": optimizer.state_dict()})
    return model
