/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * replies_parts.h - what the files of the replies share.
 */
#ifndef SLURMKUBE_AGENT_REPLIES_PARTS_H
#define SLURMKUBE_AGENT_REPLIES_PARTS_H

#include "src/agent/app.h"
#include "src/agent/rows.h"
#include "src/codec/json.h"
#include "src/core/inspect/selection.h"

namespace slurmkube::agent
{

inline codec::Json ok_reply()
{
	codec::Json reply = codec::new_object();
	codec::put(reply.get(), "ok", true);
	return reply;
}

/* replies.cc */
codec::Json ping(const App &app);

/* replies_diag.cc */
codec::Json diag(const App &app);
codec::Json top(const App &app, const ctl::Peer &peer);

/* replies_devices.cc */
std::string devices_reply(const App &app, const ctl::Peer &peer);

/* replies_lists.cc: the rows that the request's "select" wants and the peer may see; an error reply
 * if the request cannot be understood. */
std::string list_reply(
	const App &app, core::ListKind kind, json_object *request, const ctl::Peer &peer);

/* The request's "select". invalid: it cannot be understood. */
Result<core::Selection> selection_of(
	core::ListKind kind, json_object *request, const ctl::Peer &peer);

/* Rows of the lists. */
codec::Json pod_data(const core::World &world, const core::PodEntry &entry); /* it has a pod */
codec::Json node_data(const core::World &world, const std::string &name);

/* The user as whom the pod runs, or would run; -1: not known, or no rule matches. */
std::int64_t user_of(const core::World &world, const core::Pod &pod);

/* replies_watch.cc: takes the connection over, or replies with an error. */
void watch_reply(App &app, json_object *request, const ctl::Peer &peer, const ctl::Reply &reply,
	const ctl::Take &take);

/* replies_why.cc */
std::string why_reply(const App &app, json_object *request, const ctl::Peer &peer);

} // namespace slurmkube::agent

#endif
