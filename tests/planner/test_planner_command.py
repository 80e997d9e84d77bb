"""``lockstep plan`` as it is typed: its JSON, its invoice, and one sentence for whatever cannot be."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict, replace
from math import sqrt
from pathlib import Path
from typing import Any

import pytest

from lockstep import machines
from lockstep.cli import main
from lockstep.planner.invoice import invoice

GPT3 = ("plan", "--model", "gpt3", "--cluster", "dgx-a100 x 128")
KEYS = {
    "dp", "tp", "pp", "vp", "ep", "cp", "zero", "micro_batch", "recompute", "sequence_parallel", "overlap", "step_time",
    "step_time_low", "step_time_high", "tokens_per_second", "model_tflops_per_gpu", "mfu", "hfu", "memory",
    "memory_by_kind", "bubble", "communication", "cost_per_token", "fits", "reason",
}  # fmt: skip


def told(capsys: pytest.CaptureFixture[str], *argv: str) -> dict[str, Any]:
    assert main([*argv, "--json"]) == 0
    out, err = capsys.readouterr()
    assert not err
    found: dict[str, Any] = json.loads(out)
    return found


def test_json_has_the_keys_of_its_contract(capsys: pytest.CaptureFixture[str]) -> None:
    found = told(capsys, *GPT3, "--top", "3", "--price", "2")
    assert found["searched"] > 500
    assert len(found["plans"]) == 3
    for plan in found["plans"]:
        assert set(plan) == KEYS
        assert plan["step_time_low"] < plan["step_time"] < plan["step_time_high"]
        assert plan["dp"] * plan["tp"] * plan["pp"] * plan["cp"] == 1024
        assert sum(plan["memory_by_kind"].values()) == pytest.approx(plan["memory"])
        assert 0 < plan["mfu"] <= plan["hfu"] < 1
        assert 0 <= plan["bubble"] < 1
        assert plan["fits"]
        assert not plan["reason"]
        assert plan["cost_per_token"] == pytest.approx(2 * 1024 / 3600 / plan["tokens_per_second"])
        assert plan["tokens_per_second"] == pytest.approx(found["batch"] * 2048 / plan["step_time"])


MIXTURE = ("plan", "--model", "mixtral-8x7b", "--batch", "512", "--fix", "tp=1,pp=1,vp=1,cp=1,ep=8,micro_batch=1")


@pytest.mark.parametrize("precision", ["bf16", "fp8"])
def test_fp8_dispatch_saves_a_quarter_of_the_experts_bytes(capsys: pytest.CaptureFixture[str], precision: str) -> None:
    """8 bits and a scale there, 16 bits back: 3.03 bytes of 4. Latency stays; products in bfloat16 need a cast."""
    case = (*MIXTURE, "--cluster", "dgx-h100 x 16", "--precision", precision)
    (wide, *_), (low, *_) = (told(capsys, *case, "--dispatch", way)["plans"] for way in ("bf16", "fp8"))
    assert low["communication"]["ep"] / wide["communication"]["ep"] == pytest.approx((33 / 32 + 2) / 4, rel=0.05)
    saved = wide["communication"]["ep"] - low["communication"]["ep"]
    gained = wide["step_time"] - low["step_time"]
    assert (abs(gained - saved) < 0.02 * saved) == (precision == "fp8"), "in bfloat16 the casts take some of it"
    assert gained < 1.02 * saved
    assert low["memory"] == wide["memory"]
    assert main([*case, "--dispatch", "fp8", "--explain", "--top", "1"]) == 0
    out = capsys.readouterr().out
    assert "FP8 dispatch" in out
    assert "1.03 bytes of a number to the experts, 2 back" in out


def test_a_plan_that_is_fixed_altogether_is_told_though_it_does_not_fit(capsys: pytest.CaptureFixture[str]) -> None:
    """trl's issue 2294: 90 billion parameters on eight A100s need about 180 GB each, sharded as they may be."""
    found = told(
        capsys, "plan", "--model", "layers=100,hidden=8192,heads=64,kv_heads=8,ffn=28672,gated=1,vocab=128256",
        "--cluster", "dgx-a100", "--stack", "compiled", "--batch", "8",
        "--fix", "tp=1,pp=1,vp=1,cp=1,zero=3,micro_batch=1,recompute=full",
    )  # fmt: skip
    (plan,) = found["plans"]
    assert not plan["fits"]
    assert plan["memory"] == pytest.approx(180e9, rel=0.1)
    assert plan["reason"] == "It needs 192 GB on a GPU that has 86 GB; 88 GB of it are optimizer."


def test_the_table_and_the_explanation(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*GPT3, "--explain", "--tokens", "300e9", "--price", "2"]) == 0
    out = capsys.readouterr().out
    for word in ("recompute", "bubble", "tensor parallel", "optimizer", "goodput", "dollars", "Calibrated on"):
        assert word in out


def test_days_and_tokens_are_the_same_bill(capsys: pytest.CaptureFixture[str]) -> None:
    by_tokens = told(capsys, *GPT3, "--tokens", "1e12", "--price", "2")["invoice"]
    by_days = told(capsys, *GPT3, "--days", str(by_tokens["days"]), "--price", "2")["invoice"]
    assert by_days["tokens"] == pytest.approx(1e12)
    assert by_days["dollars"] == pytest.approx(by_tokens["dollars"])
    assert by_tokens["dollars"] == pytest.approx(2 * by_tokens["gpu_hours"])


def test_failures_are_as_frequent_as_llama_3s() -> None:
    """466 in 54 days on 16,384 GPUs, and 90 % and more of the time was effective training."""
    bill = invoice(1e6, 16384, 405e9, days=54)
    assert bill.interruptions == pytest.approx(466)
    assert 0.9 < bill.goodput < 1


def test_the_interval_between_checkpoints_is_the_best_one() -> None:
    bill = invoice(1e6, 1024, 175e9, days=30)
    between, writing = 3600 * bill.hours_between_interruptions, bill.checkpoint_seconds
    assert bill.checkpoint_interval == pytest.approx(sqrt(2 * writing * between))

    def lost(interval: float) -> float:
        return writing / interval + interval / 2 / between

    assert all(lost(bill.checkpoint_interval) <= lost(f * bill.checkpoint_interval) for f in (0.5, 0.9, 1.1, 2.0))


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        (("--model", "gpt33"), "There is no model named 'gpt33'. Did you mean 'gpt3-"),
        (("--model", "layers=2,hiden=10,heads=2"), "A model has no 'hiden'. Did you mean 'hidden'?"),
        (("--model", "layers=2"), "The model needs hidden and heads."),
        (("--model", "layers=-2,hidden=8,heads=2"), "layers is a whole number from 1 on, not '-2'."),
        (("--model", "layers=2,hidden=10,heads=3"), "3 heads do not divide a hidden width of 10."),
        (("--model", "layers=2,hidden=64,heads=8,kv_heads=3"), "3 KV heads do not divide 8 heads."),
        (("--model", "layers=2,hidden=64,heads=8,experts=8"), "A model with experts needs top_k and expert_ffn."),
        (("--cluster", "dgx-a10 x 128"), "There is no cluster named 'dgx-a10'. Did you mean 'dgx-a100'"),
        (("--cluster", "dgx-a100 x 0"), "A cluster has a whole number of nodes or GPUs from 1 on, not '0'."),
        (("--cluster", "dgx-a100 x 1000000 gpus"), "1,000,000 GPUs are more than one run has ever used."),
        (("--cluster", "dgx-a100 x 13 gpus"), "13 GPUs do not fill nodes of 8 evenly."),
        (("--cluster", "no.json"), "no.json cannot be read as JSON"),
        (("--dispatch", "fp7"), "There is no dispatch 'fp7'. Did you mean 'fp8'?"),
        (("--dispatch", "fp8"), "FP8 dispatch is of tokens on their way to experts, and this model has none."),
        (("--model", "mixtral-8x7b", "--dispatch", "fp8"), "A100 SXM 80GB has no FP8."),
        (("--cluster", "dgx-a100 x 1 gpu"), "No plan fits: the leanest needs 3,152 GB on a GPU that has 86 GB"),
        (("--batch", "0"), "--batch is a whole number from 1 on, not '0'."),
        (("--batch", "7"), "No plan divides 7 sequences and 96 layers among 1,024 GPUs."),
        (("--seq", "-1"), "--seq is a whole number from 1 on, not '-1'."),
        (("--precision", "fp16"), "There is no precision 'fp16'. Did you mean 'bf16'"),
        (("--precision", "fp8"), "A100 SXM 80GB has no FP8."),
        (("--stack", "compild"), "There is no stack named 'compild'. Did you mean 'compiled'?"),
        (("--fix", "tpp=8"), "A plan has no 'tpp'. Did you mean "),
        (("--fix", "tp=8,tp=4"), "tp is fixed twice."),
        (("--fix", "zero=4"), "ZeRO has the stages 0 to 3, not 4."),
        (("--fix", "recompute=some"), "recompute is none, selective, full, not 'some'."),
        (("--fix", "overlap=maybe"), "overlap is true or false, not 'maybe'."),
        (("--fix", "tp=7"), "tp=7 does not divide 96 heads."),
        (("--top", "0"), "--top is a whole number from 1 on, not '0'."),
        (("--days", "0"), "--days is a number above 0, not '0'."),
        (("--tokens", "nan"), "--tokens is a number above 0, not 'nan'."),
        (("--days", "3", "--tokens", "1e9"), "--days and --tokens say the same thing twice."),
    ],
)
def test_bad_input_is_one_sentence(capsys: pytest.CaptureFixture[str], argv: tuple[str, ...], sentence: str) -> None:
    assert main([*GPT3, *argv]) == 2
    out, err = capsys.readouterr()
    assert not out
    assert err.startswith(f"lockstep: {sentence}"), err
    assert "Traceback" not in err
    assert len(err.splitlines()) == 2  # the sentence, and what to do


def test_a_cluster_from_a_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    mine = tmp_path / "mine.json"
    mine.write_text('{"like": "dgx-h100", "gpus": 64, "between": 12.5e9, "gpu": {"memory": 96e9}}')
    slow = told(capsys, "plan", "--model", "llama3-8b", "--cluster", str(mine))
    fast = told(capsys, "plan", "--model", "llama3-8b", "--cluster", "dgx-h100 x 8")
    assert slow["cluster"] == "mine"
    assert slow["plans"][0]["step_time"] > fast["plans"][0]["step_time"]


def test_a_machine_that_was_surveyed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """As `lockstep doctor --survey --json` prints it: a core is what a GPU is elsewhere."""
    mine = tmp_path / "survey.json"
    survey = {"cluster": asdict(replace(machines.find("laptop"), name="this machine")), "cores": 8}
    mine.write_text(json.dumps({"survey": survey}))
    found = told(capsys, "plan", "--model", "layers=2,hidden=64,heads=4,vocab=1000", "--cluster", str(mine))
    assert found["gpus"] == 8
    assert found["cluster"] == "this machine"
    assert 0 < found["plans"][0]["mfu"] < 1


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('{"survey": {}}', "holds no survey"),
        ('{"like": "dgx-h100", "bandwidth": 1}', "there is no 'bandwidth'"),
        ('{"like": "dgx-h101"}', "says no cluster that it is like."),
        ('{"like": "dgx-h100", "gpus": 64.5}', "gpus is a whole number, not 64.5."),
        ('{"like": "dgx-h100", "gpus": -8}', "gpus is a number above 0, not -8."),
        ('{"like": "dgx-h100", "between_share": 2}', "between_share is a share, at most 1, not 2."),
        ('{"like": "dgx-h100", "gpu": 7}', "gpu is not an object."),
        ("[]", "says no cluster that it is like."),
        ("{", "cannot be read as JSON"),
    ],
)
def test_a_file_that_is_wrong(capsys: pytest.CaptureFixture[str], tmp_path: Path, text: str, sentence: str) -> None:
    mine = tmp_path / "mine.json"
    mine.write_text(text)
    assert main(["plan", "--model", "llama3-8b", "--cluster", str(mine)]) == 2
    assert sentence in capsys.readouterr().err


def test_it_needs_no_torch() -> None:
    code = f"import sys; from lockstep.cli import main; main({list(GPT3)!r}); sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60, stdout=subprocess.DEVNULL)
