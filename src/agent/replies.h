/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * replies.h - what skube is told (doc/design/protocol.md section 3). Reads App, changes nothing.
 */
#ifndef SLURMKUBE_AGENT_REPLIES_H
#define SLURMKUBE_AGENT_REPLIES_H

#include <json-c/json.h>

#include <string>

namespace slurmkube::agent
{

class App;

/* JSON on one line. An unknown verb gets an error reply. */
std::string reply_to(const App &app, json_object *request);

} // namespace slurmkube::agent

#endif
