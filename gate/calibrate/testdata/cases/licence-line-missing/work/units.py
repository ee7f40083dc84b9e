"""Units of length."""
# SPDX-License-Identifier: Apache-2.0


def to_metres(cm):
    return cm / 100
