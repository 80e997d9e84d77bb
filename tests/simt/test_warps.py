"""What a warp does as one: shuffles, votes, divergence, and the counts that theory gives."""

import re

import numpy as np
import pytest
from numba import cuda, float32, float64, int32

from lockstep.simt import launch
from lockstep.simt.profile import WIDE

FULL = 0xFFFFFFFF
LANE = np.arange(32)


def shuffles(a, out):
    i = cuda.grid(1)
    out[0, i] = cuda.shfl_sync(FULL, a[i], 5)
    out[1, i] = cuda.shfl_up_sync(FULL, a[i], 3)
    out[2, i] = cuda.shfl_down_sync(FULL, a[i], 3)
    out[3, i] = cuda.shfl_xor_sync(FULL, a[i], 1)
    out[4, i] = cuda.shfl_sync(FULL, a[i], (cuda.laneid + 1) % cuda.warpsize)


def test_lanes_read_one_another() -> None:
    a, out = np.arange(100, 132, dtype=np.int32), np.zeros((5, 32), np.int32)
    assert launch(shuffles, 1, 32, a, out).findings == ()
    assert (out[0] == 105).all()
    assert (out[1] == np.where(LANE < 3, a, a - 3)).all()
    assert (out[2] == np.where(LANE < 29, a + 3, a)).all()
    assert (out[3] == 100 + (LANE ^ 1)).all()
    assert (out[4] == np.roll(a, -1)).all()


def votes(a, out):
    i = cuda.grid(1)
    odd = a[i] % 2 == 1
    out[0, i] = cuda.ballot_sync(FULL, odd)
    out[1, i] = cuda.any_sync(FULL, a[i] > 30)
    out[2, i] = cuda.all_sync(FULL, a[i] > 30)
    out[3, i] = cuda.eq_sync(FULL, a[i] < 99)
    out[4, i] = cuda.match_any_sync(FULL, a[i] // 16)
    mask, same = cuda.match_all_sync(FULL, a[i] // 32)
    out[5, i] = mask
    out[6, i] = same
    out[7, i] = cuda.popc(cuda.ballot_sync(FULL, odd) & cuda.lanemask_lt())
    if odd:
        out[8, i] = cuda.activemask()


def test_warps_vote() -> None:
    out = np.zeros((9, 32), np.int64)
    launch(votes, 1, 32, np.arange(32), out)
    assert set(out[0]) == {0xAAAAAAAA}
    assert out[1:4, 0].tolist() == [1, 0, 1]
    assert out[4].tolist() == [0x0000FFFF] * 16 + [0xFFFF0000] * 16
    assert out[5:7, 0].tolist() == [FULL, 1]
    assert (out[7] == LANE // 2).all()
    assert out[8].tolist() == [0, 0xAAAAAAAA] * 16


def bits(a, out):
    i = cuda.grid(1)
    out[0, i] = cuda.popc(a[i])
    out[1, i] = cuda.clz(a[i])
    out[2, i] = cuda.ffs(a[i])
    out[3, i] = cuda.brev(a[i])
    out[4, i] = cuda.selp(a[i] > 7, 1, 2)
    out[5, i] = cuda.fma(a[i], a[i], 1)


def test_bits_are_counted() -> None:
    a, out = np.arange(32, dtype=np.int32), np.zeros((6, 32), np.int64)
    launch(bits, 1, 32, a, out)
    assert out[0].tolist() == [bin(x).count("1") for x in a]
    assert out[1].tolist() == [32 - int(x).bit_length() for x in a]
    assert out[2].tolist() == [(int(x) & -int(x)).bit_length() for x in a]
    assert (out[3] & FULL).tolist() == [int(f"{x:032b}"[::-1], 2) for x in a]
    assert out[4].tolist() == [2] * 8 + [1] * 24
    assert (out[5] == a * a + 1).all()


def atomics(a, out, old):
    i = cuda.grid(1)
    old[i] = cuda.atomic.add(out, 0, 1)
    cuda.atomic.sub(out, 1, 2)
    cuda.atomic.max(out, 2, a[i])
    cuda.atomic.min(out, 3, a[i])
    cuda.atomic.or_(out, 4, 1 << (i % 8))
    cuda.atomic.xor(out, 5, i)
    cuda.atomic.inc(out, 6, 9)
    cuda.atomic.cas(out, 7, 0, i + 1)
    cuda.atomic.exch(out, 8, i)
    cuda.atomic.and_(out, 9, 7)


def test_atomics_lose_nothing() -> None:
    a = np.random.default_rng(0).permutation(64)
    out, old = np.zeros(10, np.int64), np.zeros(64, np.int64)
    out[9] = 15
    found = launch(atomics, 2, 32, a, out, old)
    assert found.findings == ()
    assert out.tolist() == [64, -128, 63, 0, 255, 0, 64 % 10, 1, 63, 7]
    assert sorted(old) == list(range(64))
    assert found.line("atomic.add").atomics == 64
    assert found.line("atomic.add").atomic_passes == 64  # all at one address
    assert found.line("atomic.max").global_requests == 4  # two loads and two atomics


def strided(a, out, stride):
    i = cuda.grid(1)
    out[i] = a[i * stride]


@pytest.mark.parametrize(("stride", "sectors"), [(1, 4), (2, 8), (4, 16), (8, 32)])
def test_the_sectors_of_a_stride(stride: int, sectors: int) -> None:
    a, out = np.zeros(1024, np.float32), np.zeros(32, np.float32)
    line = launch(strided, 1, 32, a, out, stride).line("a[i * stride]")
    assert (line.global_requests, line.sectors) == (2, sectors + 4)
    assert line.global_bytes == 256
    assert line.bus_efficiency == 256 / (32 * (sectors + 4))


def test_a_view_that_begins_off_a_line_needs_a_sector_more() -> None:
    a, out = np.zeros(1024, np.float32), np.zeros(32, np.float32)
    assert launch(strided, 1, 32, a[1:], out, 1).line("stride]").sectors == 5 + 4
    assert launch(strided, 1, 32, a[8:], out, 1).line("stride]").cache_lines == 2 + 1
    a[:] = np.arange(1024)
    launch(strided, 1, 32, a[::-2], out, 2)
    assert (out == a[::-2][: 2 * 32 : 2]).all()


def two_ways(out):
    i = cuda.threadIdx.x
    if i % 2 == 0:
        out[i] = 1.0
    else:
        out[i] = 2.0


def by_warps(out):
    i = cuda.threadIdx.x
    if i < 32:
        out[i] = 1.0
    else:
        out[i] = 2.0


def test_divergence_costs_both_ways_and_agreement_one() -> None:
    apart, together = (launch(kernel, 1, 64, np.zeros(64)) for kernel in (two_ways, by_warps))
    for text in ("= 1.0", "= 2.0"):
        assert (apart.line(text).instructions, apart.line(text).lane_efficiency) == (2, 0.5)
        assert (together.line(text).instructions, together.line(text).lane_efficiency) == (1, 1.0)
    assert (apart.line("if i").divergences, together.line("if i").divergences) == (2, 0)
    stores = [sum(line.instructions for line in run.lines if "out[i]" in line.text) for run in (apart, together)]
    assert stores == [4, 2]


def longest_lane(out):
    i = cuda.threadIdx.x
    count = 0
    while count < i:
        count += 1
    out[i] = count


def test_a_warp_turns_until_its_last_lane_is_done() -> None:
    found = launch(longest_lane, 1, 32, np.zeros(32, np.int64))
    assert found.line("count += 1").instructions == 31
    assert found.line("count += 1").lanes == sum(range(32))


def double(a, out):
    i = cuda.grid(1)
    out[i] = a[i] * 2.0 + float64(1)


def single(a, out):
    i = cuda.grid(1)
    out[i] = a[i] * float32(2.0) + float32(1)


def test_a_literal_makes_double_precision_and_is_counted() -> None:
    a, out = np.ones(32, np.float32), np.ones(32, np.float32)
    assert launch(double, 1, 32, a, out).line("2.0").double_precision == 3
    assert launch(single, 1, 32, a, out).line("2.0").double_precision == 0


def column(out):
    s = cuda.shared.array((32, 32), float32)
    t = cuda.threadIdx.x
    s[t, 0] = t
    out[t] = s[t, 0]


def padded_column(out):
    s = cuda.shared.array((32, 33), float32)
    t = cuda.threadIdx.x
    s[t, 0] = t
    out[t] = s[t, 0]


def test_a_column_of_a_tile_is_32_wavefronts_and_a_padded_one() -> None:
    for kernel, waves in ((column, 32), (padded_column, 1)):
        found = launch(kernel, 1, 32, np.zeros(32, np.float32))
        assert found.line("s[t, 0] = t").wavefronts == waves
        assert found.line("out[t] =").wavefronts == waves
        assert found.total().shared_requests == 2


def three_axes(out):
    tile = cuda.local.array((2, 2), int32)
    x, y, z = cuda.grid(3)
    tile[x % 2, y % 2] = z
    out[x, y, z] = tile[x % 2, y % 2]


def test_threads_of_a_block_fill_warps_along_x_first() -> None:
    out = np.full((6, 4, 4), -1)
    found = launch(three_axes, (2, 1, 2), (3, 4, 2), out)
    assert (out == np.arange(4)).all()
    assert found.line("x, y, z = ").instructions == 4
    assert found.line("x, y, z = ").lanes == 4 * 24  # 24 threads: one warp with 8 lanes switched off


def test_one_warp_is_recorded_step_by_step() -> None:
    a, out = np.zeros(1024, np.float32), np.zeros(128, np.float32)
    steps = launch(strided, 2, 64, a, out, 2, record=(1, 1)).steps
    assert [step.space for step in steps] == ["", "", "global", "global"]
    assert all(step.mask == FULL for step in steps)
    loaded = np.array(steps[2].addresses)
    assert steps[2].array == "a"
    assert (np.diff(loaded) == 8).all()
    assert loaded[0] % 256 == 96 * 2 * 4 % 256
    assert launch(strided, 2, 64, a, out, 2).steps == ()


def test_the_table_shows_source_counts_and_findings() -> None:
    """Two warps: a product, a load and a store each. The second warp's loads are all outside: they move nothing."""
    text = launch(strided, 1, 64, np.zeros(64, np.float32), np.zeros(64, np.float32), 2).table()
    row = next(line for line in text.splitlines() if "out[i] = a[i * stride]" in line)
    assert row.split()[:4] == ["6", "100%", "3", "5.33"]  # instructions, lanes, requests, (8 + 4 + 4) / 3 sectors
    assert "out_of_bounds: Line" in text
    assert text.split("\n")[0].split() == ["instr", "lanes", "glob.req", "sect/req"]


def with_a_long_line(values, source_of_all_threads, target_of_all_threads):
    i = cuda.grid(1)
    if i < values.size:
        target_of_all_threads[i] = source_of_all_threads[i] + source_of_all_threads[(i + 1) % values.size]


def test_a_long_line_goes_on_below_itself_and_the_table_stays_a_table() -> None:
    """At 88 columns JupyterLab broke it inside a word, at the left edge."""
    arrays = [np.zeros(64, np.float32) for _ in range(3)]
    lines = launch(with_a_long_line, 1, 64, *arrays).table().splitlines()
    assert max(map(len, lines)) <= WIDE
    place = next(n for n, line in enumerate(lines) if "target_of_all_threads[i] =" in line)
    column = lines[place].index("target_of_all_threads")
    below = lines[place + 1 : -1]  # the last row is the total
    assert {line[:column].strip() for line in below} == {""}
    told = " ".join([lines[place][column:], *map(str.strip, below)])
    assert told.endswith("source_of_all_threads[i] + source_of_all_threads[(i + 1) % values.size]")


def test_a_notebook_that_displays_the_table_keeps_its_columns() -> None:
    """At 960 pixels, each printed row stood in two or three lines, and "values[i] = 3 * values[i] + 1" below counts."""
    arrays = [np.zeros(64, np.float32) for _ in range(3)]
    told = launch(with_a_long_line, 1, 64, *arrays).table()
    page = told._repr_html_()
    rows = re.findall(r"<tr>(.*?)</tr>", page)
    assert len({row.count("<td") + row.count("<th") for row in rows}) == 1
    assert "    if i &lt; values.size:</td>" in page
    assert "glob.<wbr>req" in rows[0]
    assert repr(told) == str(told)
    outside = launch(strided, 1, 64, np.zeros(64, np.float32), np.zeros(64, np.float32), 2).table()
    assert "out_of_bounds: Line" in outside._repr_html_()


def nothing(a):
    pass


def test_a_kernel_that_does_nothing_has_a_table() -> None:
    assert launch(nothing, 1, 1, np.zeros(1)).table().splitlines()[-1].strip() == "total"
