"""Running ranks as processes of this machine: ``processes`` starts them, ``rank_process`` is what each does,
``watchdog`` and ``post_mortem`` say why a run does not end, or how it did."""
