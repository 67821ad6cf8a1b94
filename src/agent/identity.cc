/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/identity.h"

#include <cerrno>
#include <charconv>
#include <grp.h>
#include <optional>
#include <pwd.h>
#include <string_view>
#include <system_error>
#include <vector>

namespace slurmkube::agent
{

namespace
{

/* entries of groups with many members are long */
constexpr std::size_t k_buffer_first = 4096, k_buffer_most = std::size_t{1024} * 1024;
/* the next two numbers mean "not set" in Slurm */
constexpr std::uint32_t k_id_most = 0xfffffffd;

bool is_number(std::string_view text)
{
	return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

Result<std::uint32_t> number_of(const std::string &text)
{
	std::uint32_t number = 0;
	const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
	if (error != std::errc() || end != text.data() + text.size() || number > k_id_most)
		return Error{Errc::invalid, "'" + text + "' is out of range"};
	return number;
}

/* call(entry, buffer, size, &found) is one of the getXXX_r functions. Empty: no such entry. again:
 * the directory behind NSS did not answer. */
template <class Entry, class Take, class Call> auto look_up(const std::string &text, Call call,
	Take take) -> Result<std::optional<decltype(take(Entry{}))>>
{
	using Found = std::optional<decltype(take(Entry{}))>;
	int error = ERANGE;
	for (std::size_t size = k_buffer_first; size <= k_buffer_most && error == ERANGE;
		size *= 4) {
		std::vector<char> buffer(size);
		Entry entry{};
		Entry *found = nullptr;
		error = call(&entry, buffer.data(), size, &found);
		if (found)
			return Found(take(*found));
	}
	if (error == 0)
		return Found();
	return Error{Errc::again,
		"'" + text + "' could not be looked up (" + std::generic_category().message(error) +
			"): see whether the services that nsswitch.conf names are running"};
}

Identity identity_of(const passwd &entry)
{
	return {entry.pw_uid, entry.pw_gid};
}

} // namespace

Result<Identity> find_known_user(const std::string &text)
{
	const auto by_name = look_up<passwd>(
		text,
		[&](passwd *entry, char *buffer, std::size_t size, passwd **found) {
			return getpwnam_r(text.c_str(), entry, buffer, size, found);
		},
		identity_of);
	if (!by_name)
		return by_name.error();
	if (*by_name)
		return **by_name;
	const Error nobody{Errc::not_found, "no user on this machine is called '" + text + "'"};
	if (!is_number(text))
		return nobody;
	const auto number = number_of(text);
	if (!number)
		return number.error();
	const auto by_number = look_up<passwd>(
		text,
		[&](passwd *entry, char *buffer, std::size_t size, passwd **found) {
			return getpwuid_r(*number, entry, buffer, size, found);
		},
		identity_of);
	if (!by_number)
		return by_number.error();
	return *by_number ? Result<Identity>(**by_number) : Result<Identity>(nobody);
}

Result<Identity> find_user(const std::string &text)
{
	const auto known = find_known_user(text);
	if (known || known.error().code != Errc::not_found)
		return known;
	if (!is_number(text))
		return Error{Errc::not_found, known.error().what + "; a number is accepted too"};
	const auto number = number_of(text);
	if (!number)
		return number.error();
	return Identity{*number, *number};
}

Result<std::uint32_t> find_group(const std::string &text)
{
	const auto by_name = look_up<group>(
		text,
		[&](group *entry, char *buffer, std::size_t size, group **found) {
			return getgrnam_r(text.c_str(), entry, buffer, size, found);
		},
		[](const group &entry) { return entry.gr_gid; });
	if (!by_name)
		return by_name.error();
	if (*by_name)
		return **by_name;
	if (!is_number(text))
		return Error{Errc::not_found,
			"no group here is called '" + text + "'; a number is accepted too"};
	return number_of(text);
}

} // namespace slurmkube::agent
