/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options_doc.cc - checks that the lists of options in the manual page and in the user's guide are
 * those that the program generates.
 *
 * usage: options_doc [--write] (--write updates the pages; $srcdir is the source tree, by default
 * the current directory)
 *
 * The text between the lines with "options: begin" and "options: end" is generated.
 */
#include "src/core/options/text.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

namespace
{

struct Page {
	const char *path;
	std::string (*list)();
};

constexpr Page k_pages[] = {
	{"doc/man/slurm-kube.7.scd", slurmkube::core::options_in_scdoc},
	{"doc/user.md", slurmkube::core::options_in_markdown},
};

std::string read(const std::string &path)
{
	std::ifstream file(path);
	return {std::istreambuf_iterator<char>(file), {}};
}

/* The text with the list replaced; empty: the page has no such lines. */
std::string with_list(const std::string &text, const std::string &list)
{
	const std::size_t begin = text.find("options: begin");
	const std::size_t end = text.find("options: end");
	if (begin == std::string::npos || end == std::string::npos || end < begin)
		return "";
	const std::size_t first = text.find('\n', begin) + 1;
	const std::size_t last = text.rfind('\n', end) + 1;
	return text.substr(0, first) + "\n" + list + (list.ends_with("\n\n") ? "" : "\n") +
		text.substr(last);
}

bool is_current(const std::string &path, const Page &page, bool write)
{
	const std::string text = read(path);
	const std::string wanted = with_list(text, page.list());
	if (!wanted.empty() && write)
		std::ofstream(path) << wanted;
	if (!wanted.empty() && (write || wanted == text))
		return true;
	(void)fprintf(stderr,
		"%s does not have the program's list of options: run "
		"testsuite/unit/options_doc --write\n",
		path.c_str());
	return false;
}

} // namespace

int main(int argc, char **argv)
{
	const char *srcdir = std::getenv("srcdir"); // NOLINT(concurrency-mt-unsafe): one thread
	const bool write = argc > 1 && std::string(argv[1]) == "--write";
	bool all_current = true;
	for (const Page &page : k_pages)
		all_current = is_current(std::string(srcdir ? srcdir : ".") + "/" + page.path, page,
				      write) &&
			all_current;
	return all_current ? 0 : 1;
}
