/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * replies_parts.h - what replies.cc and replies_diag.cc share.
 */
#ifndef SLURMKUBE_AGENT_REPLIES_PARTS_H
#define SLURMKUBE_AGENT_REPLIES_PARTS_H

#include "src/agent/app.h"
#include "src/codec/json.h"

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

} // namespace slurmkube::agent

#endif
