"""A file that was cut off while it was saved."""
# status: wrong format
# told: line


def hand_in(notebook, folder):
    import json

    (folder / "lab.ipynb").write_text(json.dumps(notebook, indent=1)[:-500])
