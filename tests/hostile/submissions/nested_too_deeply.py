"""Brackets that no parser comes back from."""
# status: wrong format


def hand_in(notebook, folder):
    (folder / "lab.ipynb").write_text("[" * 2_000_000)
