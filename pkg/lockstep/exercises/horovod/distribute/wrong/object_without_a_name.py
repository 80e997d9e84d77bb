"""The learner thought: broadcast_object needs no name."""

import torch
import torch.nn.functional as F

MISCONCEPTION = "crashed:Deadlock"


def distribute(model, dataset, checkpoint, epochs, batch, rate, save):
    import horovod.torch as hvd

    rank, size = hvd.rank(), hvd.size()
    checkpoint = hvd.broadcast_object(checkpoint, root_rank=0)
    optimizer = torch.optim.SGD([p for p in model.parameters()], lr=rate * size, momentum=0.9)
    if checkpoint:
        model.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(checkpoint["optimizer"])
    else:
        hvd.broadcast_parameters(model.state_dict(), root_rank=0)
    trained = [p for p in model.parameters() if p.requires_grad]
    for epoch in range(epochs):
        order = torch.randperm(len(dataset), generator=torch.Generator().manual_seed(1000 + epoch)).tolist()
        mine = order[rank * len(order) // size : (rank + 1) * len(order) // size]
        for begin in range(0, len(mine), batch):
            examples = [dataset[i] for i in mine[begin : begin + batch]]
            x, y = torch.stack([e[0] for e in examples]), torch.stack([e[1] for e in examples])
            optimizer.zero_grad()
            F.mse_loss(model(x), y).backward()
            for p, mean in zip(trained, hvd.grouped_allreduce([p.grad for p in trained], op=hvd.Average)):
                p.grad.copy_(mean)
            optimizer.step()
    if rank == 0:
        save({"model": model.state_dict(), "optimizer": optimizer.state_dict()})
    return model
