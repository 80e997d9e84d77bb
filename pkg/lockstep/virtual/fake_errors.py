"""What a learner reads when a fake run meets a line that needs data."""

from __future__ import annotations

from torch._subclasses.fake_tensor import DataDependentOutputException, DynamicOutputShapeException

from lockstep.errors import LockstepError


class NeedsData(LockstepError):
    """A line asked a tensor of a fake run for its values."""

    remedy = (
        "Take the line out, or decide by shapes and ranks; or run it with data: without fake=True, at a small size."
    )


def explained(error: BaseException) -> BaseException:
    """``error``, or what it means in a fake run; its traceback still ends at the learner's line."""
    told = sentence(error)
    return NeedsData(told).with_traceback(error.__traceback__) if told else error


def sentence(error: BaseException) -> str:
    if isinstance(error, DataDependentOutputException):
        name = str(error.func).split(".")[1]
        how = f"torch.{name}" if name != "_local_scalar_dense" else "an `if`, .item(), .tolist(), float() or the like"
        return f"this line needs a tensor's value ({how}), and in a fake run tensors have shapes only."
    if isinstance(error, DynamicOutputShapeException):
        return (
            f"the shape of this result depends on data ({str(error.func).split('.')[1]}: a mask as an index, nonzero, "
            "unique or the like), and in a fake run tensors have shapes only."
        )
    if "not supported for tensor subclasses" in str(error) or "FakeTensor.__format__" in str(error):
        how = ".numpy() or a format like {x:.3f}"
        return f"this line needs a tensor's value ({how}), and in a fake run tensors have shapes only."
    return ""
