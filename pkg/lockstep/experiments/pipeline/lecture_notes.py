"""The lecture notes' statements on model and pipeline parallelism, quoted, with our measurements and the reasons."""

from __future__ import annotations

from importlib.util import find_spec

from lockstep.experiments.pipeline import notes_sample, placement
from lockstep.experiments.pipeline.data_or_model import measured
from lockstep.experiments.pipeline.training import ALONE, DATA, Flat, speedup
from lockstep.tables import Table
from lockstep.worlds import run

GONE, THERE = "torch.distributed.pipeline", "torch.distributed.pipelining"
EXAMPLES = 16_384  # in the notes' sample: with their 64, messages take longer than computation


def in_turn() -> float:
    """Seconds in which both GPUs of the notes' first sample compute at the same time."""
    return notes_sample.at_once(
        run(notes_sample.trained, "naive", 1, EXAMPLES, ranks=2, on="dgx-a100", fake=True).trace
    )


def installed(module: str) -> bool:
    return find_spec(module) is not None


def data_or_model_table(K: int = 8) -> Table:
    """The notes' whole table of data and model parallelism, each row measured on K simulated A100."""
    found = {row.way: row for row in measured(K)}
    alone, data, naive, pipe = (found[way] for way in (ALONE, DATA, "naive", "one_f_one_b"))
    m, whole = Flat().micro_batches, speedup("naive", K, 1)
    rows = [
        ("Throughput", "Data parallel: Increases", f"{data.speedup:.2f} times one GPU",
         "Right. It is not 8: each rank makes the whole update, and waits for the all-reduce."),
        ("", "Model parallel: Decreases", f"naive, {m} micro-batches one after another: {naive.speedup:.2f} times; the "
         f"batch in one piece: {whole:.2f}; 1F1B, {m} micro-batches: {pipe.speedup:.2f}",
         "Right of naive stages that get the batch in pieces: small pieces are slower, and still one stage works at a "
         "time. In one piece they are as fast as one GPU. Several micro-batches under way make it a pipeline."),
        ("Implementation", "Data parallel: Relatively straightforward", f"{data.code} lines of our library", "Right."),
        ("", "Model parallel: More difficult", f"{pipe.code} lines", "Right; and the model has to be cut."),
        ("Communication", "Data parallel: Low to moderate", f"{data.sent / 1e6:,.0f} MB sent by a rank",
         "Twice the gradients, nearly, however small the batch is."),
        ("", "Model parallel: High", f"{pipe.sent / 1e6:,.0f} MB",
         "Stages send activations where the model is cut, and nothing else. It is high where each layer is cut: unit "
         "10."),
        ("Typical use case", "Data parallel: Speedup training", f"{data.memory / 1e9:.2f} GB of one GPU’s "
         f"{alone.memory / 1e9:.2f}", "Right: it saves no memory."),
        ("", "Model parallel: Models with large memory requirement", f"{pipe.memory / 1e9:.2f} GB", "Right."),
    ]  # fmt: skip
    title = f"A lecture’s table, and a step of 8 layers with 2,048 examples on {K} simulated A100"
    return Table(title, ["", "a common claim", "we count", "why"], rows)


def corrections_table() -> Table:
    """The notes' statements on pipelines, one by one, with corrections."""
    inside, across = placement.measured()
    few, many = placement.measured(placement.FEW_WEIGHTS)
    rows = [
        ("“Naïve. Simply activate all workers in series … No speedup (slower!)”",
         f"the batch in one piece: {speedup('naive', 4, 1):.2f} times one GPU; in 16 micro-batches, one after another: "
         f"{speedup('naive', 4, 16):.2f}",
         "“No speedup” is right; “slower” where the batch comes in pieces. All stages build and update at once: that "
         "is the 1 %."),
        ("“Pipeline Parallelism”, the sample with x.to('cuda:1')", f"both compute for {in_turn() * 1e3:g} ms",
         "These are naive stages: a pipeline needs micro-batches."),
        ("from torch.distributed.pipeline.sync import Pipe", f"{GONE}: {told(GONE)}; {THERE}: {told(THERE)}",
         "torch has another one today; more.ipynb runs it beside ours."),
        ("“Data parallelism is applied across machines, while pipeline parallelism is used within each machine”",
         f"{inside.seconds * 1e3:.1f} ms; the other way round {across.seconds * 1e3:.1f} ms",
         f"Right where activations weigh more: with fewer weights and a larger batch {few.seconds * 1e3:.1f} ms, the "
         f"other way {many.seconds * 1e3:.1f} ms. What sends more belongs inside."),
    ]  # fmt: skip
    return Table("Common claims about pipelines", ["a common claim", "we count", "why"], rows)


def told(module: str) -> str:
    return "installed" if installed(module) else "not there"
