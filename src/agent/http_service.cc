/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/http_service.h"

#include "src/base/log.h"

#include <utility>

namespace slurmkube::agent
{

namespace
{

constexpr int k_ticks_until_renewed = 10;
constexpr std::int64_t k_rest_per_page = 10;

} // namespace

void HttpService::serve(const MetricsConfig &config)
{
	config_ = config;
	const std::string before = std::exchange(trouble_, {});
	old_certificate_.clear();
	server_.close();
	if (config_.listen.empty())
		return;
	if (const Status started = start(); !started)
		trouble_ = started.error().what;
	if (trouble_.empty())
		return log_info("serving metrics and health at %s%s", config_.listen.c_str(),
			config_.tls_cert_file.empty() ? "" : " by HTTPS");
	if (trouble_ != before)
		log_error("no metrics and no health by HTTP: %s; trying again each second. "
			  "Correct the section metrics of slurmkubed.yaml and reload",
			trouble_.c_str());
}

const std::string &HttpService::metrics_text(const std::function<std::string()> &make)
{
	const std::int64_t began = now().mono_us;
	if (began < metrics_until_us_)
		return metrics_text_;
	metrics_text_ = make();
	const std::int64_t ended = now().mono_us;
	metrics_until_us_ = ended + k_rest_per_page * (ended - began);
	return metrics_text_;
}

Status HttpService::start()
{
	pair_ = {};
	if (!config_.tls_cert_file.empty()) {
		auto pair = http::read_key_pair(config_.tls_cert_file, config_.tls_key_file);
		if (!pair)
			return pair.error();
		pair_ = std::move(*pair);
	}
	return server_.listen(config_.listen, pair_);
}

void HttpService::tick()
{
	if (!trouble_.empty())
		return serve(config_);
	if (config_.listen.empty() || config_.tls_cert_file.empty())
		return;
	ticks_ = (ticks_ + 1) % k_ticks_until_renewed;
	if (ticks_ == 0)
		renew();
}

/* The two files are replaced one after the other, so a pair that does not fit is nothing yet. */
void HttpService::renew()
{
	auto pair = http::read_key_pair(config_.tls_cert_file, config_.tls_key_file);
	const std::string before = std::exchange(old_certificate_, {});
	if (pair && *pair == pair_)
		return;
	const Status renewed = pair ? server_.listen(config_.listen, *pair) : pair.error();
	if (renewed) {
		pair_ = std::move(*pair);
		return log_info("metrics and health are served with the renewed certificate");
	}
	old_certificate_ = renewed.error().what;
	if (pair) /* only the server has found its fault, and is closed */
		if (const Status again = server_.listen(config_.listen, pair_); !again)
			trouble_ = again.error().what;
	if (old_certificate_ != before)
		log_warning("metrics and health are served with the old certificate: %s",
			old_certificate_.c_str());
}

} // namespace slurmkube::agent
