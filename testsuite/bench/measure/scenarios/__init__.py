# SPDX-License-Identifier: GPL-2.0-or-later
"""Each module is one scenario: a function measure(options, figures), whose docstring says what it
measures.
"""
