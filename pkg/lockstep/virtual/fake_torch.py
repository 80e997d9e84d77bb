"""Where torch must behave differently in a process whose ranks have no data. Private API, torch 2.13 to 2.15.

Operations with data
    Meshes, object collectives, DDP's agreement on shapes and buckets and the votes of a pipeline's stages need real
    numbers: they run outside the fake mode. (Floating tensors made by ``empty`` are fake even so, see FakeClock: they
    are DDP's buckets.)

DTensor
    finds the global shape of a result by running the operation under the fake mode in force, or under one of its own
    if there is none. Here it finds none, so that the clock can tell this query from the rank's own work.

fully_shard
    compares addresses to see whether a parameter is still the one that it has padded. Here: storages.

Gradient clipping
    takes all gradients in one operation if it knows their types: the fake type is added.

Functional collectives
    take a fake mode for tracing, and would wait at once. Here they overlap as usual.

Devices
    A virtual rank has one device, that of its cluster, which torch knows as "cpu". A program that writes "cuda" (or
    "mps", or "xpu") means it: tensors created or moved there are on it, and a move costs nothing. Otherwise torch would
    take the path without fused kernels, or abort in the first backward pass where it was built without CUDA. The "meta"
    device is left alone: shapes without memory.

    Module.to, .half, .to_empty and the like give each parameter new content. With data they set ``.data``; fake tensors
    torch would swap, which their mode's weak references forbid. Here ``.data`` is set for them as well.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist
from torch._subclasses.fake_tensor import FakeTensor, unset_fake_temporarily
from torch.distributed import _functional_collectives, device_mesh, distributed_c10d
from torch.distributed.fsdp._fully_shard import _fsdp_init
from torch.distributed.fsdp._fully_shard._fsdp_param import FSDPParam
from torch.distributed.pipelining import schedules
from torch.distributed.tensor import _collective_utils, _sharding_prop
from torch.nn.parallel import distributed as ddp
from torch.utils import _foreach_utils

OBJECT_COLLECTIVES = (
    "all_gather_object", "gather_object", "broadcast_object_list", "scatter_object_list",
    "send_object_list", "recv_object_list",
)  # fmt: skip

WITH_DATA: tuple[tuple[Any, str], ...] = (
    *((owner, name) for owner in (dist, distributed_c10d) for name in OBJECT_COLLECTIVES),
    (device_mesh.DeviceMesh, "__init__"),
    (device_mesh.DeviceMesh, "_flatten"),
    (device_mesh.DeviceMesh, "_unflatten"),
    (torch._C._distributed_c10d.Reducer, "_rebuild_buckets"),
    (ddp, "_verify_param_shape_across_processes"),
    (schedules._PipelineSchedule, "_warmup_p2p"),  # 2.13
    (schedules._PipelineSchedule, "_initialize_pipeline_distributed_state"),  # 2.15
)


def install() -> None:
    """Once in a process."""
    place_on_the_one_device()
    for owner, name in WITH_DATA:
        if hasattr(owner, name):
            setattr(owner, name, outside_fake_mode(getattr(owner, name)))
    make_meshes_with_data()
    for module in (_functional_collectives, _collective_utils):
        setattr(module, "_are_we_tracing", lambda: False)  # noqa: B010
    setattr(_sharding_prop, "detect_fake_mode", lambda *_: None)  # noqa: B010
    if FakeTensor not in _foreach_utils._foreach_supported_types:
        _foreach_utils._foreach_supported_types.append(FakeTensor)
    setattr(FSDPParam, "reset_sharded_param", unless_the_same(FSDPParam.reset_sharded_param))  # noqa: B010


def make_meshes_with_data() -> None:
    mesh: Any = device_mesh.DeviceMesh
    for owner, name in ((device_mesh, "init_device_mesh"), (_fsdp_init, "_get_post_forward_mesh_info")):
        if hasattr(owner, name):
            replace(getattr(owner, name))
    setattr(mesh, "from_group", staticmethod(outside_fake_mode(mesh.from_group)))  # noqa: B010
    if (numbers := getattr(vars(mesh).get("mesh"), "fget", None)) is not None:  # an attribute in older releases
        setattr(mesh, "mesh", property(outside_fake_mode(numbers)))  # noqa: B010


def replace(function: Callable[..., Any]) -> None:
    """Replace a function in every module that has imported it, as ``fully_shard`` has."""
    for module in list(sys.modules.values()):
        if vars(module).get(function.__name__) is function:
            setattr(module, function.__name__, outside_fake_mode(function))


def outside_fake_mode(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        with unset_fake_temporarily():
            return function(*args, **kwargs)

    return call


def unless_the_same(reset: Callable[[Any], None]) -> Callable[[Any], None]:
    @functools.wraps(reset)
    def call(of: Any) -> None:
        now = getattr(of._module_info.module, of._module_info.param_name)
        if now is not of.sharded_param or not share_storage(now._local_tensor, of._sharded_param_data):
            reset(of)

    return call


def share_storage(a: torch.Tensor, b: torch.Tensor) -> bool:
    return bool(a.untyped_storage()._cdata == b.untyped_storage()._cdata)


HERE = torch.device("cpu")
KNOWN = ("cpu", "meta")


def here(device: Any) -> Any:
    """The rank's device in place of any other one but "meta". An integer is the index of a GPU; what is no device is
    returned unchanged."""
    if isinstance(device, bool) or not isinstance(device, int | str | torch.device):
        return device
    if isinstance(device, int):
        return HERE
    return device if torch.device(device).type in KNOWN else HERE


def to(tensor: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
    if "device" in kwargs:
        kwargs["device"] = here(kwargs["device"])
    return torch.Tensor.to(tensor, *(here(a) for a in args[:1]), *args[1:], **kwargs)


def stay(tensor: torch.Tensor, *_: Any, **__: Any) -> torch.Tensor:
    return tensor


def place_on_the_one_device() -> None:
    """Let "cuda" mean the rank's device, and give parameters their new content by ``.data``."""
    for name, method in {"to": to, "cuda": stay, "xpu": stay}.items():
        setattr(FakeTensor, name, method)
    swap = torch.utils.swap_tensors

    def give_content(a: torch.Tensor, b: torch.Tensor) -> None:
        """Give ``a`` the content of ``b``, which is not used any more."""
        if not isinstance(a, FakeTensor):
            swap(a, b)  # type: ignore[no-untyped-call]
        elif torch._has_compatible_shallow_copy_type(a, b):
            a.data = b
        else:  # to "meta", or from there
            a.__dict__, b.__dict__ = b.__dict__, a.__dict__
            torch._C._swap_tensor_impl(a, b)

    setattr(torch.utils, "swap_tensors", give_content)  # noqa: B010
