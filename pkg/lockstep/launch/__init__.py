"""Running ranks as processes of this machine: ``processes`` starts them, ``worker`` is what each does, ``watchdog`` and
``diagnosis`` say why a run does not end, or how it did."""
