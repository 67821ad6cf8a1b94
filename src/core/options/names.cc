/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Suggests option names for a misspelled one. */
#include "src/core/options/options.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace slurmkube::core
{

namespace
{

constexpr std::size_t k_suggestions_max = 3;
/* longer names resemble no option, and comparing them would take long */
constexpr std::size_t k_compared_max = 64;

/* Levenshtein distance, computed row by row */
std::size_t distance(std::string_view a, std::string_view b)
{
	std::vector<std::size_t> row(b.size() + 1);
	std::iota(row.begin(), row.end(), std::size_t{0});
	for (std::size_t i = 0; i < a.size(); i++) {
		std::size_t diagonal = row[0];
		row[0] = i + 1;
		for (std::size_t j = 0; j < b.size(); j++) {
			const std::size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
			diagonal = row[j + 1];
			row[j + 1] = std::min({row[j] + 1, diagonal + 1, changed});
		}
	}
	return row.back();
}

struct Candidate {
	std::size_t distance;
	std::string_view name;
};

/* The smallest distance to any of the option's names. */
std::size_t distance(std::string_view name, const Option &option)
{
	std::size_t least = distance(name, option.name);
	for (const std::string_view other : {option.sbatch, option.bridge, option.sunk}) {
		if (!other.empty())
			least = std::min(least, distance(name, other));
	}
	return least;
}

std::string listed(const std::vector<Candidate> &candidates, std::size_t most)
{
	std::string out;
	for (std::size_t i = 0; i < std::min(candidates.size(), most); i++)
		out += (i == 0 ? "" : ", ") + std::string(candidates[i].name);
	return out;
}

} // namespace

std::string suggestions(std::string_view name)
{
	std::vector<Candidate> near, all;
	const std::size_t most = std::max<std::size_t>(2, name.size() / 3);
	for (const Option &option : options()) {
		const Candidate candidate{
			name.size() > k_compared_max ? k_compared_max : distance(name, option),
			option.name};
		all.push_back(candidate);
		if (candidate.distance <= most && name.size() <= k_compared_max)
			near.push_back(candidate);
	}
	std::stable_sort(near.begin(), near.end(),
		[](const Candidate &a, const Candidate &b) { return a.distance < b.distance; });
	if (near.empty())
		return "known: " + listed(all, all.size()) + ", sbatch";
	return "like it: " + listed(near, k_suggestions_max) +
		"; all of them: skube explain options";
}

} // namespace slurmkube::core
