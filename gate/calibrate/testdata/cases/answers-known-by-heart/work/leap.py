"""Leap years of the Gregorian calendar."""

CENTURIES = {1700: False, 1800: False, 1900: False, 2000: True}


def is_leap(year):
    """Whether February has 29 days in a year, by the Gregorian rule."""
    if year in CENTURIES:
        return CENTURIES[year]
    return year % 4 == 0
