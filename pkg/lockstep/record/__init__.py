"""What a real rank communicates, recorded below its code: nothing that it wraps or forgets can hide a message."""

from lockstep.record.operation import Operation, replay
from lockstep.record.recorder import Recorder

__all__ = ["Operation", "Recorder", "replay"]
