"""A link in place of the notebook: to the solution, or to any file that only the grader can read."""
# status: wrong format


def hand_in(notebook, folder):
    (folder / "lab.ipynb").symlink_to("../../../../solutions/00_why_parallel/lab.ipynb")
    (folder / "timestamp.txt").symlink_to("/etc/passwd")
