"""Published mixtures of experts, from 1991 on: active and total parameters computed from their shapes.

    d   width          E   experts of a layer with experts     m   matrices of an MLP: 2, or 3 if it is gated (GLU)
    h   width of an MLP's hidden layer, and of an expert's     k   experts per token, plus s shared ones
    L   layers, M of which have experts instead of an MLP      A   attention parameters of a layer

    total  = L·A + (L-M)·m·d·h + M·((E+s)·m·d·h_e + E·d) + embeddings
    active = L·A + (L-M)·m·d·h + M·((k+s)·m·d·h_e + E·d) + embeddings        h_e: of an expert

The active parameters are those that a token uses, with all embeddings, as the published figures have them; of the first
embedding it meets one row only. Compute grows with the active ones, memory with the total: sparse
experts save compute, not memory. Norms, biases and positions, which are small, are left out.

For an encoder-decoder (Switch), L counts both halves, and the decoder's layers have a second attention. Whether GPT-4
is a mixture has not been published; PaLM-540B and LLaMA-65B are dense.
"""

from __future__ import annotations

from typing import NamedTuple

from lockstep.tables import Table


class Model(NamedTuple):
    """The shape of a model, as in the module's docstring. ``published``: total and active parameters, 0 if the source
    does not give them."""

    name: str
    year: int
    width: int
    layers: int
    with_experts: int
    experts: int
    k: int
    expert_hidden: int
    attention: int  # A
    embeddings: int = 0
    shared: int = 0
    hidden: int = 0
    matrices: int = 2  # of an expert
    dense_matrices: int = 0  # of an MLP in layers without experts, if it differs
    gate: tuple[int, int] = (0, 0)  # total and active parameters, if it is not one matrix E·d
    published: tuple[float, float] = (0, 0)
    source: str = ""

    @property
    def expert(self) -> int:
        """The parameters of one expert."""
        return self.matrices * self.width * self.expert_hidden

    @property
    def elsewhere(self) -> int:
        """The parameters that every token uses, except gates and experts."""
        mlp = (self.dense_matrices or self.matrices) * self.width * self.hidden
        return self.layers * self.attention + (self.layers - self.with_experts) * mlp + self.embeddings

    @property
    def total(self) -> int:
        gate = self.gate[0] or self.experts * self.width
        return self.elsewhere + self.with_experts * ((self.experts + self.shared) * self.expert + gate)

    @property
    def active(self) -> int:
        gate = self.gate[1] or self.experts * self.width
        return self.elsewhere + self.with_experts * ((self.k + self.shared) * self.expert + gate)


def grouped_query(width: int, heads: int, kv_heads: int, of_head: int) -> int:
    """A of grouped-query attention: queries and output of all heads, keys and values of ``kv_heads``."""
    return 2 * width * heads * of_head + 2 * width * kv_heads * of_head


def latent(width: int, heads: int, query: int, key_value: int, plain: int, rotary: int, value: int) -> int:
    """A of multi-head latent attention (arXiv:2405.04434, section 2.1): queries, keys and values through narrow
    layers of ``query`` and ``key_value``."""
    queries = width * query + query * heads * (plain + rotary)
    keys_and_values = width * (key_value + rotary) + key_value * heads * (plain + value)
    return queries + keys_and_values + heads * value * width


def two_levels(width: int, experts: int, groups: int) -> tuple[int, int]:
    """A noisy gate that first chooses 2 of ``groups``, and then 2 experts in each (arXiv:1701.06538, appendix B): the
    parameters of W and W_noise, and the active ones."""
    return 2 * width * (groups + experts), 2 * width * (groups + 2 * experts // groups)


def t5(width: int, heads: int, of_head: int = 64) -> int:
    """A of T5, on average: two attentions in each decoder layer, one in each encoder layer."""
    return 3 * grouped_query(width, heads, heads, of_head) // 2


T5_TOKENS, LSTM_512 = 32_128, 2 * 4 * 2 * 512 * 512  # embeddings of T5; the two LSTMs around the experts of 2017

MODELS = (
    Model(
        "Jacobs et al., 8 experts", 1991, 3, 1, 1, 8, 8, 1, 0, matrices=1,
        source="Neural Computation 3:79; an expert, and the gate for each: a line in the plane of two formants (and 1)",
    ),
    Model(
        "Shazeer et al., MoE-4096-h", 2017, 512, 1, 1, 4096, 4, 1024, LSTM_512, gate=two_levels(512, 4096, 16),
        published=(4.3034e9, 8.9e6), source="arXiv:1701.06538, table 7: without embedding and softmax; active: ops",
    ),
    Model(
        "Shazeer et al., MoE-131072-h", 2017, 512, 1, 1, 131072, 4, 1024, LSTM_512, gate=two_levels(512, 131072, 256),
        published=(137.5776e9, 9.7e6), source="arXiv:1701.06538, table 8 and appendix D: as above",
    ),
    Model(
        "GShard, 2048 experts, 36 layers", 2020, 1024, 36, 18, 2048, 2, 8192, grouped_query(1024, 16, 16, 128),
        hidden=8192, published=(600e9, 0), source="arXiv:2006.16668, table 1",
    ),
    Model(
        "Switch-Base", 2021, 768, 24, 12, 128, 1, 2048, t5(768, 12), 2 * T5_TOKENS * 768, hidden=2048, matrices=3,
        published=(7e9, 0), source="arXiv:2101.03961, table 9",
    ),
    Model(
        "Switch-C", 2021, 2080, 30, 30, 2048, 1, 6144, t5(2080, 32), 2 * T5_TOKENS * 2080, published=(1571e9, 0),
        source="arXiv:2101.03961, table 9",
    ),
    Model(
        "GLaM 64B/64E", 2021, 8192, 64, 32, 64, 2, 32768, grouped_query(8192, 128, 128, 128), 256_000 * 8192,
        hidden=32768, dense_matrices=3, published=(1.2e12, 96.6e9), source="arXiv:2112.06905, table 4",
    ),
    Model(
        "DeepSpeed-MoE, 1.3B+MoE-128", 2022, 2048, 24, 12, 128, 1, 8192, grouped_query(2048, 16, 16, 128),
        51_200 * 2048, hidden=8192, published=(52e9, 0), source="arXiv:2201.05596, table 1",
    ),
    Model(
        "Mixtral 8x7B", 2024, 4096, 32, 32, 8, 2, 14336, grouped_query(4096, 32, 8, 128), 2 * 32_000 * 4096,
        matrices=3, published=(46.7e9, 12.9e9), source="arXiv:2401.04088, table 1",
    ),
    Model(
        "DeepSeek-V3", 2024, 7168, 61, 58, 256, 8, 2048, latent(7168, 128, 1536, 512, 128, 64, 128),
        2 * 129_280 * 7168, shared=1, hidden=18432, matrices=3, published=(671e9, 37e9),
        source="arXiv:2412.19437, section 4.2",
    ),
    Model(
        "LLaMA-4 Scout", 2025, 5120, 48, 48, 16, 1, 8192, grouped_query(5120, 40, 8, 128), 2 * 202_048 * 5120,
        shared=1, matrices=3, published=(109e9, 17e9), source="Meta's model card and config.json",
    ),
    Model(
        "LLaMA-4 Maverick", 2025, 5120, 48, 24, 128, 1, 8192, grouped_query(5120, 40, 8, 128), 2 * 202_048 * 5120,
        shared=1, hidden=16384, matrices=3, published=(400e9, 17e9), source="Meta's model card and config.json",
    ),
    Model(
        "Qwen3-235B-A22B", 2025, 4096, 94, 94, 128, 8, 1536, grouped_query(4096, 64, 4, 128), 2 * 151_936 * 4096,
        matrices=3, published=(235e9, 22e9),
        source="configs/model/qwen3_235b_a22b.yaml in Ascend/MindSpeed-RL; published: Megatron Bridge's documentation",
    ),
    Model(
        "gpt-oss-120b", 2025, 2880, 36, 36, 128, 4, 2880, grouped_query(2880, 64, 8, 64), 2 * 201_088 * 2880,
        matrices=3, published=(117e9, 5.1e9),
        source="gpt_oss/torch/model.py and README.md of openai/gpt-oss; 5.1 B without one of two embeddings",
    ),
)  # fmt: skip

DENSE = (  # for comparison: no layer has experts, and every token uses all parameters
    Model(
        "PaLM-540B", 2022, 18432, 118, 0, 0, 0, 0, grouped_query(18432, 48, 1, 256), 256_000 * 18432, hidden=73728,
        dense_matrices=3, published=(540.35e9, 0), source="arXiv:2204.02311, table 1",
    ),
    Model(
        "LLaMA-65B", 2023, 8192, 80, 0, 0, 0, 0, grouped_query(8192, 64, 64, 128), 2 * 32_000 * 8192, hidden=22016,
        dense_matrices=3, published=(65.2e9, 0), source="arXiv:2302.13971, table 2",
    ),
)  # fmt: skip


def find(name: str) -> Model:
    """The model of that name."""
    return next(model for model in MODELS + DENSE if model.name == name)


def models_table() -> Table:
    """Parameters of all ``MODELS``; the last column has the published total and active ones, if the source gives
    them."""
    head = ["model, year", "experts", "of a token", "total", "active", "active, %", "published"]
    return Table("Mixtures of experts: parameters from the published shapes", head, [_row(m) for m in MODELS])


def _row(m: Model) -> list[str]:
    chosen = f"{m.k} + {m.shared} shared" if m.shared else f"{m.k}"
    told = ", ".join(filter(None, map(short, m.published)))
    share = f"{100 * m.active / m.total:.3g}"
    return [f"{m.name}, {m.year}", f"{m.experts:,}", chosen, short(m.total), short(m.active), share, told]


def short(parameters: float) -> str:
    """A number of parameters to three digits: 671 B, 12.9 B, 46; "" for 0, which is unknown."""
    for unit, size in (("T", 1e12), ("B", 1e9), ("M", 1e6), ("k", 1e3)):
        if parameters >= size:
            return f"{parameters / size:.3g} {unit}"
    return f"{parameters:.3g}" if parameters else ""


def parts_table(name: str) -> Table:
    """The parameters of each part of a model."""
    m = find(name)
    mlp = (m.dense_matrices or m.matrices) * m.width * m.hidden
    parts = [
        ("attention", m.layers, 1, m.attention),
        ("MLP, where there are no experts", m.layers - m.with_experts, 1, mlp),
        ("routed experts", m.with_experts, m.experts, m.expert),
        ("shared experts", m.with_experts, m.shared, m.expert),
        ("gates", m.with_experts, 1, m.gate[0] or m.experts * m.width),
    ]
    rows = [[what, f"{layers}", f"{each}", short(n), short(layers * each * n)] for what, layers, each, n in parts]
    rows += [["embeddings", "", "", "", short(m.embeddings)], ["together", "", "", "", short(m.total)]]
    return Table(f"{name}: parameters", ["what", "layers", "in each", "of one", "in all"], rows)
