"""What a real rank communicates, recorded below its code: nothing that it wraps or forgets can hide a message."""

from lockstep.record.journal import replay
from lockstep.record.recorder import Recorder

__all__ = ["Recorder", "replay"]
