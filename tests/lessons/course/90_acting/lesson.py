# %% [markdown]
# # Acting, as a sample
#
# One cell of each kind. What it teaches is how long a tree takes.

# %%
from lockstep import predict, quiz, reconcile, your_turn

# %% [markdown]
# A star sends to 63 ranks, one after another. A tree doubles the number of ranks that have the tensor.

# %% lesson="predict star-over-tree"
predict("star-over-tree", "64 ranks. How many times as long as the tree does the star take?", unit="times", answer=10.5)

# %% lesson="after star-over-tree"
ratio = 63 / 6
print("first of those that wait")
reconcile("star-over-tree", simulated=ratio)

# %% [markdown] lesson="reason star-over-tree"
# **Our reason.** The star takes 63 rounds and the tree takes 6.

# %% [markdown] lesson="after star-over-tree"
# The paragraph behind the prediction says that nobody waits for long.

# %% lesson="after star-over-tree fold"
print(f"second, with {ratio:.1f}")


# %% lesson="turn tree_rounds"
def tree_rounds(K):
    """One rank has the tensor. How many rounds until K ranks have it?"""
    ### BEGIN SOLUTION
    return (K - 1).bit_length()
    ### END SOLUTION


# %% lesson="behind tree_rounds"
cases = [(K,) for K in (1, 2, 3, 4, 5, 6, 8, 9, 64, 1000)]
wrong = {
    lambda K: K - 1: "That is the star. In the tree, several ranks send in the same round.",
    lambda K: K.bit_length() - 1: "You round log₂ K down. The third rank has nothing yet.",
    lambda K: K.bit_length(): "One too many when K is a power of two.",
}
well = "Right: ⌈log₂ K⌉ rounds."

# %% [markdown] lesson="after tree_rounds"
# The paragraph behind the turn says that your line is at work.

# %% lesson="after tree_rounds"
print("rounds for 100 ranks:", tree_rounds(100))

# %% lesson="quiz messages"
quiz(
    "messages",
    "6 ranks. How many messages does the tree send in all?",
    answer=5,
    unit="messages",
    because="Each rank but the root receives the tensor once.",
    wrong={3: "That is the number of rounds.", 6: "The root has the tensor already."},
)

# %% lesson="quiz which"
quiz(
    "which",
    "Which of the two keeps one card busy?",
    choices=["star", "tree"],
    answer="star",
    because="All of its messages leave rank 0.",
    wrong={"tree": "In the tree, whoever has the tensor helps."},
)

# %% lesson="fold"
print("the end")
