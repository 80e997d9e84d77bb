"""What all worlds share of communication: one Operation, one Matcher, the rules of each backend, where a rank stands.

The virtual cluster posts its operations to a Matcher while they happen. Real ranks write theirs into journals, which
are posted to a Matcher afterwards. So a mismatch or a deadlock is found, and told, by the same code in every world.
"""
