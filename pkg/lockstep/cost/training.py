"""The cost of training a model: FLOPs, days on given devices, and bytes of model states.

    N    parameters: the numbers that are learned
    D    tokens: the pieces of text that it is trained on, about three quarters of a word each

A token costs 2·N FLOP in the forward pass (every parameter is multiplied once and added once) and twice that in the
backward pass (the gradient of the inputs, and that of the parameters): 6·N·D in all. Kaplan et al., "Scaling laws for
neural language models", arXiv:2001.08361, section 2.1. GPT-3's 175e9 parameters and 300e9 tokens make 3.15e23; its
paper (arXiv:2005.14165, table D.1) has 3.14e23.

The memory is that of the *model states*: weights, gradients and optimizer state of every parameter. Activations come on
top, and depend on the batch. FLOP counts operations; FLOP/s is a rate.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from lockstep.errors import UsageError
from lockstep.tables import Table

SECONDS_PER_DAY = 24 * 60 * 60
FLOP_PER_PARAMETER_AND_TOKEN = 6

BYTES: Mapping[str, int] = MappingProxyType(
    {"float64": 8, "float32": 4, "bfloat16": 2, "float16": 2, "float8": 1, "int8": 1}
)

Recipe = Mapping[str, str]  # what is kept for every parameter -> its dtype

_ADAM_32 = {"momentum": "float32", "variance": "float32"}

# 80 layers of 7 matrices and 2 vectors; one more vector; one for each of 32,000 words, coming in and going out
# (arXiv:2302.13971, table 2, and the shapes of the published model).
LLAMA_65B = 80 * (4 * 8192**2 + 3 * 8192 * 22016 + 2 * 8192) + 8192 + 2 * 32000 * 8192

# The sources are those of the recipe; the bytes follow from its dtypes.
RECIPES: Mapping[str, Recipe] = MappingProxyType(
    {
        # only running the model
        "inference bf16": {"weights": "bfloat16"},
        "sgd fp32": {"weights": "float32", "gradients": "float32"},
        "momentum fp32": {"weights": "float32", "gradients": "float32", "momentum": "float32"},
        # Kingma, Ba, "Adam", arXiv:1412.6980: two moments of every gradient
        "adam fp32": {"weights": "float32", "gradients": "float32", **_ADAM_32},
        # ZeRO, arXiv:1910.02054, section 3.1: 2 + 2 + 12 bytes
        "adam mixed": {"weights": "bfloat16", "gradients": "bfloat16", "master weights": "float32", **_ADAM_32},
        # the same without the copy of the weights in float32
        "adam bf16": {"weights": "bfloat16", "gradients": "bfloat16", **_ADAM_32},
        # Dettmers et al., "8-bit optimizers via block-wise quantization", arXiv:2110.02861
        "adam 8-bit": {"weights": "bfloat16", "gradients": "bfloat16", "momentum": "int8", "variance": "int8"},
    }
)


def training_flops(params: float, tokens: float) -> float:
    """The FLOP of one pass over ``tokens`` tokens with ``params`` parameters: 6·N·D."""
    return FLOP_PER_PARAMETER_AND_TOKEN * params * tokens


def training_days(params: float, tokens: float, devices: int, peak: float, utilisation: float) -> float:
    """Days of training on ``devices`` devices of ``peak`` FLOP/s each, at the given utilisation.

    ``utilisation`` is the MFU, model FLOP utilisation (Chowdhery et al., "PaLM", arXiv:2204.02311, section 4.1): the
    share of the peak that is reached, above 0, up to 1, with all communication and waiting. Raises UsageError.
    """
    if not 0 < utilisation <= 1:
        raise UsageError(f"The utilisation is a share above 0, up to 1, not {utilisation}.", "Write 0.4 for 40 %.")
    if min(params, tokens, devices, peak) <= 0:
        raise UsageError("Parameters, tokens, devices and peak must all be above 0.", "The peak is in FLOP/s: 989e12.")
    return training_flops(params, tokens) / (devices * peak * utilisation) / SECONDS_PER_DAY


def bytes_per_parameter(recipe: Recipe) -> int:
    """Bytes that a recipe keeps for each parameter. Raises UsageError for a dtype that is not in BYTES."""
    unknown = [dtype for dtype in recipe.values() if dtype not in BYTES]
    if unknown:
        raise UsageError(f"There is no dtype {unknown[0]!r} here.", f"Choose among: {', '.join(BYTES)}.")
    return sum(BYTES[dtype] for dtype in recipe.values())


def training_memory(params: int, recipe: Recipe) -> int:
    """Bytes of the model states of ``params`` parameters. Activations come on top."""
    return params * bytes_per_parameter(recipe)


def most_parameters(memory: float, recipe: Recipe) -> int:
    """The largest number of parameters whose model states fit into ``memory`` bytes."""
    return int(memory // bytes_per_parameter(recipe))


def recipes_table(params: int, memory: float) -> Table:
    """For each recipe the bytes of ``params`` parameters, and how many parameters fit into ``memory`` bytes."""
    rows = [
        [name, " + ".join(f"{BYTES[dtype]} {kept}" for kept, dtype in recipe.items()), str(bytes_per_parameter(recipe)),
         f"{training_memory(params, recipe) / 1e9:,.0f} GB", f"{most_parameters(memory, recipe) / 1e9:.0f} billion"]
        for name, recipe in RECIPES.items()
    ]  # fmt: skip
    head = ["recipe", "bytes for each parameter", "sum", "all parameters", f"fit in {memory / 1e9:,.0f} GB"]
    return Table(f"Model states of {params:,} parameters, without activations", head, rows)
