# SPDX-License-Identifier: Apache-2.0
"""Heights above the gauge's zero."""


def above_zero(reading_cm, offset_cm):
    return reading_cm - offset_cm
