"""Pack shards: what is in them, and what is opened and read to get it back."""

from lockstep.checks.evidence_rules import Rule
from lockstep.exercises.bottlenecks.by_rules import by_rules
from lockstep.exercises.bottlenecks.observed_packing import TRIED, facts, watch

VALUES = (
    Rule("changes-names", lambda e: not e["kept"], "the list {changed} is another one afterwards. Leave it as it "
         "was."),
    Rule("wrong-type", lambda e: not e["callable"], "it returns {type}; a function is wanted: read(some)."),
    Rule("too-large", lambda e: e["too large"], "a shard has {too large} bytes; {limit} are the limit. Look before "
         "you write whether the next file still fits."),
    Rule("other-bytes", lambda e: e["written"] != e["total"], "the shards have {written} bytes in all; the files have "
         "{total}."),
    Rule("too-many-shards", lambda e: e["many"] > e["few"], "{many} shards have something in them; {few} are enough."),
    Rule("other-order", lambda e: e["other"] is not None, "shard {other} has other bytes than the files one after "
         "another, in the order of names."),
    Rule("empty-shard", lambda e: e["empty"] > 0, "shards without a byte: {empty}. A file that is larger than the "
         "limit goes into the shard that is there, if nothing is in that; an empty file behind it begins no new one."),
    Rule("wrong-type", lambda e: e["reads"] and e["gives"], "read(some) gives {gives}; an iterator or a list of bytes "
         "is wanted."),
    Rule("wrong-number", lambda e: e["reads"] and e["number"] != e["asked"], "in call {turn} of read, {asked} "
         "contents are wanted, and {number} come."),
    Rule("order-of-shards", lambda e: e["reads"] and e["at"] >= 0 and e["order"], "read gives the right contents in "
         "another order than that of some."),
    Rule("wrong-content", lambda e: e["reads"] and e["at"] >= 0, "in call {turn} of read, {name!r} has other bytes "
         "than its file."),
)  # fmt: skip
COSTS = (
    Rule("opens-files-again", lambda e: e["again"] > 1, "to pack a small file, it is opened {again} times, not once."),
    Rule("reads-small-files", lambda e: e["reads"] and e["small"], "read opens {small} of the small files. It should "
         "get all that it gives from the shards."),
    Rule("opens-again", lambda e: e["reads"] and e["most"] > 1, "one call of read opens a shard {most} times. Once is "
         "enough."),
    Rule("from-memory", lambda e: e["reads"] and e["nbytes"] < e["needed"], "read gives {needed} bytes, and reads "
         "{nbytes} from the shards: the others were kept in memory."),
    Rule("reads-too-much", lambda e: e["reads"] and e["nbytes"] > e["enough"], "{nbytes} bytes are read; the files "
         "that read is asked for have {enough}."),
    Rule("leaves-open", lambda e: e["open"], "{open} files are open when {ends}. Close them.", price=1.0),
)  # fmt: skip

EXERCISE = by_rules(
    TRIED, watch, facts, VALUES, COSTS, number=8, core=False, title="Pack shards", points=3, minutes=20,
    parameters="store, names, limit", reference="lockstep.bottlenecks:pack_shards",
)  # fmt: skip
