"""A program that draws: B as soon as it can, or else F, if the stage has room."""


def draw_the_schedule(stages, micro_batches, cap):
    room = [min(cap, stages - s) for s in range(stages)]
    rows, done = [[] for _ in range(stages)], {}
    slot = 0
    while ("B", micro_batches - 1, 0) not in done:
        for s in range(stages):
            f = sum(cell.startswith("F") for cell in rows[s])
            b = sum(cell.startswith("B") for cell in rows[s])
            before = ("F", b, s) if s == stages - 1 else ("B", b, s + 1)
            if b < micro_batches and done.get(before, slot) < slot:
                cell = "B", b, s
            elif f < micro_batches and f - b < room[s] and (s == 0 or done.get(("F", f, s - 1), slot) < slot):
                cell = "F", f, s
            else:
                rows[s].append("")
                continue
            done[cell] = slot
            rows[s].append(f"{cell[0]}{cell[1]}")
        slot += 1
    return rows
