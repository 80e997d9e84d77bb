"""An answer and its tests twice, as after copy and paste: nbgrader stops at such a notebook, and leaves the rest."""
# told: more than once


def hand_in(notebook, folder):
    import json

    cells = notebook["cells"]
    pair = [c for c in cells if c["id"] in ("answer-amdahl", "tests-amdahl")]
    wrong = {**pair[0], "source": "def amdahl(p, s):\n    return -1.0"}
    notebook["cells"] = [cells[0], wrong, pair[1], *cells[1:]]
    (folder / "lab.ipynb").write_text(json.dumps(notebook))
