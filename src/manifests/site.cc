/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/manifests/site.h"

#include <algorithm>
#include <string_view>

namespace slurmkube::manifests
{

namespace
{

constexpr std::string_view k_lower = "abcdefghijklmnopqrstuvwxyz0123456789-";

bool consists_of(std::string_view text, std::string_view characters)
{
	return text.find_first_not_of(characters) == std::string_view::npos;
}

/* A label of DNS, which names of namespaces are (RFC 1123). */
bool is_dns_label(std::string_view text)
{
	return !text.empty() && text.size() <= 63 && consists_of(text, k_lower) &&
		text.front() != '-' && text.back() != '-';
}

/* Labels of DNS with dots between them, which names of service accounts are. */
bool is_dns_name(std::string_view text)
{
	if (text.size() > 253)
		return false;
	for (;;) {
		const std::size_t dot = std::min(text.find('.'), text.size());
		if (!is_dns_label(text.substr(0, dot)))
			return false;
		if (dot == text.size())
			return true;
		text.remove_prefix(dot + 1);
	}
}

/* The characters that the reader of the configuration accepts. */
bool is_scheduler_name(std::string_view text)
{
	return !text.empty() &&
		consists_of(
			text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._");
}

void replace_all(std::string &text, std::string_view mark, const std::string &name)
{
	for (std::size_t at = text.find(mark); at != std::string::npos;
		at = text.find(mark, at + name.size()))
		text.replace(at, mark.size(), name);
}

} // namespace

Status check_site(const Site &site)
{
	if (!is_scheduler_name(site.scheduler_name))
		return Error{Errc::invalid,
			"scheduler_name '" + site.scheduler_name +
				"' must be a name of letters, digits, '-', '.' and '_'"};
	for (const std::string &alias : site.scheduler_aliases) {
		if (!is_scheduler_name(alias))
			return Error{Errc::invalid,
				"scheduler_aliases '" + alias +
					"' must be a name of letters, digits, '-', '.' and '_'"};
	}
	if (!is_dns_label(site.account_namespace))
		return Error{Errc::invalid,
			"namespace '" + site.account_namespace +
				"' must be a name of lower-case letters, digits and '-'"};
	if (!is_dns_name(site.account))
		return Error{Errc::invalid,
			"service account '" + site.account +
				"' must be a name of lower-case letters, digits, '-' and '.'"};
	return Ok{};
}

std::string fill_in(std::string text, const Site &site)
{
	replace_all(text, "@SCHEDULER@", site.scheduler_name);
	std::string aliases;
	for (const std::string &alias : site.scheduler_aliases)
		aliases += ", '" + alias + "'";
	replace_all(text, "@ALIASES@", aliases);
	replace_all(text, "@NAMESPACE@", site.account_namespace);
	replace_all(text, "@ACCOUNT@", site.account);
	return text;
}

} // namespace slurmkube::manifests
