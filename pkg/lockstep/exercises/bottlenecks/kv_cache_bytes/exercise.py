"""The bytes of a KV cache: grouped heads, numbers of 1 to 4 bytes, and blocks that the sequences do not fill."""

from functools import partial
from random import Random

from lockstep.checks.exercise import Costs, Feedback, Values
from lockstep.checks.numbers import exact
from lockstep.exercises.arithmetic import Calls, arithmetic, whole


def drawn(grouped: int, block: int, dice: Random) -> Calls:
    """Models of several sizes, whose heads share keys and values by ``grouped`` (0: all of them share one pair)."""
    found = []
    for _ in range(5):
        kv_heads = dice.randint(2, 9) if grouped else 1
        heads = kv_heads * (grouped or dice.randint(4, 12))
        lengths = [dice.randint(1, 9000) for _ in range(dice.randint(2, 6))]
        layers, width, nbytes = dice.randint(3, 90), heads * 16 * dice.randint(2, 9), dice.choice((1, 2, 4))
        found.append((layers, heads, kv_heads, width, lengths, nbytes, block))
    return found


def steps(layers: int, heads: int, kv_heads: int, width: int, lengths: list[int], nbytes: int, block: int) -> str:
    blocks = [-(-length // block) for length in lengths]
    return f"a head has {width // heads} numbers; the sequences have {', '.join(map(str, blocks))} blocks."


EXERCISE = arithmetic(
    {
        "heads that share keys and values": partial(drawn, 4, 1),
        "a pair of keys and values for each head": partial(drawn, 1, 1),
        "one pair for all heads": partial(drawn, 0, 1),
        "blocks of 16 tokens": partial(drawn, 4, 16),
        "blocks that are filled to the last token": [(8, 8, 2, 512, [32, 64], 2, 16), (8, 8, 2, 512, [16], 2, 16)],
        "sequences without tokens": [(8, 8, 2, 512, [0, 5, 0], 2, 16), (8, 8, 4, 512, [], 2, 16)],
        "the sizes of LLaMA-3 8B": [(32, 32, 8, 4096, [8192] * 4, 2, 1), (32, 32, 8, 4096, [8191, 1], 2, 16)],
    }, number=6, core=False, title="The bytes of a KV cache", points=2, minutes=10,
    parameters="layers, heads, kv_heads, width, lengths, nbytes, block",
    reference="lockstep.bottlenecks:kv_cache_bytes", values=Values(share=0.75, agrees=exact),
    costs=Costs(economise=whole), feedback=Feedback(steps=steps, answer="a whole number"),
)  # fmt: skip
