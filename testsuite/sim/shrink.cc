/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "testsuite/sim/shrink.h"

namespace slurmkube::sim
{

namespace
{

bool still_fails(
	std::uint64_t seed, const Script &script, Plant plant, const std::string &invariant)
{
	return Simulation(seed, plant, false).run(script).invariant == invariant;
}

Script without(const Script &script, std::size_t from, std::size_t count)
{
	Script rest(script.begin(), script.begin() + static_cast<std::ptrdiff_t>(from));
	rest.insert(rest.end(),
		script.begin() + static_cast<std::ptrdiff_t>(std::min(from + count, script.size())),
		script.end());
	return rest;
}

} // namespace

Shrunk shrink(std::uint64_t seed, Script script, Plant plant, const std::string &invariant)
{
	for (std::size_t piece = script.size() / 2; piece > 0;) {
		bool has_shrunk = false;
		/* start at the end: the events after the violation go first */
		for (std::size_t from = script.size() / piece * piece + piece; from >= piece;) {
			from -= piece;
			if (from >= script.size())
				continue;
			Script rest = without(script, from, piece);
			if (!still_fails(seed, rest, plant, invariant))
				continue;
			script = std::move(rest);
			has_shrunk = true;
		}
		piece = piece == 1 ? (has_shrunk ? 1 : 0) : piece / 2;
	}
	return {script, Simulation(seed, plant, true).run(script)};
}

} // namespace slurmkube::sim
