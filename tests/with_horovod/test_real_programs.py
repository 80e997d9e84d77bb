"""The programs of section 7 on tf.distribute and Lightning: what is recorded of them; and, where pip can have their
frameworks, what they do."""

from __future__ import annotations

import ast
import getpass
import json
import os
import re
import shutil
import socket
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DistributedSampler, TensorDataset

from lockstep.errors import LockstepError, TimeLimit, WorldUnavailable
from lockstep.experiments.horovod import dialects, real_programs
from lockstep.experiments.horovod.real_programs import BOTH, LIGHTNING_DDP, RANKS, TASK, TF_DISTRIBUTE, Program, output
from lockstep.installs import environments

NAMES = [program.of.name for program in BOTH]
LONG = 280.0  # seconds, on a machine that is busy
programs = pytest.mark.parametrize("program", BOTH, ids=NAMES)


# ---- Without the frameworks


@programs
def test_a_recording_has_a_line_of_each_rank_its_date_and_its_versions(program: Program) -> None:
    found = program.recording()
    assert_two_ranks(found.output)
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", str(found.made["date"]))
    assert f"{program.of.shown} {program.of.version}" in str(found), "record it anew with the versions of the list"
    text = program.recorded.read_text()
    assert len(text) < 1000
    assert not [word for word in (socket.gethostname(), f"/{getpass.getuser()}/") if word in text]


def assert_two_ranks(said: str) -> None:
    """A line of each, in order, and the same loss in both."""
    steps = TASK.epochs * TASK.steps
    told = [re.fullmatch(rf"(?:rank|worker) ([01]) of 2: {steps} steps, loss (\d+\.\d{{4}})", line)
            for line in said.splitlines()]  # fmt: skip
    assert [one and one[1] for one in told] == ["0", "1"], said
    assert len({one and one[2] for one in told}) == 1, said


@programs
def test_without_its_framework_the_recording_is_shown_and_the_command_is_said(
    program: Program, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(environments, "ready", lambda of: False)
    real_programs.show_program(program)
    said = capsys.readouterr().out
    assert said.startswith(program.source)
    first, *lines = said[len(program.source) :].strip().splitlines()
    assert first.startswith("Recorded on 20")
    assert f"`lockstep with {program.of.name}`" in first
    assert "\n".join(lines) == program.recording().output


@pytest.mark.parametrize(
    ("error", "told"),
    [(TimeLimit("120 s were over."), real_programs.BUSY), (LockstepError("It failed: no port"), "It failed: no port")],
)
def test_a_run_that_does_not_end_well_shows_the_recording_and_why(
    error: LockstepError, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ends_badly(*given: Any) -> str:
        raise error

    monkeypatch.setattr(environments, "ready", lambda of: True)
    monkeypatch.setattr(Program, "run", ends_badly)
    first, *lines = output(TF_DISTRIBUTE).splitlines()
    assert first.startswith("Recorded on 20")
    assert first.endswith(told)
    assert_two_ranks("\n".join(lines))


@programs
def test_a_program_is_a_learners(program: Program) -> None:
    """It fits beside the file browser, imports nothing of Lockstep, and has the numbers of the task."""
    tree = ast.parse(program.source)
    assert max(map(len, program.source.splitlines())) <= 88
    assert "lockstep" not in program.source
    assert f"epochs, batch, rate = {TASK.epochs}, {TASK.batch}, 1 / {1 / TASK.rate:g}" in program.source
    assert isinstance(tree.body[-1], ast.Expr)


def test_tensorflows_program_has_todays_names() -> None:
    for name in ("tf.distribute.MultiWorkerMirroredStrategy(", "CommunicationOptions(", "CommunicationImplementation."):
        assert name in TF_DISTRIBUTE.source
    assert "CollectiveCommunication" not in TF_DISTRIBUTE.source


def test_the_table_counts_the_real_programs() -> None:
    shown = dialects.dialects_table().rows[0][-1]
    assert shown == f"written anew; 2 of {len(dialects.program_lines(LIGHTNING_DDP))} know of ranks"
    assert not [line for line in dialects.program_lines(TF_DISTRIBUTE) if line.startswith(("import", "print", "#"))]


# ---- With them


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Both frameworks: those that are set up, or else set up for these tests."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        if not all(environments.ready(program.of) for program in BOTH):
            patch.setenv("LOCKSTEP_HOME", str(home))
        try:
            for program in BOTH:
                environments.provide(program.of, lambda what, done: None)
        except WorldUnavailable as missing:
            if os.environ.get("LOCKSTEP_HOROVOD") == "required":
                pytest.fail(f"{missing}\nLOCKSTEP_HOROVOD=required asks for it.", pytrace=False)
            pytest.skip(" ".join(str(missing).split()))
        yield
    shutil.rmtree(home, ignore_errors=True)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.usefixtures("installed")
@programs
def test_two_ranks_train_and_end_alike(program: Program) -> None:
    said = program.run(timeout=LONG)
    assert_two_ranks(said)
    loss, recorded = (float(text.split()[-1]) for text in (said, program.recording().output))
    assert loss == pytest.approx(recorded, rel=0.01), "seeds are set: another machine rounds otherwise, no more"


def network() -> nn.Sequential:
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))


def trained(model: nn.Module, epochs: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """The weights after serial training on these rows, each row of numbers a step."""
    x, y = (t.float() for t in TASK.data())
    optimizer = torch.optim.SGD(model.parameters(), lr=RANKS * TASK.rate, momentum=0.9)
    for step in torch.cat(list(epochs)):
        optimizer.zero_grad()
        F.mse_loss(model(x[step]), y[step]).backward()
        optimizer.step()
    return [p.detach() for p in model.parameters()]


def shuffled(epoch: int) -> torch.Tensor:
    """The rows of each step of torch's sampler, which Lightning puts in, on both ranks."""
    of_rank = []
    for rank in range(RANKS):
        sampler = DistributedSampler(TensorDataset(torch.zeros(TASK.rows)), RANKS, rank, seed=1)
        sampler.set_epoch(epoch)
        of_rank.append(torch.tensor(list(sampler)).reshape(TASK.steps, TASK.batch))
    return torch.cat(of_rank, dim=1)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.usefixtures("installed")
def test_lightning_trains_as_serial_training_does() -> None:
    """On the rows of its sampler, with K times the rate: the same weights on both ranks."""
    told = LIGHTNING_DDP.source + "print([p.tolist() for p in model.parameters()])\n"
    both = [json.loads(line) for line in LIGHTNING_DDP.run(told, LONG).splitlines() if line.startswith("[")]
    torch.manual_seed(1)
    right = trained(network(), [shuffled(epoch) for epoch in range(TASK.epochs)])
    assert both[0] == both[1]
    for ours, theirs in zip(right, both[0], strict=True):
        torch.testing.assert_close(torch.tensor(theirs), ours, rtol=1e-3, atol=1e-4)


# Appended to the program: its weights, and the rows that a worker gets of a shuffled dataset.
TELLS = """
def share(seed):
    tf.keras.utils.set_random_seed(seed)
    rows = strategy.experimental_distribute_dataset(tf.data.Dataset.range(64).shuffle(64).batch(4))
    return [int(v) for b in rows for v in strategy.experimental_local_results(b)[0].numpy()]

weights = [[w.tolist() for w in of] for of in (start, model.get_weights())]
print(json.dumps({"worker": worker, "weights": weights, "alike": share(1), "unlike": share(10 + worker)}))
"""


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.usefixtures("installed")
def test_tensorflow_trains_as_serial_training_does_and_shuffling_must_be_alike() -> None:
    """Without shuffling, step by step on the rows in their order. And what the lesson says about shares."""
    source = changed(TF_DISTRIBUTE.source, ".shuffle(len(x))", "")
    compiled = '    model.compile(loss="mse", optimizer=optimizer)\n'
    built = f"{compiled}    model.build((None, 3))\n    start = model.get_weights()\n"
    said = TF_DISTRIBUTE.run(changed(source, compiled, built) + TELLS, LONG)
    one, two = (json.loads(line) for line in said.splitlines() if line.startswith("{"))
    assert one["weights"] == two["weights"]
    start, end = ([torch.tensor(w).t() for w in of] for of in one["weights"])
    model = network()
    for parameter, value in zip(model.parameters(), start, strict=True):
        parameter.data = value.contiguous()
    in_order = torch.arange(TASK.rows).reshape(TASK.steps, RANKS * TASK.batch)
    for ours, theirs in zip(trained(model, [in_order] * TASK.epochs), end, strict=True):
        torch.testing.assert_close(theirs, ours, rtol=1e-3, atol=1e-4)
    assert sorted(one["alike"] + two["alike"]) == list(range(64))
    assert set(one["unlike"]) & set(two["unlike"]), "the shares overlap"


def changed(source: str, old: str, new: str) -> str:
    assert source.count(old) == 1
    return source.replace(old, new)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.usefixtures("installed")
def test_a_rank_that_fails_is_told_with_its_reason() -> None:
    with pytest.raises(LockstepError, match="ValueError: no such rank"):
        LIGHTNING_DDP.run("raise ValueError('no such rank')", LONG)
