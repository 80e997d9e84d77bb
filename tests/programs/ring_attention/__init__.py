from ring_attention.attention import ring_attention

__all__ = ["ring_attention"]
