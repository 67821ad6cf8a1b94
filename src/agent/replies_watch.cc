/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The request of `skube watch`: which objects the client wants. */
#include "src/agent/app.h"
#include "src/agent/replies_parts.h"

#include <utility>

namespace slurmkube::agent
{

namespace
{

using codec::Json;
using codec::put;
using core::ListKind;

constexpr std::pair<const char *, ListKind> k_kinds[] = {
	{"jobs", ListKind::jobs}, {"pods", ListKind::pods}, {"nodes", ListKind::nodes}};

/* nullptr: there is no such kind. */
const std::pair<const char *, ListKind> *kind_named(json_object *name)
{
	for (const auto &kind : k_kinds) {
		if (json_object_is_type(name, json_type_string) &&
			std::string_view(json_object_get_string(name)) == kind.first)
			return &kind;
	}
	return nullptr;
}

/* All, if the request names none. */
Result<std::vector<ListKind>> kinds_of(json_object *request)
{
	json_object *names = codec::get(request, "kinds");
	std::vector<ListKind> kinds;
	for (std::size_t i = 0; i < codec::array_size(names); i++) {
		const auto *kind = kind_named(codec::array_at(names, i));
		if (!kind)
			return Error{Errc::invalid, "kinds may be jobs, pods and nodes"};
		kinds.push_back(kind->second);
	}
	if (names && kinds.empty())
		return Error{Errc::invalid, "kinds is not a list of jobs, pods and nodes"};
	if (!names) {
		for (const auto &kind : k_kinds)
			kinds.push_back(kind.second);
	}
	return kinds;
}

Result<watch::Wish> wish_of(json_object *request, const ctl::Peer &peer)
{
	const std::int64_t version = codec::get_int(request, "watch", watch::k_version);
	if (version != watch::k_version)
		return Error{Errc::invalid,
			"slurmkubed has version " + std::to_string(watch::k_version) +
				" of watch, and not " + std::to_string(version)};
	const auto kinds = kinds_of(request);
	if (!kinds)
		return kinds.error();
	watch::Wish wish{.peer = peer, .selections = {}};
	for (const ListKind kind : *kinds) {
		auto selection = selection_of(kind, request, peer);
		if (!selection)
			return selection.error();
		wish.selections[static_cast<std::size_t>(kind)] = std::move(*selection);
	}
	return wish;
}

std::string first_line(const App &app, const watch::Wish &wish)
{
	Json kinds = codec::new_array();
	for (const auto &[name, kind] : k_kinds) {
		if (wish.selections[static_cast<std::size_t>(kind)])
			codec::append(kinds.get(), name);
	}
	const Json line = ok_reply();
	put(line.get(), "watch", watch::k_version);
	put(line.get(), "version", SLURMKUBE_VERSION);
	put(line.get(), "ready", app.world().state().is_known());
	put(line.get(), "kinds", std::move(kinds));
	return codec::to_text(line.get());
}

} // namespace

void watch_reply(App &app, json_object *request, const ctl::Peer &peer, const ctl::Reply &reply,
	const ctl::Take &take)
{
	auto wish = wish_of(request, peer);
	if (!wish)
		return reply(ctl::error_reply(wish.error().what));
	if (const std::string refused = app.watchers().refusal(peer); !refused.empty())
		return reply(ctl::error_reply(refused));
	const std::string first = first_line(app, *wish);
	app.watchers().serve(take(), std::move(*wish), first);
}

} // namespace slurmkube::agent
