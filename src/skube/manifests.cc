/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/skube/manifests.h"

#include "src/manifests/manifests.h"
#include "src/skube/config_value.h"

#include <algorithm>
#include <vector>

namespace slurmkube::skube
{

namespace
{

Error needs_names(const Error &error)
{
	return Error{error.code,
		error.what +
			"; its scheduler_name, scheduler_aliases, nodes.report_drains and devices "
			"are needed: correct the file, "
			"or name another with --config"};
}

/* Before slurmkubed.yaml is written, every site has the default name. */
Status take_names(const std::string &given, manifests::Site &site)
{
	const auto [file, is_named] = config_file(given);
	const auto name = config_value(file, "scheduler_name");
	if (!name && !is_named && name.error().code == Errc::not_found)
		return Ok{};
	if (!name)
		return needs_names(name.error());
	const auto aliases = config_list(file, "scheduler_aliases");
	if (!aliases)
		return needs_names(aliases.error());
	const auto report_drains = config_value(file, "nodes.report_drains");
	if (!report_drains)
		return needs_names(report_drains.error());
	const auto devices = config_list(file, "devices");
	if (!devices)
		return needs_names(devices.error());
	if (!name->empty())
		site.scheduler_name = *name;
	site.rights_for = {*report_drains == "true", !devices->empty()};
	site.scheduler_aliases = *aliases;
	return Ok{};
}

std::vector<std::string> split(const std::string &list)
{
	std::vector<std::string> names;
	for (std::size_t at = 0; at <= list.size() && !list.empty();) {
		const std::size_t comma = std::min(list.find(',', at), list.size());
		names.push_back(list.substr(at, comma - at));
		at = comma + 1;
	}
	return names;
}

} // namespace

Result<manifests::Site> account_site(const std::string &account)
{
	manifests::Site site;
	if (account.empty())
		return site;
	const std::size_t slash = account.find('/');
	if (slash == std::string::npos)
		return Error{Errc::invalid,
			"--account '" + account + "' must have the form NAMESPACE/NAME"};
	site.account_namespace = account.substr(0, slash);
	site.account = account.substr(slash + 1);
	if (const Status good = manifests::check_site(site); !good)
		return Error{Errc::invalid, "--account: " + good.error().what};
	return site;
}

Status check_options(const ManifestOptions &options)
{
	if (const Status known = manifests::check_names(split(options.only)); !known)
		return Error{Errc::invalid, "--only: " + known.error().what};
	const auto site = account_site(options.account);
	return site ? Status(Ok{}) : Status(site.error());
}

Result<std::string> manifests_text(const ManifestOptions &options)
{
	auto site = account_site(options.account);
	if (!site)
		return site.error();
	if (const Status taken = take_names(options.config, *site); !taken)
		return taken.error();
	return manifests::manifests(*site, split(options.only));
}

} // namespace slurmkube::skube
