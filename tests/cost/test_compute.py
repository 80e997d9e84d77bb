"""The roofline: the slower of computing and loading, plus the launch."""

import pytest

from lockstep.cost.operations import op_time, ridge_point
from lockstep.machines import Device, find

DEVICE = Device("toy", {"float32": 1e12, "bfloat16": 4e12}, 1e11, 10**9, 1e-6)


@pytest.mark.parametrize(
    ("flops", "nbytes", "dtype", "seconds"),
    [
        (0, 0, "float32", 1e-6),
        (1e12, 1e10, "float32", 1.0 + 1e-6),
        (1e12, 1e12, "float32", 10.0 + 1e-6),
        (4e12, 0, "torch.bfloat16", 1.0 + 1e-6),
    ],
)
def test_the_slower_of_the_two_decides(flops: float, nbytes: float, dtype: str, seconds: float) -> None:
    assert op_time(DEVICE, flops, nbytes, dtype) == pytest.approx(seconds)


def test_at_the_ridge_both_take_the_same_time() -> None:
    device = find("dgx-a100").device
    ridge = ridge_point(device, "bfloat16")
    assert ridge == pytest.approx(312e12 / 2.039e12)
    assert op_time(device, ridge * 10**9, 10**9, "bfloat16") == pytest.approx(op_time(device, 0, 10**9, "bfloat16"))
