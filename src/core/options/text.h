/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options/text.h - prints the table of options for `skube explain options`, the manual page and
 * doc/user.md.
 */
#ifndef SLURMKUBE_CORE_OPTIONS_TEXT_H
#define SLURMKUBE_CORE_OPTIONS_TEXT_H

#include <optional>
#include <string>
#include <string_view>

namespace slurmkube::core
{

/* One line per option. */
std::string explain_options();
/* Describes the option with this name: our own, sbatch's or an alias. Also names options of sbatch
 * that are refused. nullopt: no such option. */
std::optional<std::string> explain_option(std::string_view name);

/* A definition list for scdoc(5), and a list in Markdown with lines of at most 80 columns. */
std::string options_in_scdoc();
std::string options_in_markdown();

} // namespace slurmkube::core

#endif
