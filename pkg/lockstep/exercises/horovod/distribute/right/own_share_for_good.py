"""Each rank keeps its share, and shuffles within it. The checkpoint is loaded before the optimizer is wrapped."""

import horovod.torch as hvd
import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, Subset


def distribute(model, dataset, checkpoint, epochs, batch, rate, save):
    hvd.init()
    mine = Subset(dataset, range(hvd.rank(), len(dataset), hvd.size()))
    optimizer = torch.optim.SGD(model.parameters(), lr=rate * hvd.size(), momentum=0.9)
    if hvd.rank() == 0 and checkpoint is not None:
        model.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(checkpoint["optimizer"])
    model = hvd.broadcast_object(model, root_rank=0)
    momentum = hvd.broadcast_object(optimizer.state_dict(), root_rank=0)
    optimizer = torch.optim.SGD(model.parameters(), lr=rate * hvd.size(), momentum=0.9)
    optimizer = hvd.DistributedOptimizer(optimizer, model.named_parameters(), op=hvd.Sum)
    optimizer.load_state_dict(momentum)
    for _ in range(epochs):
        for x, y in DataLoader(mine, batch_size=batch, shuffle=True):
            (F.mse_loss(model(x), y) / hvd.size()).backward()
            optimizer.step()
            optimizer.zero_grad()
    if not hvd.rank():
        save(dict(model=model.state_dict(), optimizer=optimizer.state_dict()))
    return model
