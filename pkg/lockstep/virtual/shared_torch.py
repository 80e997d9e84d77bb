"""What torch keeps once in a process although it belongs to a rank. Private API of torch, for 2.13 to 2.15.

loss_parallel    exchanges handlers in DTensor's one table when it is entered and takes them out when it is left: the
                 first rank to leave would take them from all others
torch.compile    looks into each Python function that runs while it does, and so into the clock, where it got lost
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch._C._dynamo import eval_frame
from torch.distributed.tensor.parallel import loss


def count_loss_parallel() -> None:
    """Keep the handlers of ``loss_parallel`` until the last rank has left it."""
    enable: Callable[[], None] = loss._enable_custom_loss_ops
    disable: Callable[[], None] = loss._disable_custom_loss_ops
    inside = [0]

    def enter() -> None:
        inside[0] += 1
        enable()

    def leave() -> None:
        inside[0] -= 1
        if not inside[0]:
            disable()

    setattr(loss, "_enable_custom_loss_ops", enter)  # noqa: B010
    setattr(loss, "_disable_custom_loss_ops", leave)  # noqa: B010


def hide_from_compiler(*functions: Any) -> None:
    """Let torch.compile pass over these functions and all that they call."""
    if not hasattr(eval_frame, "set_code_exec_strategy"):
        return
    skip = eval_frame._FrameAction.SKIP
    for function in functions:
        eval_frame.set_code_exec_strategy(function.__code__, eval_frame._FrameExecStrategy(skip, skip))
