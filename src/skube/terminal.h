/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * terminal.h - what standard output can show.
 */
#ifndef SLURMKUBE_SKUBE_TERMINAL_H
#define SLURMKUBE_SKUBE_TERMINAL_H

#include "src/skube/table.h"

namespace slurmkube::skube
{

/* The width of the terminal as it is now, and colours; unlimited and without colours if standard
 * output is no terminal. No colours either if NO_COLOR is set to anything (https://no-color.org)
 * or TERM is dumb or unset. is_wide: lines may be wider than the terminal. */
TextStyle style_of_output(bool is_wide);

} // namespace slurmkube::skube

#endif
