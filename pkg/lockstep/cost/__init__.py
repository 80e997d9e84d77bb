"""Pure arithmetic about time, messages and bytes: no torch, so that planner, checks and figures can share it."""
