/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * http_service.h - keeps the agent's metrics and health served as slurmkubed.yaml says.
 *
 * Pods are scheduled without metrics, too, so nothing here stops the agent: an address that is
 * taken, or files that cannot be used, are tried again each second. A certificate that is renewed
 * on disk is served within 10 s; until the new pair of files fits, the old one is.
 *
 * Used on the loop's thread.
 */
#ifndef SLURMKUBE_AGENT_HTTP_SERVICE_H
#define SLURMKUBE_AGENT_HTTP_SERVICE_H

#include "src/agent/config.h"
#include "src/agent/http/key_pair.h"
#include "src/agent/http/server.h"

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

namespace slurmkube::agent
{

class HttpService
{
      public:
	HttpService(Loop &loop, http::Handler handler) : server_(loop, std::move(handler)) {}

	/* Serves at config.listen from now on; nothing, if it is empty. */
	void serve(const MetricsConfig &config);
	/* To be called each second. */
	void tick();

	/* What make() returns, or has returned a moment ago: it is called again after ten times the
	 * time that it took. So whoever asks without a pause costs the loop a tenth at most. */
	const std::string &metrics_text(const std::function<std::string()> &make);

	/* Why there is no HTTP although it is wanted; empty: there is no trouble. */
	[[nodiscard]] const std::string &trouble() const { return trouble_; }
	/* Why an old certificate is served; empty: it is that of the files. */
	[[nodiscard]] const std::string &old_certificate() const { return old_certificate_; }

      private:
	Status start();
	void renew();

	MetricsConfig config_;
	http::Server server_;
	http::KeyPair pair_; /* empty: HTTP */
	std::string trouble_;
	std::string old_certificate_;
	int ticks_ = 0;
	std::string metrics_text_;
	std::int64_t metrics_until_us_ = 0;
};

} // namespace slurmkube::agent

#endif
