/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session.h - what the requests and the streams of one client share.
 */
#ifndef SLURMKUBE_AGENT_KUBE_SESSION_H
#define SLURMKUBE_AGENT_KUBE_SESSION_H

#include "src/agent/kube/access.h"
#include "src/agent/kube/client.h"
#include "src/agent/kube/token.h"
#include "src/agent/loop.h"

#include <memory>
#include <utility>

namespace slurmkube::kube
{

struct Session {
	Session(agent::Loop &on, Access with, const ClientOptions &how)
	    : loop(on), access(std::move(with)), options(how),
	      token(std::make_unique<Token>(access.token, access.token_file))
	{
	}
	void replace_access(Access by)
	{
		retired = std::exchange(access, std::move(by));
		token = std::make_unique<Token>(access.token, access.token_file);
	}
	agent::Loop &loop;
	Access access;
	/* the previous access: a connection that is being made may still read its files in
	 * memory */
	Access retired;
	const ClientOptions options;
	std::unique_ptr<Token> token;
	ClientCounters counters;
};

} // namespace slurmkube::kube

#endif
