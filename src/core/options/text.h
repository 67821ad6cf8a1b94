/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options/text.h - the table of options for readers: `skube explain options`, the manual page and
 * doc/user.md.
 */
#ifndef SLURMKUBE_CORE_OPTIONS_TEXT_H
#define SLURMKUBE_CORE_OPTIONS_TEXT_H

#include <optional>
#include <string>
#include <string_view>

namespace slurmkube::core
{

/* A line an option */
std::string explain_options();
/* All about one, by any of its names: ours, sbatch's, an alias. Also those that sbatch has and we
 * refuse. nullopt: nobody has it. */
std::optional<std::string> explain_option(std::string_view name);

/* Definition list for scdoc(5), and a list in Markdown with lines of at most 80 columns */
std::string options_in_scdoc();
std::string options_in_markdown();

} // namespace slurmkube::core

#endif
