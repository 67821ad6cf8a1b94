/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/config_metrics.h"

#include "src/agent/http/address.h"
#include "src/agent/kube/files.h"

namespace slurmkube::agent
{

namespace
{

void read_listen(Reader &reader, const Yaml &value, MetricsConfig &out)
{
	std::string text;
	if (value.is_scalar() && value.text().empty()) {
		out.listen.clear();
		return;
	}
	if (!reader.text(value, text))
		return;
	if (const auto address = http::parse_address(text); !address)
		return reader.fail(value, address.error().what);
	out.listen = text;
}

void read_token_file(Reader &reader, const Yaml &value, MetricsConfig &out)
{
	if (!reader.path(value, out.token_file))
		return;
	if (const auto text = kube::read_small_file(out.token_file); !text)
		reader.fail(value, text.error().what);
	else if (kube::trimmed(*text).empty())
		reader.fail(value, "'" + out.token_file + "' is empty: write a token into it");
}

constexpr Key<MetricsConfig> k_metrics_keys[] = {
	{"listen", read_listen},
	{"token_file", read_token_file},
	{"tls_cert_file",
		[](Reader &r, const Yaml &v, MetricsConfig &out) {
			(void)r.path(v, out.tls_cert_file);
		}},
	{"tls_key_file",
		[](Reader &r, const Yaml &v, MetricsConfig &out) {
			(void)r.path(v, out.tls_key_file);
		}},
	{"public",
		[](Reader &r, const Yaml &v, MetricsConfig &out) {
			(void)r.boolean(v, out.is_public);
		}},
};

} // namespace

void read_metrics(Reader &reader, const Yaml &value, Config &out)
{
	reader.mapping(value, k_metrics_keys, out.metrics);
	const MetricsConfig &read = out.metrics;
	if (read.tls_cert_file.empty() != read.tls_key_file.empty())
		reader.fail(value,
			std::string(read.tls_cert_file.empty() ? "tls_key_file" : "tls_cert_file") +
				" stands alone: HTTPS needs tls_cert_file and tls_key_file");
	if (read.listen.empty() || !read.token_file.empty() || read.is_public)
		return;
	if (const auto address = http::parse_address(read.listen); address && !address->is_loopback)
		reader.fail(value,
			"listen: '" + read.listen +
				"' is beyond loopback, and whoever reaches it could read the "
				"metrics: set token_file, or public: true if that is intended");
}

std::vector<std::string> metrics_keys()
{
	std::vector<std::string> names;
	for (const auto &key : k_metrics_keys)
		names.emplace_back(key.name);
	return names;
}

} // namespace slurmkube::agent
