"""Runs any CUDA program on the CPU executor: python3 -m tools.emulate."""
