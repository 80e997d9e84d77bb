"""Ranks that make groups in different orders meet the wrong ones under a group's number."""

from lockstep.comm.operation import Operation
from lockstep.launch.homonyms import homonyms


def used(rank, group, start, end, name="1"):
    return Operation(rank, "all_reduce", start, 4, None, group, name, end=end)


def test_two_groups_of_one_name_at_the_same_time():
    error = homonyms([[used(0, (0, 1), 0.0, 1.0)], [], [used(2, (1, 2), 0.5, None)], []])
    assert error.message == "Mismatch: ranks 0 and 2 called new_group with different ranks."
    assert [str(s) for s in error.standings] == [
        "rank 0 called all_reduce on ranks 0, 1",
        "rank 2 called all_reduce on ranks 1, 2",
    ]


def test_groups_without_a_common_rank_do_not_meet():
    assert homonyms([[used(0, (0, 1), 0.0, 1.0)], [], [used(2, (2, 3), 0.5, None)], []]) is None


def test_groups_of_different_names_are_fine():
    assert homonyms([[used(0, (0, 1), 0.0, 1.0, "1")], [], [used(2, (1, 2), 0.5, None, "2")], []]) is None


def test_ranks_that_have_come_back_give_old_names_to_new_groups():
    assert homonyms([[used(0, (0, 1), 0.0, 1.0)], [], [used(2, (1, 2), 2.0, 3.0)], []]) is None
    both = [used(0, (0, 1), 0.0, None), used(0, (0, 2), 0.5, 3.0)]  # the first was never waited for
    assert homonyms([both, [], [], []]) is None
