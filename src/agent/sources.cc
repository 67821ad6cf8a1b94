/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/sources.h"

#include "src/base/log.h"

namespace slurmkube::agent
{

/* ---- one watch ---- */

void Source::start(kube::Client &client, const Config &config)
{
	watch_ = std::make_unique<kube::WatchGroup>(client, row_.options(config), *this);
}

void Source::upserted(json_object *object)
{
	const Status told = row_.seen(context_.world, object, now());
	if (!told) {
		log_warning("a %s cannot be read: %s", row_.name, told.error().what.c_str());
		return;
	}
	if (row_.names_users && is_listed_)
		context_.users.look_again();
	context_.on_change();
}

void Source::deleted(json_object *last_state)
{
	const Status told = row_.gone(context_.world, last_state, now());
	if (!told) {
		log_warning(
			"a deleted %s cannot be read: %s", row_.name, told.error().what.c_str());
		return;
	}
	context_.on_change();
}

void Source::listed(const std::set<std::string> &live_uids)
{
	log_info("%s count=%zu", row_.list_text, live_uids.size());
	is_listed_ = true;
	row_.listed(context_.world, live_uids, now());
	if (row_.names_users)
		context_.users.look_again();
	context_.on_change();
}

/* ---- all watches ---- */

Sources::Sources(Loop &loop, kube::Client &client, core::World &world, const Config &config,
	const std::function<void()> &on_change)
    : client_(client), world_(world), config_(config),
      user_search_(loop, world, on_change), context_{world, user_search_, on_change}
{
	for (const KindRow &row : kind_rows())
		sources_.try_emplace(row.kind, row, context_);
}

void Sources::start_wanted()
{
	for (auto &[kind, source] : sources_) {
		if (!source.watch() && is_wanted(source.row().wanted))
			source.start(client_, config_);
	}
	if (is_wanted(Wanted::for_claims))
		world_.observe(core::ClaimsUnreadable{trouble_of(Wanted::for_claims)});
	if (is_wanted(Wanted::for_resource_claims))
		world_.observe(
			core::ResourceClaimsUnreadable{trouble_of(Wanted::for_resource_claims)});
	if (is_wanted(Wanted::for_devices))
		world_.observe(core::DevicesUnreadable{trouble_of(Wanted::for_devices)});
}

bool Sources::is_wanted(Wanted which) const
{
	switch (which) {
	case Wanted::always:
		return true;
	case Wanted::for_claims:
		return world_.state().claims.is_wanted();
	case Wanted::for_devices:
		return !config_.devices.empty();
	case Wanted::for_resource_claims:
		return world_.state().settings.policy.has_device_rules &&
			world_.state().resource_claims.is_wanted();
	}
	return false;
}

void Sources::list_again()
{
	for (auto &[kind, source] : sources_) {
		if (source.row().is_listed_again && source.watch())
			source.watch()->list_again();
	}
}

/* The trouble of the first watch that has one. */
std::string Sources::trouble_of(Wanted which) const
{
	std::string why;
	for (const auto &[kind, source] : sources_)
		why = why.empty() && source.row().wanted == which ? source.watch()->trouble() : why;
	return why;
}

} // namespace slurmkube::agent
