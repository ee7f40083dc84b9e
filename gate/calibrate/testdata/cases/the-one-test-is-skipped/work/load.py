"""Reads levels from a file, one a line."""


def load(path):
    with open(path) as f:
        lines = [line.strip() for line in f if line.strip()]
    if not lines:
        raise ValueError("empty")
    return [int(line) for line in lines]
