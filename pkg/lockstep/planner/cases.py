"""Published steps, as jobs with a plan: what the planner is calibrated on, and what it is held against.

What a table leaves out (recomputation, micro-batches, virtual stages) is left open here, and searched. FLOP/s are
turned into seconds by the convention of their source:

    SC21, January 2021, V100s, FSDP     96·B·s·l·h²·(1 + s/6h + V/16lh): hardware FLOP, recomputed ones included
    Korthikanti, torchtitan, Bridge     seconds or tokens a second as published
    Llama 3                             6·N + 6·l·h·s a token, N without embeddings: as Meta's Lingua counts (not stated
                                        there)
    ZeRO                                SC21's formula with its vocabulary (not stated there)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from lockstep.planner import clusters, models, stacks
from lockstep.planner.clusters import Cluster
from lockstep.planner.models import Model
from lockstep.planner.plans import Job
from lockstep.planner.stacks import Stack
from lockstep.tables import published

Fixed = dict[str, int | str | bool]  # as ``search``'s


@dataclass(frozen=True)
class Case:
    """One published step. ``tokens_per_second``: of one GPU. ``part``: "calibration", "other releases", "held back"."""

    table: str
    row: str
    job: Job
    fixed: Fixed
    stack: Stack
    tokens_per_second: float
    part: str
    series: str = ""  # of a figure, within which plans compete
    regression: bool = False  # the source names it as slower than it should be

    @property
    def mixture(self) -> bool:
        return bool(self.job.model.experts)


def everything() -> list[Case]:
    """All published steps that can be compared."""
    return [case for table in TABLES.values() for case in table()]


def gpt(layers: int, hidden: int, heads: int, seq: int = 2048, vocab: int = 51200) -> Model:
    return Model("GPT", layers, hidden, heads, learned_positions=seq, tied=1, seq=seq, vocab=vocab)


def a100(gpus: int) -> Cluster:
    return clusters.sized(clusters.CLUSTERS["dgx-a100"], gpus)


def hardware_flops(m: Model, batch: int, recomputed: bool = True) -> float:
    """Narayanan et al., arXiv:2104.04473, equation 3; 72 instead of 96 where nothing is recomputed."""
    s, l, h, V = m.seq, m.layers, m.hidden, m.vocab  # noqa: E741
    return (96 if recomputed else 72) * batch * s * l * h * h * (1 + s / (6 * h) + V / (16 * l * h))


def from_flops(job: Job, teraflops: float, flops: float) -> float:
    """Tokens a second of a GPU, of a step of ``flops`` FLOP."""
    return job.tokens * teraflops * 1e12 / flops


# ---- Megatron-LM


def _sc21_table1() -> Iterator[Case]:
    for r in published("planner", "megatron_sc21_table1.csv"):
        job = Job(
            gpt(int(r["layers"]), int(r["hidden"]), int(r["heads"])), a100(int(r["gpus"])), int(r["global_batch"])
        )
        fixed: Fixed = {
            "tp": int(r["TP"]), "pp": int(r["PP"]), "vp": int(r["virtual_stages_derived"]), "zero": 0,
            "micro_batch": int(r["micro_batch"]), "recompute": "full", "sequence_parallel": False,
        }  # fmt: skip
        rate = from_flops(job, float(r["tflops_per_gpu"]), hardware_flops(job.model, job.batch))
        yield Case("megatron_sc21_table1", f"{r['params_B']}B", job, fixed, _megatron(), rate, "calibration")


def _korthikanti() -> Iterator[Case]:
    for r in published("tensor_parallel", "korthikanti_table3_5_iteration_times.csv"):
        job = Job(
            gpt(int(r["layers"]), int(r["hidden"]), int(r["heads"])), a100(int(r["gpus"])), int(r["global_batch"])
        )
        for column, recompute in (("iter_s_full_recompute", "full"), ("iter_s_seqpar_selective", "selective")):
            if r[column]:
                fixed: Fixed = {
                    "tp": int(r["TP"]), "pp": int(r["PP"]), "vp": int(r["interleave_m"]), "zero": 0,
                    "micro_batch": int(r["micro_batch"]), "recompute": recompute,
                    "sequence_parallel": recompute == "selective",
                }  # fmt: skip
                rate = job.tokens / float(r[column]) / job.cluster.gpus
                row = f"{r['model']} dp={r['DP']} {recompute}"
                yield Case("korthikanti_table3_5", row, job, fixed, stacks.STACKS["megatron-2022"], rate, "calibration")


def _megatron(**changed: object) -> Stack:
    return replace(stacks.STACKS["megatron-2021"], **changed)  # type: ignore[arg-type]


def _sc21_figures() -> Iterator[Case]:
    for r in published("planner", "megatron_sc21_figs11_18_digitized.csv"):
        yield _of_figure(r)


def _of_figure(r: Mapping[str, str]) -> Case:
    figure, x, series, y = int(r["figure"]), r["x"], r["series"], float(r["y"])
    first, second = (int(n) for n in (f"{x};0").split(";")[:2])
    batch = int(series.partition("=")[2] or 0)
    fixed: Fixed = {
        "vp": 1, "zero": 0, "micro_batch": 1, "recompute": "full", "sequence_parallel": False,
    }  # fmt: skip
    stack = _megatron()
    if figure == 11:
        job = Job(gpt(3 * first, 20480, 128), a100(8 * first), batch)
        fixed |= {"tp": 8, "pp": first}
    elif figure in (12, 18):
        job = Job(gpt(96, 12288, 96), a100(96), first)
        fixed |= {"tp": 8, "pp": 12, "vp": 1 if series == "noninterleaved" else 4}
        if series in ("unoptimized", "noninterleaved"):
            stack = _megatron(scattered=False)
    elif figure == 13:
        job, fixed = Job(gpt(32, 20480, 128), a100(64), batch), fixed | {"pp": first, "tp": second}
    elif figure == 14:
        job, fixed = Job(gpt(32, 3840, 32), a100(64), batch), fixed | {"pp": first, "dp": second, "tp": 1}
    elif figure == 15:
        job, fixed = Job(gpt(32, 3840, 32), a100(64), batch), fixed | {"tp": first, "dp": second, "pp": 1}
    elif figure == 16:
        job = Job(gpt(32, 15360, 128), a100(64), batch)
        fixed |= {"tp": 8, "pp": 8, "micro_batch": first}
    else:
        job = Job(gpt(80, 12288, 96), a100(128), first)
        fixed |= {"tp": 8, "pp": 16, "recompute": "full" if series == "recompute" else "none"}
    rate = (
        y * job.model.seq / job.cluster.gpus
        if figure == 17
        else from_flops(job, y, hardware_flops(job.model, job.batch))
    )
    return Case(
        f"megatron_sc21_fig{figure}", f"{series} x={x}", job, fixed, stack, rate, "held back", f"{figure} {series}"
    )


SC21_HEADS = {
    2304: 24, 3072: 32, 4096: 32, 6144: 48, 8192: 64, 10240: 80, 12288: 96, 16384: 128, 20480: 128, 25600: 160,
}  # fmt: skip
TABLES_TEX_HEADS = {1920: 20, 2304: 24, 3072: 24, 4096: 32}  # not stated there: heads of about 100 columns


def _jan2021() -> Iterator[Case]:
    for r in published("planner", "megatron_lm_jan2021_and_v100.csv"):
        parts = int(r["model_parallel"])
        v100 = r["set"].startswith("V100")
        january = r["set"] == "A100_jan2021"
        gpus, batch, hidden = int(r["gpus"]), int(r["batch"]), int(r["hidden"])
        heads = (SC21_HEADS if january else TABLES_TEX_HEADS)[hidden]
        cluster = clusters.sized(clusters.CLUSTERS["dgx-v100" if v100 else "dgx-a100"], gpus)
        job = Job(gpt(int(r["layers"]), hidden, heads, 2048 if january else 1024), cluster, batch)
        fixed: Fixed = {"tp": min(8, parts), "pp": max(1, parts // 8), "zero": 0}
        fixed |= {"sequence_parallel": False, "recompute": "full"}
        if parts == 144:
            fixed |= {"tp": 8, "pp": 18}
        if r["iter_ms"]:
            rate = job.tokens / float(r["iter_ms"]) * 1e3 / gpus
        else:
            rate = from_flops(job, float(r["tflops_per_gpu"]), hardware_flops(job.model, batch))
        yield Case(
            "megatron_lm_jan2021_and_v100", f"{r['set']} {r['case']}", job, fixed, _megatron(), rate, "held back"
        )


# ---- Llama 3, torchtitan, FSDP, ZeRO, DeepSeek


def _llama3() -> Iterator[Case]:
    for r in published("planner", "llama3_405b_table4.csv"):
        seq, dp, gpus = int(r["seq_len"]), int(r["DP"]), int(r["gpus"])
        model = models.find("llama3-405b", seq)
        job = Job(model, clusters.sized(clusters.CLUSTERS["dgx-h100"], gpus), dp * int(r["batch_per_DP"]))
        fixed: Fixed = {"tp": int(r["TP"]), "cp": int(r["CP"]), "pp": int(r["PP"]), "dp": dp, "sequence_parallel": True}
        each = 6 * (model.parameters - 2 * model.embedding) + 6 * model.layers * model.hidden * seq
        rate = float(r["tflops_per_gpu"]) * 1e12 / each
        yield Case(
            "llama3_405b_table4", f"{gpus} GPUs cp={r['CP']}", job, fixed, stacks.STACKS["fused"], rate, "held back"
        )


TITAN_MEMORY = 96 * clusters.GIB  # torchtitan's H100s, with HBM2e of 2.4 TB/s, capped at 500 W
TITAN_POWER = (
    500 / 700
) ** 0.5  # of the rate that 700 W sustain: dynamic power grows with the square of the clock or faster


def _torchtitan_a100() -> Iterator[Case]:
    for r in published("planner", "torchtitan_a100_fsdp2.csv"):
        if r["tokens_per_s_per_gpu"] == "OOM":
            continue
        model = models.find(f"llama2-{r['model'].lower()}")
        batch = 64 * int(r["local_batch"])
        recompute = {"none": "none", "full": "full"}.get(r["act_ckpt"], "selective")
        fixed: Fixed = {
            "tp": 1,
            "pp": 1,
            "cp": 1,
            "zero": 3,
            "micro_batch": int(r["local_batch"]),
            "recompute": recompute,
        }
        job, row = Job(model, a100(64), batch), f"{r['model']} batch {r['local_batch']}, {r['act_ckpt']}"
        rate = float(r["tokens_per_s_per_gpu"])
        yield Case("torchtitan_a100_fsdp2", row, job, fixed, stacks.STACKS["eager"], rate, "held back")


def _torchtitan() -> Iterator[Case]:
    h100 = clusters.CLUSTERS["dgx-h100"]
    titan = replace(
        h100,
        gpu=replace(h100.gpu, memory=TITAN_MEMORY, memory_bandwidth=2.4e12, sustained=h100.gpu.sustained * TITAN_POWER),
    )
    for r in published("planner", "torchtitan_llama31.csv"):
        base = clusters.CLUSTERS["h200"] if r["table"].startswith("H200") else titan
        axes = {"FSDP": 1, "TP": 1, "PP": 1, "CP": 1}
        axes |= {"".join(c for c in part if c.isalpha()): int("".join(c for c in part if c.isdigit()))
                 for part in r["parallelism"].split()}  # fmt: skip
        local, technique = int(r["local_batch"]), r["technique"].lower()
        job = Job(
            models.find(f"llama3-{r['model'].lower()}", int(r["seq_len"])),
            clusters.sized(base, int(r["gpus"])),
            local * axes["FSDP"],
            "fp8" if "float8" in technique else "bf16",
        )
        fixed: Fixed = {
            "tp": axes["TP"], "pp": axes["PP"], "cp": axes["CP"], "dp": axes["FSDP"], "zero": 3,
            "recompute": "full" if r["act_ckpt"] == "full" else "selective", "sequence_parallel": axes["TP"] > 1,
        }  # fmt: skip
        if axes["PP"] == 1:
            fixed["micro_batch"] = local
        elif "interleaved" not in technique:
            fixed["vp"] = 1
        compiled = "compile" in technique or r["table"] == "async202506" or r["table"].startswith("H200")
        stack = stacks.STACKS["compiled" if compiled else "eager"]
        if "async" in technique:
            stack = replace(stack, overlap_tensor=stacks.ASYNC_TENSOR)
        row = f"{r['table']} {r['model']} {r['parallelism']} {r['seq_len']} {r['technique']}"
        yield Case("torchtitan_llama31", row, job, fixed, stack, float(r["tokens_per_s_per_gpu"]), "held back")


def _fsdp() -> Iterator[Case]:
    told = {r["item"]: r["value"] for r in published("experiments/fsdp", "fsdp_and_zero_offload.csv")}
    rates = told["GPT-175B TFLOP/s/GPU batch 1 / 2"].partition("(")[0].split("/")
    for batch, rate in enumerate(map(float, rates), start=1):  # on 128 GPUs
        job = Job(gpt(96, 12288, 96), a100(128), 128 * batch)
        fixed: Fixed = {"tp": 1, "pp": 1, "zero": 3, "micro_batch": batch, "recompute": "full"}
        tokens = from_flops(job, rate, hardware_flops(job.model, job.batch))
        stack = replace(stacks.STACKS["eager"], flash=False, ampere_attention=False)
        yield Case("fsdp_and_zero_offload", f"175B batch {batch}", job, fixed, stack, tokens, "held back")


def _zero() -> Iterator[Case]:
    """V100s in DGX-2: 16 on one NVSwitch, 800 Gbit/s for all of them."""
    v100 = clusters.CLUSTERS["dgx-v100"]
    dgx2 = replace(v100, name="dgx-2", gpus=16, domain=16)
    for r in published("planner", "zero_throughput_figs_digitized.csv"):
        parts, gpus, batch = int(r["MP"]), int(r["gpus"]), int(r["total_batch"])
        hidden, layers = int(r["hidden"]), int(r["layers"])
        heads = max(parts, 32 if parts > 16 else 16)  # not stated for all: as many as parts, at least
        job = Job(gpt(layers, hidden, heads, 1024), clusters.sized(dgx2, gpus), batch)
        fixed: Fixed = {
            "tp": parts, "pp": 1, "cp": 1, "zero": 2 if r["system"].startswith("ZeRO") else 0, "recompute": "full",
            "micro_batch": batch * parts // gpus, "sequence_parallel": False,
        }  # fmt: skip
        tokens = from_flops(job, float(r["tflops_per_gpu"]), hardware_flops(job.model, batch))
        row = f"fig {r['figure']} {r['system']} {r['params_B']}B"
        yield Case("zero_throughput_figs", row, job, fixed, stacks.STACKS["megatron-2019"], tokens, "held back")


def _deepseek() -> Iterator[Case]:
    """arXiv:2412.19437, sections 3.1, 3.2: 2,048 H800, NVLink 160 GB/s, 16 stages, 64 parts of the experts, ZeRO-1,
    FP8, 15,360 sequences; DualPipe sends tokens beside compute."""
    h100 = clusters.CLUSTERS["dgx-h100"]
    h800 = replace(h100, name="h800", inside=200e9, switch_sums=False)
    model = replace(models.find("deepseek-v3", 4096), predicted_further=1)
    job = Job(model, clusters.sized(h800, 2048), 15360, "fp8")
    fixed: Fixed = {"tp": 1, "pp": 16, "cp": 1, "ep": 64, "zero": 1, "micro_batch": 1}
    stack = replace(stacks.STACKS["bridge-25"], overlap_experts=1.0, expert_host=0.0, expert_host_each=0.0)
    told = {r["item"]: r["value"] for r in published("planner", "deepseek_v3_cost.csv")}
    hours = 1e3 * float(told["per trillion tokens"].partition("K")[0])
    rate = 1e12 / (hours * 3600)
    yield Case("deepseek_v3_cost", f"{hours:,.0f} GPU hours for 1e12 tokens", job, fixed, stack, rate, "held back")


# ---- Megatron-Bridge

SYSTEMS = {"H100": "dgx-h100", "B200": "dgx-b200", "B300": "dgx-b300", "GB200": "gb200-nvl72", "GB300": "gb300-nvl72"}
BRIDGE_MODELS = {
    "LLAMA3_8B": "llama3-8b", "LLAMA3_70B": "llama3-70b", "DeepSeekV3": "deepseek-v3", "GPT OSS 120B": "gpt-oss-120b",
    "Qwen3_30B_a3B": "qwen3-30b-a3b",
}  # fmt: skip
BRIDGE_PRECISIONS = {
    "BF16": "bf16",
    "FP8": "fp8",
    "FP8-CS": "fp8",
    "FP8-MX": "mxfp8",
    "MXFP8": "mxfp8",
    "NVFP4": "nvfp4",
}
CALIBRATION_RELEASES = ("25.11", "26.04", "26.06")
HELD_BACK_SYSTEM, HELD_BACK_MODEL = "GB300", "Qwen3_30B_a3B"


def _bridge() -> Iterator[Case]:
    for r in published("planner", "megatron_bridge_performance.csv"):
        yield _of_bridge(r)


def _of_bridge(r: Mapping[str, str]) -> Case:
    model = models.find(BRIDGE_MODELS[r["model"]], int(r["seq_len"]))
    if r["model"] == "DeepSeekV3" and r["note"] != "w/o MTP":
        model = replace(model, predicted_further=1)
    cluster = clusters.sized(clusters.CLUSTERS[SYSTEMS[r["system"]]], int(r["gpus"]))
    # 25.09 says no precision: FP8 by tensor on H100, by blocks of 32 for experts on Blackwell, as in 25.11
    otherwise = "mxfp8" if r["system"] != "H100" and model.experts else "fp8"
    job = Job(model, cluster, int(r["global_batch"]), BRIDGE_PRECISIONS.get(r["precision"], otherwise))
    fixed: Fixed = {
        "tp": int(r["TP"]), "pp": int(r["PP"]), "cp": int(r["CP"]), "vp": int(r["VP"] or 1), "ep": int(r["EP"] or 1),
        "micro_batch": int(r["micro_batch"]), "zero": 3 if int(r["FSDP"] or 0) > 1 else 1,
    }  # fmt: skip
    held = r["system"] == HELD_BACK_SYSTEM or r["model"] == HELD_BACK_MODEL
    part = "held back" if held else "calibration" if r["release"] in CALIBRATION_RELEASES else "other releases"
    later = float(r["release"][:5]) >= 26.06
    regression = (r["release"], r["model"], r["system"]) == ("26.02", HELD_BACK_MODEL, "H100") or bool(
        r["release"] == "26.06.01" and r["note"]
    )
    stack = stacks.STACKS["bridge-26.06" if later else "bridge-25"]
    if r["note"] == "tokendrop":  # each expert gets equally many: one batched product for all of them
        stack = replace(stack, expert_kernels=(stack.expert_kernels[0], 0.0))
    return Case(
        "megatron_bridge_performance",
        f"{r['release']} {r['model']} {r['system']} {r['precision']}",
        job, fixed, stack, float(r["tokens_per_s_per_gpu"]), part,
        regression=regression,
    )  # fmt: skip


TABLES: Mapping[str, Callable[[], Iterator[Case]]] = {
    "megatron_sc21_table1": _sc21_table1,
    "korthikanti_table3_5": _korthikanti,
    "megatron_sc21_figures": _sc21_figures,
    "megatron_bridge_performance": _bridge,
    "llama3_405b_table4": _llama3,
    "torchtitan_llama31": _torchtitan,
    "torchtitan_a100_fsdp2": _torchtitan_a100,
    "fsdp_and_zero_offload": _fsdp,
    "megatron_lm_jan2021_and_v100": _jan2021,
    "zero_throughput_figs": _zero,
    "deepseek_v3_cost": _deepseek,
}
