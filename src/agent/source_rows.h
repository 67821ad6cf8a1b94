/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * source_rows.h - parts of the table in source_rows.cc: rows for devices, and what all rows use.
 */
#ifndef SLURMKUBE_AGENT_SOURCE_ROWS_H
#define SLURMKUBE_AGENT_SOURCE_ROWS_H

#include "src/agent/sources.h"

#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace slurmkube::agent
{

using core::Now;
using core::World;
using Uids = std::set<std::string>;
using Options = std::vector<kube::WatchOptions>;

/* All objects of one kind, in all namespaces. */
inline Options all_of(const char *path)
{
	kube::WatchOptions options;
	options.path = path;
	return {options};
}

/* Decodes by read, and reports by world_hears. */
template <class T> KindRow::Tell tell(Result<T> (*read)(json_object *),
	void (*world_hears)(World &, std::type_identity_t<T>, Now))
{
	return [read, world_hears](World &world, json_object *object, Now now) -> Status {
		auto thing = read(object);
		if (!thing)
			return thing.error();
		world_hears(world, std::move(*thing), now);
		return Ok{};
	};
}

KindRow slices_row();
KindRow device_classes_row();
KindRow taint_rules_row();
KindRow resource_claims_row();

} // namespace slurmkube::agent

#endif
