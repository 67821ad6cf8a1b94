/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * credentials.h - the client's credentials, kept good: a kubeconfig that changes is read again, a
 * token is renewed before it expires, and what keeps that from happening is logged.
 *
 * On the loop's thread. The client must outlive it, and the loop must not run after it has gone.
 */
#ifndef SLURMKUBE_AGENT_KUBE_CREDENTIALS_H
#define SLURMKUBE_AGENT_KUBE_CREDENTIALS_H

#include "src/agent/kube/client.h"

#include <cstdint>
#include <string>

namespace slurmkube::kube
{

class Credentials
{
      public:
	/* kubeconfig: what the client's access was read from; empty: a pod's service account. */
	Credentials(Client &client, std::string kubeconfig);
	Credentials(const Credentials &) = delete;
	Credentials &operator=(const Credentials &) = delete;

	/* Looks every few seconds from now on. */
	void start();
	/* Reads all files again now. */
	void reload();

	/* What is wrong with them, with a remedy; empty: nothing that is known here. */
	[[nodiscard]] std::string trouble() const;

      private:
	void look();
	void read_kubeconfig(bool even_if_same);
	void renew_if_due(std::int64_t now);
	void renewed(const Status &status, std::int64_t now);
	void warn_of_expiry(std::int64_t now);

	Client &client_;
	std::string kubeconfig_, contents_;
	std::string file_trouble_, renewal_trouble_, warned_;
	std::int64_t next_renewal_ = 0;
	bool renewing_ = false;
};

} // namespace slurmkube::kube

#endif
