"""The gradients are averaged by hand, and rank 0's weights and momentum travel as an object."""

import horovod.torch as hvd
import torch
import torch.nn.functional as F


def distribute(model, dataset, checkpoint, epochs, batch, rate, save):
    optimizer = torch.optim.SGD(model.parameters(), lr=hvd.size() * rate, momentum=0.9)
    checkpoint = hvd.broadcast_object(checkpoint or {"model": model.state_dict(), "optimizer": None}, root_rank=0)
    model.load_state_dict(checkpoint["model"])
    if checkpoint["optimizer"]:
        optimizer.load_state_dict(checkpoint["optimizer"])
    for epoch in range(epochs):
        order = torch.randperm(len(dataset), generator=torch.Generator().manual_seed(epoch))
        for step in order.split(batch * hvd.size()):
            x, y = dataset[step[hvd.rank() :: hvd.size()]]
            optimizer.zero_grad()
            F.mse_loss(model(x), y).backward()
            grads = [p.grad for p in model.parameters() if p.grad is not None]
            for grad, mean in zip(grads, hvd.grouped_allreduce(grads, op=hvd.Average)):
                grad.copy_(mean)
            optimizer.step()
    if hvd.rank() == 0:
        save({"model": model.state_dict(), "optimizer": optimizer.state_dict()})
    return model
