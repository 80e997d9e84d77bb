# %% [markdown]
# # 07 Horovod: more
