"""GPipe's published tables, predicted by formulas, with the errors. Nothing is fitted except as stated below.

(1) Throughput (Tables 2 and 3): K partitions and M micro-batches are K·M/(M+K-1) times as fast as one partition, if all
    take equally long and messages cost nothing (``cost.pipeline.speedup``). Each table is normalised by a row of its
    own.
(2) The largest model (Table 1): K accelerators hold K times the layers of one. The parameters of a layer, and those
    outside layers, come from the first two rows: 282.2 M with 3 layers, 785.8 M with 13.

Transformers have equal layers: with M = 32, (1) is 3 to 8 % too high, and (2) at most 1 %. AmoebaNet's layers are
unequal: time and memory differ between stages, and both predictions are too high, by up to 99 % and 41 %.

With M = 1, and with M = 4 for the Transformer, GPipe is *faster* than (1), by up to 65 %. The batches of these tables
were adjusted to the memory, says the paper. That more partitions therefore had larger batches, which (1) does not
model, is our inference. torchgpipe measured the same AmoebaNet on P40 GPUs: with M = 1 it is equally fast for every K
(1, 1.00, 0.93), as (1) predicts.

Sources: Huang et al., arXiv:1811.06965; Kim et al., torchgpipe, arXiv:2004.09910 and its documentation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from lockstep.cost.pipeline import speedup
from lockstep.tables import Table, published

LAYERS_OF_ONE = 13  # Table 1: a Transformer that fits on one TPUv3 with re-materialisation


class Prediction(NamedTuple):
    """A published number and its prediction; ``error`` is 0.1 if the prediction is 10 % too high."""

    hardware: str
    model: str
    K: int
    M: int
    published: float
    predicted: float

    @property
    def error(self) -> float:
        return self.predicted / self.published - 1


def throughputs() -> list[Prediction]:
    """(1) for each row of Tables 2 and 3."""
    rows = published("experiments/pipeline", "gpipe_tables2_3_speedup.csv")
    found = []
    for row in rows:
        K, M = int(row["partitions_K"]), int(row["microbatches_M"])
        base = 1 if row["hardware"] == "TPU" else 32  # micro-batches of the row, with K = 2, that counts as 1
        predicted = speedup(K, M) / speedup(2, base)
        measured = float(row["normalized_throughput"])
        found.append(Prediction(row["hardware"], row["model"], K, M, measured, predicted))
    return found


def torchgpipes() -> list[Prediction]:
    """The same for torchgpipe's AmoebaNet-D on P40 GPUs."""
    rows = [
        row
        for row in published("experiments/pipeline", "torchgpipe_p40_speed.csv")
        if row["experiment"].startswith("n=")
    ]
    sizes = [(int(row["partitions"]), int(row["microbatches"])) for row in rows]
    measured = [float(row["speedup_torchgpipe"]) for row in rows]
    return [
        Prediction("P40", row["model"], K, M, value, speedup(K, M) / speedup(2, 1))
        for row, (K, M), value in zip(rows, sizes, measured, strict=True)
    ]


def largest_models() -> list[Prediction]:
    """(2), in millions of parameters. For AmoebaNet the prediction is K times the model that one accelerator holds."""
    rows = published("experiments/pipeline", "gpipe_table1_max_model.csv")
    naive, one = (float(row["params_M"]) for row in rows if row["setting"] in ("Naive-1", "Pipeline-1") and layers(row))
    a_layer = (one - naive) / (LAYERS_OF_ONE - 3)
    outside = naive - 3 * a_layer
    amoeba = next(float(row["params_M"]) for row in rows if row["setting"] == "Pipeline-1" and not layers(row))
    found = []
    for row in rows:
        K = int(row["setting"].split("-")[1])
        if K > 1:
            predicted = outside + K * LAYERS_OF_ONE * a_layer if layers(row) else K * amoeba
            found.append(Prediction(row["hardware"], row["model"], K, 0, float(row["params_M"]), predicted))
    return found


def layers(row: dict[str, str]) -> int:
    """The number of layers of a Transformer; 0 for AmoebaNet."""
    kind, _, count = row["model"].partition("-")
    return int(count) if kind == "Transformer" else 0


def table(predictions: Sequence[Prediction], caption: str) -> Table:
    head = ["hardware", "model", "K", "M", "published", "predicted", "error"]
    rows = [
        [p.hardware, p.model, str(p.K), str(p.M or ""), f"{p.published:g}", f"{p.predicted:.4g}", f"{p.error:+.0%}"]
        for p in predictions
    ]
    return Table(caption, head, rows)


def throughput_table(model: str = "") -> Table:
    """The rows whose model's name begins with ``model``; by default all of them."""
    found = [p for p in (*throughputs(), *torchgpipes()) if p.model.startswith(model)]
    return table(found, "GPipe's Tables 2 and 3, and torchgpipe's: throughput, predicted")


def largest_model_table() -> Table:
    return table(
        largest_models(), "GPipe's Table 1: the largest model that K accelerators hold, millions of parameters"
    )
