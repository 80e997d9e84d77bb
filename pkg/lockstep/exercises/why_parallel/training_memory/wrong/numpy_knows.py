"""The learner thought: numpy knows how large its numbers are."""

import numpy as np

MISCONCEPTION = "crashed:RankRaised"
RAISES = r"data type '\w+' not understood"
TELL = "NumPy does not know all of these dtypes. Write down the bytes of each in a dictionary of your own."


def training_memory(params, recipe):
    return params * sum(np.dtype(dtype).itemsize for dtype in recipe.values())
