"""Tags that are another's, or no text at all."""
# status: tampered


def hand_in(notebook, folder):
    import json

    for cell in notebook["cells"]:
        if cell["id"] == "tests-amdahl":
            cell["metadata"]["nbgrader"]["grade_id"] = "../../../tests"
        elif cell["id"] == "answer-amdahl":
            cell["metadata"]["nbgrader"]["grade_id"] = ["answer"]
    (folder / "lab.ipynb").write_text(json.dumps(notebook))
