"""What ``launch`` starts: each a program of its own, that imports nothing of its peers."""
