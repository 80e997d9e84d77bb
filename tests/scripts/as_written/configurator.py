"""Executed by nano_gpt.py, as nanoGPT's configurator is: overrides its globals from the command line."""

import sys
from ast import literal_eval

for arg in sys.argv[1:]:
    key, val = arg[2:].split("=")
    if key not in globals():
        raise ValueError(f"Unknown config key: {key}")
    attempt = literal_eval(val) if not val.isidentifier() else val
    assert type(attempt) is type(globals()[key])
    print(f"Overriding: {key} = {attempt}")
    globals()[key] = attempt
