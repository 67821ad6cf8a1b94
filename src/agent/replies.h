/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * replies.h - the replies to skube (doc/design/protocol.md section 3). A request changes nothing in
 * App.
 */
#ifndef SLURMKUBE_AGENT_REPLIES_H
#define SLURMKUBE_AGENT_REPLIES_H

#include "src/agent/ctl/server.h"

#include <json-c/json.h>

namespace slurmkube::agent
{

class App;

/* An unknown verb gets an error reply, and so does one that only operators may use. Other peers
 * (ctl/peer.h) get the rows that are theirs; of the rest, the reply is as if it did not exist.
 * `check` and `slurm_conf` first ask the API server or slurmctld and reply within k_look_time;
 * `watch` takes the connection; all other verbs are answered at once. */
void reply_to(App &app, json_object *request, const ctl::Peer &peer, const ctl::Reply &reply,
	const ctl::Take &take);

} // namespace slurmkube::agent

#endif
