"""Real ranks: processes of this machine, and the ranks that a launcher such as torchrun has started."""
