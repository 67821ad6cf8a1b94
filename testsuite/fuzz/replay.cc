/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * replay.cc - runs a target on stored inputs without libFuzzer, for make check and for any
 * compiler.
 *
 * usage: fuzz_NAME [FILE...]
 *
 * Without files: all inputs in $FUZZ_CORPUS/NAME. Short inputs are also truncated at every length.
 */
#include "testsuite/fuzz/fuzz.h"

#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <vector>

namespace
{

/* in bytes; truncating longer inputs at every length would take too long */
constexpr std::size_t k_short = 600;

void run(std::string_view bytes)
{
	/* a copy of the exact length, so that the sanitizer detects a read beyond the end */
	const std::vector<std::uint8_t> exact(bytes.begin(), bytes.end());
	(void)LLVMFuzzerTestOneInput(exact.data(), exact.size());
}

bool run_file(const std::filesystem::path &file)
{
	std::ifstream in(file, std::ios::binary);
	const std::string bytes(
		(std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
	if (!in)
		return false;
	/* if the target crashes, the last file printed is the one that failed */
	std::cerr << file.filename().string() << std::endl;
	for (std::size_t length = bytes.size() <= k_short ? 0 : bytes.size();
		length <= bytes.size(); length++)
		run(std::string_view(bytes).substr(0, length));
	return true;
}

std::vector<std::filesystem::path> kept_inputs(const std::string &target)
{
	const char *corpus = getenv("FUZZ_CORPUS"); // NOLINT(concurrency-mt-unsafe): one thread
	std::vector<std::filesystem::path> files;
	std::error_code trouble;
	for (const auto &entry : std::filesystem::directory_iterator(
		     std::filesystem::path(corpus ? corpus : ".") / target, trouble))
		files.push_back(entry.path());
	std::sort(files.begin(), files.end());
	return files;
}

} // namespace

int main(int argc, char **argv)
{
	const std::string program = std::filesystem::path(argv[0]).filename().string();
	const std::string target = program.substr(
		program.find("fuzz_") == std::string::npos ? 0 : program.find("fuzz_") + 5);
	std::vector<std::filesystem::path> files(argv + 1, argv + argc);
	if (files.empty())
		files = kept_inputs(target);
	for (const auto &file : files) {
		if (!run_file(file))
			files.clear();
	}
	std::cout << "  Test: kept inputs of fuzz target " << target << " (" << files.size()
		  << ") ..." << (files.empty() ? "FAILED" : "passed") << "\n";
	return files.empty() ? 1 : 0;
}
