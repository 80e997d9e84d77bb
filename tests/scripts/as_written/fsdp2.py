"""In the style of pytorch/examples' FSDP2: a mesh, meta initialisation, mixed precision, a sharded checkpoint."""

import argparse
import os

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
import torch.nn as nn
from torch.distributed.checkpoint.state_dict import get_model_state_dict
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FSDPModule, MixedPrecisionPolicy, fully_shard
from torch.distributed.tensor import DTensor


def main(args):
    device_type = torch.accelerator.current_accelerator().type if torch.accelerator.is_available() else "cpu"
    dist.init_process_group(backend=torch.distributed.get_default_backend_for_device(device_type))
    world = dist.get_world_size()
    mesh = init_device_mesh(device_type, (2, world // 2), mesh_dim_names=("replicate", "shard"))
    torch.manual_seed(0)
    with torch.device("meta"):
        model = nn.Sequential(*(nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 32)) for _ in range(3)))
    kwargs = {"mesh": mesh}
    if args.mixed_precision:
        kwargs["mp_policy"] = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    for layer in model:
        fully_shard(layer, **kwargs)
    fully_shard(model, **kwargs)
    model.to_empty(device=device_type)
    for module in model.modules():
        if isinstance(module, nn.Linear):
            module.reset_parameters()
    assert isinstance(model, FSDPModule)
    assert all(isinstance(p, DTensor) for p in model.parameters())
    optim = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(args.steps):
        if args.explicit_prefetching:
            model.unshard()
        loss = model(torch.rand(8, 32, device=device_type)).sum()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
        optim.step()
        optim.zero_grad()
    dcp.save(get_model_state_dict(model), checkpoint_id=args.checkpoint)
    print(f"[rank {os.environ['RANK']}] saved, loss {loss.item():.4f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="PyTorch FSDP2 example")
    parser.add_argument("--explicit-prefetching", action="store_true", default=False)
    parser.add_argument("--mixed-precision", action="store_true", default=False)
    parser.add_argument("--steps", type=int, default=2)
    parser.add_argument("--checkpoint", default="checkpoint")
    main(parser.parse_args())
