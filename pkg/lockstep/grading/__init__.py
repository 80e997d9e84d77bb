"""From the authors' text sources to notebooks, and from a learner's notebook to a grade."""
