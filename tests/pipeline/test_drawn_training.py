from lockstep.pipeline.drawn_schedule import drawing
from lockstep.pipeline.drawn_training import trained
from lockstep.show.pipeline_svg import draw_rows as draw


def test_a_drawing_trains_what_one_rank_trains() -> None:
    for rows in (drawing(1, 2, 2), drawing(3, 5, 2)):
        found = trained(rows)
        assert len(found.losses) == len(found.alone) == 4
        assert max(abs(a - b) for a, b in zip(found.losses, found.alone, strict=True)) < 1e-6
        assert found.apart < 1e-6
        assert found.losses[-1] < found.losses[0]


def test_a_drawing_is_shown_with_its_counts_in_words() -> None:
    picture = draw([["F0", "..", "..", "B0"], ["", "F0", "B0"]], "It trained.")
    assert "A drawing of 2 stages: 4 slots, 50% idle. It trained." in picture
    assert "stage 1: Backward of micro-batch 0, 2 to 3" in picture
