"""The models that can be planned: decoder-only Transformers, by their shapes.

    h   hidden     width                       a   heads      queries' heads       s   positions of a sequence
    L   layers                                 g   kv_heads   keys' and values'    V   vocabulary
    f   ffn        width inside the MLP        d   head_dim

A layer's parameters: attention h·d·(2a + 2g), an MLP of 2 matrices, or of 3 if ``gated`` (SwiGLU), each h·f. In a
mixture of experts the MLP is replaced by ``experts`` of width ``expert_ffn``, of which each token uses ``top_k``, and
``shared_experts`` that all tokens use; the first ``dense_layers`` keep a dense MLP.

Sources of the shapes: GPT-3, arXiv:2005.14165, table 2.1; GPT-2, Radford et al. 2019; Megatron's, arXiv:2104.04473,
table 1, with its vocabulary of 51,200; Llama 2, arXiv:2307.09288; Llama 3, arXiv:2407.21783, table 3; Mixtral,
arXiv:2401.04088, table 1, and the published configuration of 8x22B; DeepSeek-V3, arXiv:2412.19437, section 4.2;
GPT-OSS, arXiv:2508.10925, section 2; Qwen3, arXiv:2505.09388, tables 1 and 2.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from types import MappingProxyType

from lockstep.errors import UsageError
from lockstep.planner.hashed_once import hashed_once


@dataclass(frozen=True)
class Latent:
    """Multi-head latent attention (DeepSeek-V2, arXiv:2405.04434, section 2.1): queries, keys and values are made from
    short vectors. Widths of: the query's latent, the keys' and values', a head without and with rotation, its value."""

    query: int
    key_value: int
    plain: int
    rotated: int
    value: int


@hashed_once
@dataclass(frozen=True)
class Model:
    """A Transformer's shape. ``ffn`` 0: 4·hidden; ``kv_heads`` 0: heads; ``head_dim`` 0: hidden / heads."""

    name: str
    layers: int
    hidden: int
    heads: int
    kv_heads: int = 0
    head_dim: int = 0
    ffn: int = 0
    gated: int = 0
    vocab: int = 51200
    experts: int = 0
    top_k: int = 0
    expert_ffn: int = 0
    shared_experts: int = 0
    dense_layers: int = 0
    seq: int = 2048  # positions of a sequence, unless the plan says otherwise
    learned_positions: int = 0  # GPT's, as parameters
    tied: int = 0  # the embedding is also the output's matrix
    predicted_further: int = 0  # layers that predict one more token (multi-token prediction)
    latent: Latent | None = None
    window: int = 0  # in every other layer attention sees so many positions only
    clamped: int = 0  # the activation is cut off, and experts have biases: no usual kernel has that (GPT-OSS)

    def __post_init__(self) -> None:
        for name, value in (
            ("kv_heads", self.heads),
            ("head_dim", self.hidden // self.heads if self.heads else 0),
            ("ffn", 4 * self.hidden),
        ):
            if not getattr(self, name):
                object.__setattr__(self, name, value)

    @cached_property
    def attention_parameters(self) -> int:
        if m := self.latent:
            down = self.hidden * (m.query + m.key_value + m.rotated)
            up = self.heads * (m.query * (m.plain + m.rotated) + m.key_value * (m.plain + m.value))
            return down + up + self.heads * m.value * self.hidden
        return 2 * self.hidden * self.head_dim * (self.heads + self.kv_heads)

    @cached_property
    def dense_mlp_parameters(self) -> int:
        return (3 if self.gated else 2) * self.hidden * self.ffn

    @cached_property
    def expert_parameters(self) -> int:
        """Of one expert."""
        return (3 if self.gated else 2) * self.hidden * self.expert_ffn

    @cached_property
    def moe_layers(self) -> int:
        """Layers with experts; multi-token prediction has one more of them."""
        return self.layers - self.dense_layers + self.predicted_further if self.experts else 0

    @cached_property
    def all_layers(self) -> int:
        return self.layers + self.predicted_further

    @cached_property
    def embedding(self) -> int:
        return self.vocab * self.hidden

    @cached_property
    def parameters(self) -> int:
        """All parameters that are trained, without multi-token prediction, as papers count them."""
        outside = (1 if self.tied else 2) * self.embedding + self.learned_positions * self.hidden
        moe = self.moe_layers - self.predicted_further if self.experts else 0
        experts = moe * ((self.experts + self.shared_experts) * self.expert_parameters + self.hidden * self.experts)
        dense = (self.layers - moe) * self.dense_mlp_parameters
        return outside + self.layers * (self.attention_parameters + 2 * self.hidden) + experts + dense

    @cached_property
    def active_parameters(self) -> int:
        """Those that a token uses."""
        idle = self.experts - self.top_k if self.experts else 0
        moe = self.moe_layers - self.predicted_further if self.experts else 0
        return self.parameters - moe * idle * self.expert_parameters

    def flops_per_token(self, seq: int) -> float:
        """Model FLOP of a token in a training step: forward, and twice that backward; the output's matrix is counted,
        the embedding's look-up is not. Attention is counted whole, without the causal mask, as Megatron counts it
        (arXiv:2205.05198, equation 7)."""
        score = 4 * self.head_dim
        if m := self.latent:
            score = 2 * (m.plain + m.rotated + m.value)
        seen: float = seq * self.all_layers
        if self.window:
            seen = (seq + min(self.window, seq)) * self.all_layers / 2
        attention = score * self.heads * seen
        moe = self.moe_layers
        mlp: float = (self.all_layers - moe) * self.dense_mlp_parameters
        if moe:
            mlp += moe * ((self.top_k + self.shared_experts) * self.expert_parameters + self.hidden * self.experts)
        heads = (1 + self.predicted_further) * self.embedding
        return 3 * (2 * (self.all_layers * self.attention_parameters + mlp + heads) + attention)


def _gpt(name: str, layers: int, hidden: int, heads: int, vocab: int = 51200, seq: int = 2048) -> Model:
    return Model(name, layers, hidden, heads, vocab=vocab, seq=seq, learned_positions=seq, tied=1)


def _llama(name: str, layers: int, hidden: int, heads: int, kv_heads: int, ffn: int, vocab: int, seq: int) -> Model:
    return Model(name, layers, hidden, heads, kv_heads, ffn=ffn, gated=1, vocab=vocab, seq=seq)


_LATENT = Latent(query=1536, key_value=512, plain=128, rotated=64, value=128)
_MEGATRON = {  # billions of parameters: layers, hidden, heads
    "1.7b": (24, 2304, 24), "3.6b": (30, 3072, 32), "7.5b": (36, 4096, 32), "18.4b": (40, 6144, 48),
    "22b": (48, 6144, 64), "39.1b": (48, 8192, 64), "76.1b": (60, 10240, 80), "145.6b": (80, 12288, 96),
    "310.1b": (96, 16384, 128), "530b": (105, 20480, 128), "1t": (128, 25600, 160),
}  # fmt: skip

MODELS: Mapping[str, Model] = MappingProxyType(
    {
        m.name: m
        for m in (
            _gpt("gpt2-xl", 48, 1600, 25, vocab=50257, seq=1024),
            _gpt("gpt3-6.7b", 32, 4096, 32),
            _gpt("gpt3-13b", 40, 5120, 40),
            _gpt("gpt3-175b", 96, 12288, 96),
            *(_gpt(f"megatron-{size}", *shape) for size, shape in _MEGATRON.items()),
            _llama("llama2-7b", 32, 4096, 32, 32, 11008, 32000, 4096),
            _llama("llama2-13b", 40, 5120, 40, 40, 13824, 32000, 4096),
            _llama("llama2-70b", 80, 8192, 64, 8, 28672, 32000, 4096),
            _llama("llama3-8b", 32, 4096, 32, 8, 14336, 128256, 8192),
            _llama("llama3-70b", 80, 8192, 64, 8, 28672, 128256, 8192),
            _llama("llama3-405b", 126, 16384, 128, 8, 53248, 128256, 8192),
            Model(
                "mixtral-8x7b", 32, 4096, 32, 8, gated=1, vocab=32000, experts=8, top_k=2, expert_ffn=14336, seq=4096
            ),
            Model(
                "mixtral-8x22b", 56, 6144, 48, 8, gated=1, vocab=32768, experts=8, top_k=2, expert_ffn=16384, seq=4096
            ),
            Model(
                "deepseek-v3", 61, 7168, 128, head_dim=192, ffn=18432, gated=1, vocab=129280, experts=256, top_k=8,
                expert_ffn=2048, shared_experts=1, dense_layers=3, seq=4096, latent=_LATENT,
            ),
            Model(
                "gpt-oss-20b", 24, 2880, 64, 8, 64, gated=1, vocab=201088, experts=32, top_k=4, expert_ffn=2880,
                seq=4096, window=128, clamped=1,
            ),
            Model(
                "gpt-oss-120b", 36, 2880, 64, 8, 64, gated=1, vocab=201088, experts=128, top_k=4, expert_ffn=2880,
                seq=4096, window=128, clamped=1,
            ),
            Model(
                "qwen3-30b-a3b", 48, 2048, 32, 4, 128, gated=1, vocab=151936, experts=128, top_k=8, expert_ffn=768,
                seq=4096,
            ),
            Model(
                "qwen3-235b-a22b", 94, 4096, 64, 4, 128, gated=1, vocab=151936, experts=128, top_k=8, expert_ffn=1536,
                seq=4096,
            ),
        )
    }
)  # fmt: skip
ALSO: Mapping[str, str] = MappingProxyType({"gpt3": "gpt3-175b", "gpt-3": "gpt3-175b"})  # other names

KEYS = tuple(f.name for f in fields(Model) if f.type == "int" and f.name not in ("window", "clamped"))
NEEDED = ("layers", "hidden", "heads")
ZERO_SAYS_NONE = ("gated", "experts", "top_k", "expert_ffn", "shared_experts", "dense_layers", "learned_positions",
                  "tied", "predicted_further")  # fmt: skip


def find(text: str, seq: int | None = None) -> Model:
    """The model of that name, or the one that ``layers=…,hidden=…,heads=…`` describes. ``seq``: positions of a sequence
    instead of its own. Raises UsageError, with the nearest names or keys."""
    model = _described(text) if "=" in text else _named(text)
    return replace(model, seq=seq) if seq else model


def _named(text: str) -> Model:
    name = text.strip().lower().replace("_", "-").replace(" ", "-")
    name = ALSO.get(name, name)
    if name in MODELS:
        return MODELS[name]
    raise UsageError(
        f"There is no model named {text!r}.{guess(name, MODELS)}",
        f"Choose among {', '.join(MODELS)}, or describe yours: --model layers=32,hidden=4096,heads=32.",
    )


def _described(text: str) -> Model:
    given: dict[str, int] = {}
    for part in text.split(","):
        key, _, value = (piece.strip() for piece in part.partition("="))
        if key not in KEYS:
            raise UsageError(f"A model has no {key!r}.{guess(key, KEYS)}", f"What can be given: {', '.join(KEYS)}.")
        given[key] = whole(key, value, least=0 if key in ZERO_SAYS_NONE else 1)
    if missing := [key for key in NEEDED if key not in given]:
        raise UsageError(
            f"The model needs {' and '.join(missing)}.", "Write at least --model layers=32,hidden=4096,heads=32."
        )
    return checked(Model("your model", **given))  # type: ignore[arg-type]


def checked(model: Model) -> Model:
    """``model``, if its numbers fit each other. Raises UsageError."""
    m = model
    if m.hidden % m.heads and m.head_dim * m.heads == (m.hidden // m.heads) * m.heads:
        raise UsageError(
            f"{m.heads} heads do not divide a hidden width of {m.hidden}.", "Change one of them, or give head_dim."
        )
    if m.heads % m.kv_heads:
        raise UsageError(f"{m.kv_heads} KV heads do not divide {m.heads} heads.", "Each serves as many heads.")
    if m.experts and not (m.top_k and m.expert_ffn):
        raise UsageError("A model with experts needs top_k and expert_ffn.", "Add, say, top_k=2,expert_ffn=14336.")
    if (m.top_k or m.expert_ffn or m.shared_experts) and not m.experts:
        raise UsageError("top_k, expert_ffn and shared_experts are of a mixture.", "Say how many experts: experts=8.")
    if m.top_k > m.experts:
        raise UsageError(f"A token cannot use {m.top_k} of {m.experts} experts.", "top_k is at most experts.")
    if m.dense_layers > m.layers:
        raise UsageError(f"{m.dense_layers} of {m.layers} layers cannot be dense.", "dense_layers is at most layers.")
    return model


def guess(name: str, known: Mapping[str, object] | tuple[str, ...]) -> str:
    """ " Did you mean …?" with the nearest names, or nothing."""
    near = difflib.get_close_matches(name.lower(), [*known], n=3, cutoff=0.5)
    return f" Did you mean {' or '.join(map(repr, near))}?" if near else ""


def whole(name: str, value: str, least: int = 1) -> int:
    """``value`` as a whole number of at least ``least``. Raises UsageError."""
    try:
        number = int(value)
    except ValueError:
        number = least - 1
    if number < least:
        example = f"{name} 8" if name.startswith("--") else f"{name}=8"
        raise UsageError(f"{name} is a whole number from {least} on, not {value!r}.", f"Write, say, {example}.")
    return number
