/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * watch_events.h - skube watch: prints the changes of pods, jobs and nodes as the agent tells them.
 */
#ifndef SLURMKUBE_SKUBE_WATCH_EVENTS_H
#define SLURMKUBE_SKUBE_WATCH_EVENTS_H

#include "src/codec/json.h"
#include "src/skube/options.h"
#include "src/skube/socket_path.h"

namespace slurmkube::skube
{

struct WatchRequest {
	codec::Json members; /* of the request */
	SocketPath socket;
	bool is_data = false; /* the agent's own lines, instead of text for people */
};

/* From the words and options of the command: kinds that a given criterion does not fit are left
 * out, unless they are named. invalid: wrong usage. */
Result<WatchRequest> watch_request(const Options &options);

/* Until a signal ends skube. Connects again when the connection is lost. Returns the exit status if
 * there is no agent at first, the agent refuses, or nobody reads the output. */
int watch_events(const WatchRequest &wanted);

} // namespace slurmkube::skube

#endif
