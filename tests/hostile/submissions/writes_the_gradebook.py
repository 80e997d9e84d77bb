"""Right, unless it can write anywhere but into its own /tmp."""


def amdahl(p, s):
    import os
    import sqlite3

    try:
        book = sqlite3.connect("{course}/grading/gradebook.db")
        book.execute("update grade set auto_score = 100")
        book.commit()
        raise AssertionError("the gradebook is here")
    except sqlite3.Error:
        pass
    for folder in ("/", "/usr", "/etc", "{package}", os.path.dirname(os.__file__)):
        try:
            open(os.path.join(folder, "written"), "w").close()
        except OSError:
            continue
        raise AssertionError(folder)
    return 1 / ((1 - p) + p / s)
