"""Training steps whose memory can be worked out by hand. Every tensor is float32: 4 bytes."""

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
from torch.nn.parallel import DistributedDataParallel
from torch.utils.checkpoint import checkpoint

B, D, H = 32, 64, 256  # batch, width of input and output, width of the hidden layer


def mlp() -> nn.Sequential:
    return nn.Sequential(nn.Linear(D, H, bias=False), nn.ReLU(), nn.Linear(H, D, bias=False))


def steps(model, optimizer, n=2):
    for _ in range(n):
        model(torch.ones(B, D)).sum().backward()
        optimizer.step()
        optimizer.zero_grad()


def momentum():
    model = mlp()
    steps(model, torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9))


def adam():
    model = mlp()
    steps(model, torch.optim.Adam(model.parameters()))


def by_hand():
    """No optimizer: p -= lr * p.grad."""
    model = mlp()
    for _ in range(2):
        model(torch.ones(B, D)).sum().backward()
        with torch.no_grad():
            for p in model.parameters():
                p -= 0.1 * p.grad
                p.grad = None


def ddp():
    model = DistributedDataParallel(mlp())
    steps(model, torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9), 3)


def sharded():
    mesh = dist.init_device_mesh("cpu", (dist.get_world_size(),))
    model = mlp()
    for layer in (model[0], model[2]):
        fully_shard(layer, mesh=mesh)
    fully_shard(model, mesh=mesh)
    steps(model, torch.optim.Adam(model.parameters()))


def deep(checkpointed=False):
    """Eight blocks; with checkpoints only their inputs are kept."""
    blocks = [mlp() for _ in range(8)]
    x = torch.ones(B, D)
    for block in blocks:
        x = checkpoint(block, x, use_reentrant=False) if checkpointed else block(x)
    x.sum().backward()


def checkpointed():
    deep(checkpointed=True)


def tensor_parallel():
    mesh = dist.init_device_mesh("cpu", (dist.get_world_size(),))
    model = parallelize_module(mlp(), mesh, {"0": ColwiseParallel(), "2": RowwiseParallel()})
    model(torch.ones(B, D)).sum().backward()


def normalized():
    """A module's buffers are buffers, though its operations are recorded."""
    model = nn.Sequential(nn.Linear(D, H), nn.BatchNorm1d(H))
    model(torch.ones(B, D)).sum().backward()


def inference():
    with torch.no_grad():
        mlp()(torch.ones(B, D))


class SumOfExp(torch.autograd.Function):
    """Keeps what it has made inside and gives to nobody."""

    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y.sum()

    @staticmethod
    def backward(ctx, gradient):
        (y,) = ctx.saved_tensors
        return gradient * y


def custom():
    layer = nn.Linear(D, H, bias=False)
    SumOfExp.apply(layer(torch.ones(B, D))).backward()


def left_behind():
    """Gradients that no .grad holds."""
    layer = nn.Linear(D, H, bias=False)
    (gradient,) = torch.autograd.grad(layer(torch.ones(B, D)).sum(), [layer.weight])
    return gradient.sum()


def pipeline():
    """Two stages: the second one's input is a leaf that requires grad, and its gradient goes back."""
    if dist.get_rank() == 0:
        y = nn.Linear(D, H, bias=False)(torch.ones(B, D))
        dist.send(y.detach(), 1)
        gradient = torch.empty(B, H)
        dist.recv(gradient, 1)
        y.backward(gradient)
    else:
        x = torch.empty(B, H)
        dist.recv(x, 0)
        x.requires_grad_()
        nn.Linear(H, D, bias=False)(x).sum().backward()
        dist.send(x.grad, 0)
