"""Right, unless it finds another one's notebook anywhere."""


def amdahl(p, s):
    import os

    assert not os.path.exists("{course}/grading/submitted/ada/00_why_parallel/lab.ipynb")
    for top in ("/tmp", "/home", "/work", "/root", "/mnt", "/var/tmp", "/dev/shm"):
        for folder, _, files in os.walk(top):
            if "site-packages" not in folder:
                assert not [f for f in files if f.endswith(".ipynb")], folder
    return 1 / ((1 - p) + p / s)
