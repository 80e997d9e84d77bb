"""Models in stages: a schedule says which stage works on which micro-batch when, and a worker carries it out."""
