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

/* Empty: the site has the default name. Before slurmkubed.yaml is written, every site has. */
Result<std::string> scheduler_name(const std::string &given)
{
	const std::string file = given.empty() ? names::k_config_file : given;
	auto value = config_value(file, "scheduler_name");
	if (!value && given.empty() && value.error().code == Errc::not_found)
		return std::string();
	if (!value)
		return Error{value.error().code,
			value.error().what +
				"; its scheduler_name is needed: correct the file, or "
				"name another with --config"};
	return value;
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
	const auto name = scheduler_name(options.config);
	if (!name)
		return name.error();
	if (!name->empty())
		site->scheduler_name = *name;
	return manifests::manifests(*site, split(options.only));
}

} // namespace slurmkube::skube
