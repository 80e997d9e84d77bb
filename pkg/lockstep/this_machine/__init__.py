"""The machine that Lockstep runs on: what it has (``host``, ``hardware``), how fast it is (``survey``), and whether
everything works here (``doctor``)."""
