/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * checks.h - `skube check`: what works and what does not, in the order in which an administrator would look, each with a remedy.
 */
#ifndef SLURMKUBE_AGENT_CHECKS_H
#define SLURMKUBE_AGENT_CHECKS_H

#include <string>
#include <vector>

namespace slurmkube::agent
{

class App;

struct Check {
	std::string name;
	bool ok = false;
	std::string text, remedy; /* remedy is empty when ok */
};

std::vector<Check> checks_of(const App &app);

} // namespace slurmkube::agent

#endif
