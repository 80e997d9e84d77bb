"""What one call of predict_peak does to its list is not seen by the next one."""

from lockstep import checks


def test_no_list_is_an_argument_of_two_calls():
    """Calls shared their lists. A function that reversed one was told of a later call: predict_peak([1200, 2400, 600],
    2, 1) gives 52,800. Called by itself, it gave the right 54,000."""
    exercise = next(e for e in checks.exercises() if e.id == "fsdp.predict_peak")
    for case in exercise.cases(1, 1):
        lists = [id(sizes) for sizes, _, _ in exercise.inputs(case, 0)]
        assert len(lists) == len(set(lists))
