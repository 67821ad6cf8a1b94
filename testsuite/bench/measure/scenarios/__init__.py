# SPDX-License-Identifier: GPL-2.0-or-later
"""Each module is one scenario: a function measure(options, figures), and a docstring that says what
it measures.
"""
