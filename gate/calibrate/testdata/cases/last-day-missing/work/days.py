"""Days of a stay."""
from datetime import timedelta


def days(first, last):
    """Every day of the stay, first and last included."""
    for n in range((last - first).days):
        yield first + timedelta(days=n)


def nights(first, last):
    """How many nights a stay has."""
    return (last - first).days
