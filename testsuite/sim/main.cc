/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * main.cc - runs seeds and prints TAP.
 *
 *	sim [--seeds A-B] [--seed N] [--events N] [--plant NAME] [--story] [--shrink]
 *
 * Without arguments: runs all seeds, then each planted bug, which must be found. A failing seed is
 * shrunk to a short script, and its log is printed. Seed, number of events and planted bug
 * reproduce a run completely, so that no script file is needed.
 */
#include "testsuite/sim/shrink.h"

#include <charconv>
#include <cstdio>
#include <cstring>

using namespace slurmkube::sim;

namespace
{

constexpr std::uint64_t k_seeds = 1000;
constexpr unsigned k_events = 1000;

struct Options {
	std::uint64_t first = 1, last = k_seeds;
	unsigned events = k_events;
	Plant plant = Plant::none;
	bool story = false, shrink = true, is_default = true;
};

int g_tests = 0, g_failed = 0;

void result(bool ok, const std::string &what)
{
	g_failed += ok ? 0 : 1;
	(void)printf("%sok %d - %s\n", ok ? "" : "not ", ++g_tests, what.c_str());
	(void)fflush(stdout);
}

const char *name_of(Plant plant)
{
	for (const PlantName &one : k_plants) {
		if (one.plant == plant)
			return one.name;
	}
	return "none";
}

void comment(const std::string &text)
{
	(void)printf("# %s\n", text.c_str());
}

std::string command(std::uint64_t seed, const Options &options)
{
	return "testsuite/sim/sim --seed " + std::to_string(seed) + " --events " +
		std::to_string(options.events) +
		(options.plant == Plant::none ? ""
					      : std::string(" --plant ") + name_of(options.plant)) +
		" --story";
}

void explain(std::uint64_t seed, const Outcome &outcome, const Options &options)
{
	comment("seed " + std::to_string(seed) + " violates " + outcome.invariant + ": " +
		outcome.violation);
	comment("reproduce: " + command(seed, options));
	if (!options.shrink)
		return;
	const Shrunk shrunk =
		shrink(seed, write_script(seed, options.events), options.plant, outcome.invariant);
	comment("shrunk from " + std::to_string(options.events) + " to " +
		std::to_string(shrunk.script.size()) + " events:");
	for (const Event &event : shrunk.script)
		comment("  at " + std::to_string(event.at / 1000) + " ms " + text_of(event.kind));
	comment("the story:");
	for (const std::string &line : shrunk.outcome.story)
		comment(line);
}

struct Tally {
	std::uint64_t tried = 0, steps = 0;
	std::vector<std::string> failed; /* seed and violation of each failure */
};

/* Runs the seeds, and stops at the first failure if stops_at_first. */
Tally run_seeds(const Options &options, bool stops_at_first)
{
	constexpr std::size_t k_explained = 3;
	Tally tally;
	for (std::uint64_t seed = options.first; seed <= options.last; seed++) {
		Simulation simulation(seed, options.plant, options.story);
		const Outcome outcome = simulation.run(write_script(seed, options.events));
		tally.tried++;
		tally.steps += outcome.steps;
		if (options.story) {
			for (const std::string &line : outcome.story)
				comment(line);
		}
		if (outcome.violation.empty())
			continue;
		tally.failed.push_back("seed " + std::to_string(seed) + " violates " +
			outcome.invariant + ": " + outcome.violation);
		if (stops_at_first)
			return tally;
		if (tally.failed.size() <= k_explained)
			explain(seed, outcome, options);
	}
	return tally;
}

void run_plants(Options options)
{
	for (const PlantName &one : k_plants) {
		options.plant = one.plant;
		const Tally tally = run_seeds(options, true);
		result(!tally.failed.empty(),
			"planted bug " + std::string(one.name) +
				(tally.failed.empty() ? " is NOT found"
						      : " is found after " +
							std::to_string(tally.tried) + " seeds"));
		for (const std::string &line : tally.failed)
			comment(line);
	}
}

bool take_number(const char *text, std::uint64_t &number)
{
	const char *end = text + strlen(text);
	return std::from_chars(text, end, number).ptr == end && text != end;
}

bool take_range(const std::string &text, Options &options)
{
	const auto dash = text.find('-');
	return dash != std::string::npos &&
		take_number(text.substr(0, dash).c_str(), options.first) &&
		take_number(text.substr(dash + 1).c_str(), options.last);
}

bool take_plant(const std::string &text, Options &options)
{
	for (const PlantName &one : k_plants) {
		if (text == one.name)
			options.plant = one.plant;
	}
	return options.plant != Plant::none;
}

bool take_options(int argc, char **argv, Options &options)
{
	for (int i = 1; i < argc; i++) {
		const std::string key = argv[i];
		const char *value = i + 1 < argc ? argv[i + 1] : "";
		std::uint64_t number = 0;
		bool ok = true, has_value = true;
		if (key == "--seeds") {
			ok = take_range(value, options);
		} else if (key == "--seed") {
			ok = take_number(value, number);
			options.first = options.last = number;
		} else if (key == "--events") {
			ok = take_number(value, number);
			options.events = static_cast<unsigned>(number);
		} else if (key == "--plant") {
			ok = take_plant(value, options);
		} else {
			has_value = false;
			ok = key == "--story" || key == "--shrink" || key == "--no-shrink";
			options.story |= key == "--story";
			options.shrink = key != "--no-shrink" && options.shrink;
		}
		if (!ok)
			return false;
		i += has_value ? 1 : 0;
		options.is_default = false;
	}
	return true;
}

} // namespace

int main(int argc, char **argv)
{
	Options options;
	if (!take_options(argc, argv, options)) {
		(void)fprintf(stderr,
			"usage: sim [--seeds A-B | --seed N] [--events N] [--plant NAME] [--story] "
			"[--no-shrink]\n");
		return 2;
	}
	const Tally tally = run_seeds(options, false);
	result(tally.failed.empty(),
		std::to_string(tally.tried) + " seeds of " + std::to_string(options.events) +
			" events keep all invariants (" + std::to_string(tally.failed.size()) +
			" do not; " + std::to_string(tally.steps) + " steps)");
	/* after the result, because testsuite/check repeats the lines that follow a failure */
	for (const std::string &line : tally.failed)
		comment(line);
	if (options.is_default)
		run_plants(options);
	(void)printf("1..%d\n", g_tests);
	return g_failed == 0 ? 0 : 1;
}
