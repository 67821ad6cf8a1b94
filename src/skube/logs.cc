/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/skube/logs.h"

#include "src/base/text.h"
#include "src/skube/request.h"

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <system_error>
#include <utility>
#include <vector>

namespace slurmkube::skube
{

namespace
{

constexpr std::size_t k_log_line_max = std::size_t{1} << 20;

/* Member of an event and its value; an event with any of them is about the target. */
using Match = std::pair<std::string, std::string>;

std::vector<Match> matches_of(const Target &target, std::int64_t job)
{
	const std::string number = std::to_string(target.is == Target::Is::job ? target.job : job);
	std::vector<Match> all;
	if (target.is == Target::Is::pod)
		all.emplace_back("pod", full_name(target));
	if (target.is == Target::Is::owner)
		all.emplace_back("workload", full_name(target));
	if (target.is == Target::Is::node)
		all.emplace_back("node", target.name);
	if (number != "0")
		all.emplace_back("job", number);
	return all;
}

std::string upper(std::string text)
{
	for (char &c : text)
		c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
	return text;
}

/* "... pod=lab/p job=7": the member ends at a blank or at the end of the line. In quotes (log.cc)
 * are texts of users, who could name the pods of others there. */
bool has_word(const std::string &line, const std::string &word)
{
	bool is_quoted = false;
	for (std::size_t at = 1; at < line.size(); at++) {
		if (is_quoted && line[at] == '\\') {
			at++;
		} else if (line[at] == '"') {
			is_quoted = !is_quoted;
		} else if (!is_quoted && line[at - 1] == ' ' &&
			line.compare(at, word.size(), word) == 0) {
			const std::size_t end = at + word.size();
			if (end == line.size() || line[end] == ' ')
				return true;
		}
	}
	return false;
}

std::string text_of(json_object *value)
{
	return value ? json_object_get_string(value) : "";
}

std::int64_t job_of_pod(const LogRequest &wanted)
{
	if (wanted.target.is != Target::Is::pod)
		return 0;
	codec::Json about = codec::new_object();
	put_target(about.get(), wanted.target);
	const auto reply = ask(wanted.socket, "why", std::move(about));
	return reply ? codec::get_int(codec::get(reply->get(), "data", "job"), "id") : 0;
}

Status print_file(const LogRequest &wanted, std::int64_t job)
{
	std::ifstream in(wanted.file);
	if (!in)
		return Error{Errc::io,
			"cannot read " + wanted.file + ": " +
				std::generic_category().message(errno)};
	for (std::string line; std::getline(in, line);) {
		if (line.size() <= k_log_line_max && is_about(line, wanted.target, job) &&
			printf("%s\n", printable(line).c_str()) < 0)
			break; /* a full disk */
	}
	return fflush(stdout) == 0 ? Status(Ok{})
				   : Status(Error{Errc::io, "cannot write the lines"});
}

} // namespace

/* "+" means or. */
Words journal_command(const LogRequest &wanted, std::int64_t job)
{
	Words command = {"journalctl", "--no-pager", "--output", "short-iso"};
	if (!wanted.since.empty())
		command.push_back("--since=" + wanted.since);
	if (wanted.follow)
		command.emplace_back("--follow");
	bool is_first = true;
	for (const auto &[member, value] : matches_of(wanted.target, job)) {
		if (!std::exchange(is_first, false))
			command.emplace_back("+");
		command.push_back("SLURMKUBE_" + upper(member) + "=" + value);
	}
	return command;
}

bool is_about(const std::string &line, const Target &target, std::int64_t job)
{
	const auto object = line.starts_with('{') ? codec::parse_json(line, k_log_line_max)
						  : Result<codec::Json>(codec::Json());
	for (const auto &[member, value] : matches_of(target, job)) {
		if (object && *object ? text_of(codec::get(object->get(), member.c_str())) == value
				      : has_word(line, member + "=" + value))
			return true;
	}
	return false;
}

Status print_logs(const LogRequest &wanted)
{
	const std::int64_t job = job_of_pod(wanted);
	if (!wanted.file.empty())
		return print_file(wanted, job);
	const Words command = journal_command(wanted, job);
	if (wanted.verbose)
		(void)printf("%s\n", command_line(command).c_str());
	(void)fflush(stdout);
	auto done = run_program(command);
	if (!done && done.error().code == Errc::not_found)
		return Error{Errc::not_found,
			done.error().what + "; if the agent logs into a file, name it with --file"};
	return done;
}

} // namespace slurmkube::skube
