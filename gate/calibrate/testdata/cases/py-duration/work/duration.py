"""Durations as people write them."""
import re

SECONDS = {"h": 3600, "m": 60, "s": 1}
WHOLE = re.compile(r"(?:[0-9]+[hms])+")
PART = re.compile(r"([0-9]+)([hms])")


def parse(text):
    """Seconds of a text such as 1h30m. ValueError for anything else."""
    if not WHOLE.fullmatch(text):
        raise ValueError(f"no duration: {text!r}")
    return sum(int(n) * SECONDS[unit] for n, unit in PART.findall(text))
