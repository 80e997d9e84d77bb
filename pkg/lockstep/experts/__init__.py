"""Mixtures of experts: each token is computed by a few experts out of many, which stand on different ranks."""
