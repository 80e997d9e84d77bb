"""A notebook full of outputs, larger than any lab."""
# status: wrong format
# told: Clear Outputs


def hand_in(notebook, folder):
    import json

    notebook["cells"][0]["metadata"]["ballast"] = "x" * 51_000_000
    (folder / "lab.ipynb").write_text(json.dumps(notebook))
