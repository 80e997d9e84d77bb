"""What a test stands on, and what has been proven of it.

    tree      the files of a checkout, as they are now or were at a commit
    names     what a source names: imports, lazy ones too, and what stands in its strings
    closure   from a test module, or a part of it, to all files that it depends on
    ledger    tests/proven.json: a hash of those files, for each part that has passed
    parts     the part that a collected test belongs to
    watch     whether a test reads what its closure lacks
    plugin    pytest: run these parts alone, note which have passed, stop in time
    meter     pytest: CPU seconds by group, and the dearest tests

`make test-affected` and `make test-all` are its commands (``__main__``).
"""
