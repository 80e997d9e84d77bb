"""Layers that are too big for one rank: each rank holds a part of every matrix, and all compute on the same batch."""
