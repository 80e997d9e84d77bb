"""The exercises: one folder each, with what is asked, and with answers that are known to be wrong and right."""
