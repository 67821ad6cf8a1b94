/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/pages.h"

#include "src/agent/app.h"
#include "src/agent/health.h"
#include "src/agent/http/address.h"
#include "src/agent/kube/files.h"
#include "src/agent/metrics.h"
#include "src/codec/metrics_text.h"

namespace slurmkube::agent
{

namespace
{

constexpr unsigned k_unavailable = 503, k_not_found = 404, k_unauthorized = 401, k_forbidden = 403;

http::Answer health_page(const http::Request &request, const std::vector<HealthCheck> &checks)
{
	return {.status = is_healthy(checks) ? 200 : k_unavailable,
		.body = request.is_verbose ? health_list(request.path.substr(1), checks)
					   : health_line(checks)};
}

/* Takes the same time wherever the texts differ: otherwise a token could be guessed bytewise. */
bool is_same_secret(const std::string &given, const std::string &wanted)
{
	int difference = given.size() == wanted.size() ? 0 : 1;
	for (std::size_t i = 0; i < given.size(); i++)
		difference |= given[i] ^ wanted[i % wanted.size()];
	return difference == 0;
}

/* The file is read each time, so that a new token holds at once. */
Result<std::string> wanted_token(const std::string &file)
{
	const auto text = kube::read_small_file(file);
	if (!text)
		return text.error();
	if (kube::trimmed(*text).empty())
		return Error{Errc::invalid, "'" + file + "' has no token"};
	return kube::trimmed(*text);
}

/* nullopt: the client may read metrics. */
std::optional<http::Answer> refusal(const App &app, const http::Request &request)
{
	const std::string &file = app.config().metrics.token_file;
	if (file.empty())
		return std::nullopt;
	const auto token = wanted_token(file);
	if (!token)
		return http::Answer{.status = k_unavailable,
			.body = "the agent cannot read metrics.token_file\n"};
	if (!is_same_secret(request.authorization, "Bearer " + *token))
		return http::Answer{.status = k_unauthorized,
			.body = "a bearer token is required: see metrics.token_file in "
				"slurmkubed.yaml(5)\n",
			.challenge = "Bearer"};
	return std::nullopt;
}

/* Why the names of users may not be shown without a token; empty: they may. */
std::string names_refusal(App &app)
{
	const MetricsConfig &metrics = app.config().metrics;
	if (!metrics.token_file.empty())
		return "";
	const auto address = http::parse_address(metrics.listen);
	if (!address || !address->is_loopback)
		return "this page names users and accounts: beyond loopback it requires a token; "
		       "set metrics.token_file in slurmkubed.yaml\n";
	if (app.slurm_metrics().is_private())
		return "this page names users and accounts, and PrivateData of slurm.conf hides "
		       "them: set metrics.token_file in slurmkubed.yaml\n";
	return "";
}

/* Only the agent that leads serves Slurm's metrics, so that sums over all hosts are right. */
http::Answer slurm_answer(App &app, SlurmMetrics::Page page)
{
	if (!app.world().state().sync.has_link())
		return {.body = "# standby: the agent that leads has the metrics of Slurm\n",
			.content_type = codec::k_metrics_type};
	if (page == SlurmMetrics::Page::owners) {
		const std::string refused = names_refusal(app);
		if (!refused.empty())
			return {.status = k_forbidden, .body = refused};
	}
	return {.body = app.slurm_metrics().scrape(page), .content_type = codec::k_metrics_type};
}

http::Answer metrics_answer(App &app, const http::Request &request)
{
	const auto page = SlurmMetrics::page_at(request.path);
	if (!page && request.path != "/metrics")
		return {.status = k_not_found,
			.body = "not found: see /metrics, /livez, /readyz, /healthz\n"};
	if (auto refused = refusal(app, request))
		return *std::move(refused);
	if (page)
		return slurm_answer(app, *page);
	return {.body = app.http().metrics_text([&] { return metrics_page(app); }),
		.content_type = codec::k_metrics_type};
}

} // namespace

http::Answer page_of(App &app, const http::Request &request)
{
	/* an answer proves that the loop turns; without one the probe fails by its time limit */
	if (request.path == "/livez" || request.path == "/healthz")
		return health_page(request, {{"loop", ""}});
	if (request.path == "/readyz")
		return health_page(request, readiness(app));
	return metrics_answer(app, request);
}

std::string metrics_token_trouble(const App &app)
{
	const std::string &file = app.config().metrics.token_file;
	const auto token = file.empty() ? Result<std::string>("") : wanted_token(file);
	return token ? "" : token.error().what;
}

} // namespace slurmkube::agent
