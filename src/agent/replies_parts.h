/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * replies_parts.h - what the files of the replies share.
 */
#ifndef SLURMKUBE_AGENT_REPLIES_PARTS_H
#define SLURMKUBE_AGENT_REPLIES_PARTS_H

#include "src/agent/app.h"
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

/* replies_diag.cc */
codec::Json diag(const App &app);

/* replies_lists.cc: the rows that the request's "select" wants; an error reply if it cannot be
 * understood. */
std::string list_reply(const App &app, core::ListKind kind, json_object *request);

} // namespace slurmkube::agent

#endif
