/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/options/values.h"

#include "src/core/options/bounds.h"
#include "src/core/options/timelimit.h"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace slurmkube::core
{

namespace
{

std::string joined(const std::vector<std::string> &list)
{
	std::string out;
	for (const std::string &item : list)
		out += (out.empty() ? "" : ", ") + item;
	return out.empty() ? "none" : out;
}

bool is_visible(unsigned char c)
{
	return c > 0x20 && c < 0x7f && c != '"' && c != '\'' && c != '\\' && c != '`';
}

struct Mail {
	std::string_view name;
	unsigned types;
};

constexpr Mail k_mails[] = {
	{"NONE", 0},
	{"BEGIN", k_mail_begin},
	{"END", k_mail_end},
	{"FAIL", k_mail_fail},
	{"REQUEUE", k_mail_requeue},
	{"ALL",
		k_mail_begin | k_mail_end | k_mail_fail | k_mail_requeue | k_mail_stage_out |
			k_mail_invalid_depend},
	{"STAGE_OUT", k_mail_stage_out},
	{"INVALID_DEPEND", k_mail_invalid_depend},
	{"TIME_LIMIT", k_mail_time_100},
	{"TIME_LIMIT_90", k_mail_time_90},
	{"TIME_LIMIT_80", k_mail_time_80},
	{"TIME_LIMIT_50", k_mail_time_50},
};

std::string mail_names()
{
	std::string out;
	for (const Mail &mail : k_mails)
		out += (out.empty() ? "" : ", ") + std::string(mail.name);
	return out;
}

std::string upper(std::string text)
{
	for (char &c : text)
		c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
	return text;
}

Status add_mail_type(const std::string &name, unsigned &types)
{
	const auto *mail = std::find_if(std::begin(k_mails), std::end(k_mails),
		[&](const Mail &m) { return m.name == upper(name); });
	if (mail == std::end(k_mails))
		return Error{Errc::invalid,
			"'" + name + "' is no kind of mail; give a list of " + mail_names()};
	types |= mail->types;
	return Ok{};
}

} // namespace

Status choose(
	const std::string &value, const std::vector<std::string> &allowed, std::string &target)
{
	if (std::find(allowed.begin(), allowed.end(), value) == allowed.end())
		return Error{
			Errc::denied, "not allowed in this namespace; allowed: " + joined(allowed)};
	target = value;
	return Ok{};
}

Status choose_or_any(
	const std::string &value, const std::vector<std::string> &allowed, std::string &target)
{
	const bool is_any = std::find(allowed.begin(), allowed.end(), "*") != allowed.end();
	return is_any ? set_names(value, target) : choose(value, allowed, target);
}

Status set_text(const std::string &value, std::string &target)
{
	const bool printable = std::all_of(
		value.begin(), value.end(), [](unsigned char c) { return c >= 0x20 && c != 0x7f; });
	if (value.empty() || value.size() > k_text_max || !printable)
		return Error{Errc::invalid,
			"must be 1 to " + std::to_string(k_text_max) + " printable bytes"};
	target = value;
	return Ok{};
}

Status set_token(const std::string &value, std::string &target)
{
	if (value.empty() || value.size() > k_token_max ||
		!std::all_of(value.begin(), value.end(), is_visible))
		return Error{Errc::invalid,
			"must be 1 to " + std::to_string(k_token_max) +
				" visible characters without spaces, quotes and backslashes"};
	target = value;
	return Ok{};
}

Status set_flag(const std::string &value, bool &target)
{
	const bool is_on = value.empty() || value == "true" || value == "yes" || value == "1";
	if (!is_on && value != "false" && value != "no" && value != "0")
		return Error{Errc::invalid, "must be true or false"};
	target = is_on;
	return Ok{};
}

std::optional<std::int64_t> whole_number(
	const std::string &value, std::int64_t least, std::int64_t most)
{
	std::int64_t number = 0;
	const auto [end, error] =
		std::from_chars(value.data(), value.data() + value.size(), number);
	if (error != std::errc() || end != value.data() + value.size() || number < least ||
		number > most)
		return std::nullopt;
	return number;
}

Error not_from_to(std::int64_t least, std::int64_t most)
{
	return Error{Errc::invalid,
		"must be a whole number from " + std::to_string(least) + " to " +
			std::to_string(most)};
}

Status set_sharing(const std::string &value, Sharing &target)
{
	struct Row {
		std::string_view name;
		Sharing sharing;
	};
	constexpr Row rows[] = {{"none", Sharing::nobody}, {"true", Sharing::nobody},
		{"ok", Sharing::as_all}, {"false", Sharing::as_all}, {"user", Sharing::same_user},
		{"mcs", Sharing::same_mcs_label}, {"topo", Sharing::same_topology}};
	const auto *row = std::find_if(
		std::begin(rows), std::end(rows), [&](const Row &r) { return r.name == value; });
	if (row == std::end(rows))
		return Error{Errc::invalid,
			"must be none or true (shares its nodes with nobody), user, mcs, topo, or "
			"ok or false (shares as all jobs do)"};
	target = row->sharing;
	return Ok{};
}

Status set_mail_types(const std::string &value, std::uint16_t &target)
{
	unsigned types = 0;
	std::string_view rest = value;
	if (value.size() > k_name_max)
		return Error{Errc::invalid, "must be a list of " + mail_names()};
	while (true) {
		const std::size_t comma = rest.find(',');
		if (const Status added = add_mail_type(std::string(rest.substr(0, comma)), types);
			!added)
			return added;
		if (comma == std::string_view::npos)
			break;
		rest.remove_prefix(comma + 1);
	}
	target = static_cast<std::uint16_t>(types);
	return Ok{};
}

Status set_switches(const std::string &value, JobOptions &target)
{
	const std::size_t at = value.find('@');
	std::optional<std::uint32_t> count;
	if (const Status counted = set_number(value.substr(0, at), 1, count, k_switches_max);
		!counted)
		return Error{Errc::invalid,
			"must be COUNT or COUNT@MINUTES, with a whole number of switches from 1 "
			"to " + std::to_string(k_switches_max)};
	target.switches = count;
	if (at == std::string::npos)
		return Ok{};
	if (const Status size = check_time_text(value); !size)
		return size;
	const auto minutes = parse_time_limit(std::string_view(value).substr(at + 1));
	if (!minutes)
		return minutes.error();
	target.switches_wait_seconds = *minutes == k_unlimited_minutes ? *minutes : *minutes * 60;
	return Ok{};
}

Result<std::uint64_t> parse_slurm_memory(const std::string &value)
{
	constexpr std::string_view units = "KMGT";
	constexpr std::int64_t most = std::int64_t{1} << 30;
	const std::size_t unit =
		value.empty() ? std::string::npos : units.find(upper(value).back());
	const auto number = whole_number(
		unit == std::string::npos ? value : value.substr(0, value.size() - 1), 1, most);
	const std::int64_t kib =
		number ? *number << (10 * (unit == std::string::npos ? 1 : unit)) : 0;
	if (!number)
		return Error{Errc::invalid,
			"must be a whole number of MiB, or one that ends with K, M, G or T"};
	return static_cast<std::uint64_t>((kib + 1023) >> 10);
}

} // namespace slurmkube::core
