/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * credentials.h - keeps the client's credentials valid: reads a changed kubeconfig again, renews
 * the token before it expires, and logs what prevents that.
 *
 * On the loop's thread. The client must outlive the object, and the loop must not run after the
 * object has been destroyed.
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
	/* kubeconfig: the file that the client's access comes from; empty: a pod's service
	 * account. */
	Credentials(Client &client, std::string kubeconfig);
	Credentials(const Credentials &) = delete;
	Credentials &operator=(const Credentials &) = delete;

	/* From then on, checks the credentials every 5 s. */
	void start();
	/* Reads all files immediately. */
	void reload();

	/* What is wrong with the credentials, and a remedy; empty: nothing is known to be wrong. */
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
