/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "testsuite/unit/grouped.h"

#include <cstdio>
#include <map>
#include <string>

namespace
{

/* within a function, because the tests register themselves before main() */
std::map<std::string, int (*)()> &programs()
{
	static std::map<std::string, int (*)()> all;
	return all;
}

} // namespace

namespace slurmkube::check
{

Grouped::Grouped(const char *name, int (*main)())
{
	programs()[name] = main;
}

} // namespace slurmkube::check

int main(int argc, char **argv)
{
	const std::string path = argc > 0 ? argv[0] : "";
	const auto it = programs().find(path.substr(path.rfind('/') + 1));
	if (it != programs().end())
		return it->second();
	(void)fprintf(
		stderr, "%s: link this program to the name of one of its tests:\n", path.c_str());
	for (const auto &[name, unused] : programs())
		(void)fprintf(stderr, "%s\n", name.c_str());
	return 2;
}
