"""./lab mutate: one small mistake at a time in a stage's kernels, and whether `check` rejects it."""
