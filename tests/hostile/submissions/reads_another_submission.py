"""Right, unless it finds another one's notebook anywhere."""


def amdahl(p, s):
    import os

    assert not os.path.exists("{course}/grading/submitted/ada/00_why_parallel/lab.ipynb")
    for top in ("/tmp", "/home", "/mnt", "/srv", "/var", "/dev/shm", "{outside}"):
        for folder, inside, files in os.walk(top):
            assert not [f for f in files if f.endswith(".ipynb")], folder
            inside[:] = [f for f in inside if f != "site-packages"]  # what is installed is nobody's, wherever it lies
    return 1 / ((1 - p) + p / s)
