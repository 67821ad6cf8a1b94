/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/skube/terminal.h"

#include <sys/ioctl.h>

#include <cstdlib>
#include <string_view>
#include <unistd.h>

namespace slurmkube::skube
{

namespace
{

std::string_view environment(const char *name)
{
	const char *value = getenv(name); // NOLINT(concurrency-mt-unsafe): one thread
	return value ? value : "";
}

} // namespace

TextStyle style_of_output(bool is_wide)
{
	if (!isatty(STDOUT_FILENO))
		return {};
	winsize size{};
	const bool has_size = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
	const std::string_view kind = environment("TERM");
	return {.width = has_size && !is_wide ? size.ws_col : std::size_t{0},
		.has_color = environment("NO_COLOR").empty() && !kind.empty() && kind != "dumb"};
}

} // namespace slurmkube::skube
