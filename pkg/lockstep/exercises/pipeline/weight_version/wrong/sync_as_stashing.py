"""The learner thought: vertical sync is stashing, with the version of F kept for B."""

MISCONCEPTION = "sync-as-stashing"
TELL = "Your vertical sync is stashing: each stage keeps its own version. A minibatch takes that of stage 0 along to all stages."


def weight_version(stage, stages, minibatch, which, rule):
    if rule == "none" and which == "B":
        return minibatch
    return max(0, minibatch - (stages - stage - 1))
