/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/plugins/job_submit/kube/kube_conf.h"

#include "src/plugins/job_submit/kube/facts.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include <strings.h>
#include <sys/un.h>

namespace slurmkube::plugin
{

namespace
{

constexpr int k_port_max = 65535;
constexpr std::size_t k_quoted_max = 64; /* bytes of a wrong key or name */
/* Of error, which is part of the first line of each link: another file may have been copied over
 * kube.conf. */
constexpr std::size_t k_error_max = 2000;

std::string_view trimmed(std::string_view text)
{
	std::size_t first = text.find_first_not_of(" \t\r");
	if (first == std::string_view::npos)
		return {};
	return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

/* Keys are case-insensitive, as in slurm.conf. */
bool is_key(std::string_view key, const char *name)
{
	return strcasecmp(std::string(key).c_str(), name) == 0;
}

bool has_control_characters(std::string_view text)
{
	return std::any_of(text.begin(), text.end(),
		[](unsigned char c) { return (c < 0x20 && c != '\t') || c == 0x7f; });
}

std::string check_socket(std::string_view value)
{
	if (value.empty() || value.front() != '/' || value.size() >= sizeof(sockaddr_un::sun_path))
		return "Socket must be an absolute path of at most 107 bytes";
	return {};
}

/* "/run/a" and "/run//x/../a" are one socket, over which two links would fight. */
bool is_same_path(const std::string &one, std::string_view other)
{
	using std::filesystem::path;
	return path(one).lexically_normal() == path(other).lexically_normal();
}

std::string set_socket(Config &config, std::string_view value)
{
	std::string wrong = check_socket(value);
	if (wrong.empty())
		config.socket = value;
	config.has_socket = true;
	return wrong;
}

/* The name is part of a feature, so it has the characters that Slurm allows there without a meaning
 * of their own. */
bool is_cluster_name(std::string_view name)
{
	constexpr std::size_t k_bytes_max = 63;
	return !name.empty() && name.size() <= k_bytes_max &&
		std::all_of(name.begin(), name.end(), [](unsigned char c) {
			return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
				(c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
		});
}

/* value: what follows "Cluster=", for example "alpha Socket=/run/alpha.sock". */
std::string add_cluster(Config &config, std::string_view value)
{
	config.has_clusters = true;
	const std::size_t blank = std::min(value.find_first_of(" \t"), value.size());
	const std::string_view name = value.substr(0, blank), rest = trimmed(value.substr(blank));
	const std::size_t equals = rest.find('=');
	if (!is_cluster_name(name))
		return "Cluster must be a name of at most 63 letters, digits, '-', '_' and '.'";
	if (equals == std::string_view::npos || !is_key(trimmed(rest.substr(0, equals)), "Socket"))
		return "Cluster=" + std::string(name) + " must be followed by Socket=PATH";
	const std::string_view socket = trimmed(rest.substr(equals + 1));
	if (socket.find_first_of(" \t") != std::string_view::npos)
		return "Cluster=" + std::string(name) + " Socket=PATH must stand alone";
	if (std::string wrong = check_socket(socket); !wrong.empty())
		return wrong;
	for (const ClusterSocket &other : config.clusters)
		if (other.cluster == name || is_same_path(other.socket, socket))
			return "cluster " + other.cluster + " has this name or socket already";
	if (config.clusters.size() == k_clusters_max)
		return "at most " + std::to_string(k_clusters_max) + " clusters are possible";
	config.clusters.push_back({std::string(name), std::string(socket)});
	return {};
}

std::string set_feature(const char *key, std::string &feature, std::string_view value)
{
	if (value.empty() || value.size() > KUBE_FEATURE_MAX ||
		value.find_first_of(", \t()[]&|*") != std::string_view::npos)
		return std::string(key) + " must be one plain word of at most " +
			std::to_string(KUBE_FEATURE_MAX) + " characters";
	feature = value;
	return {};
}

std::string set_sink_port(Config &config, std::string_view value)
{
	int port = 0;
	auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), port);
	if (error != std::errc{} || end != value.data() + value.size() || port < 0 ||
		port > k_port_max)
		return "SinkPort must be a number from 0 to 65535";
	config.sink_port = port;
	return {};
}

std::string set_partitions(Config &config, std::string_view value)
{
	config.partitions = split_commas(value);
	return {};
}

std::string set(Config &config, std::string_view line)
{
	std::size_t equals = line.find('=');
	if (equals == std::string_view::npos)
		return "not of the form Key=Value";
	std::string_view key = trimmed(line.substr(0, equals));
	std::string_view value = trimmed(line.substr(equals + 1));
	if (has_control_characters(line))
		return "a control character";
	if (is_key(key, "Socket"))
		return set_socket(config, value);
	if (is_key(key, "Cluster"))
		return add_cluster(config, value);
	if (is_key(key, "Feature"))
		return set_feature("Feature", config.feature, value);
	if (is_key(key, "HybridFeature"))
		return set_feature("HybridFeature", config.hybrid_feature, value);
	if (is_key(key, "SinkPort"))
		return set_sink_port(config, value);
	if (is_key(key, "Partitions"))
		return set_partitions(config, value);
	return "no such key: '" + std::string(key.substr(0, k_quoted_max)) + "'";
}

} // namespace

std::vector<std::string> split_commas(std::string_view list)
{
	std::vector<std::string> entries;
	while (!list.empty()) {
		std::size_t comma = list.find(',');
		std::string_view entry = trimmed(list.substr(0, comma));
		if (!entry.empty())
			entries.emplace_back(entry);
		list = comma == std::string_view::npos ? std::string_view()
						       : list.substr(comma + 1);
	}
	return entries;
}

std::string cluster_feature(const std::string &feature, const std::string &cluster)
{
	return feature + "-" + cluster;
}

Config parse_config(std::string_view text)
{
	Config config;
	std::size_t more = 0;
	for (int number = 1; !text.empty(); number++) {
		std::size_t end = text.find('\n');
		std::string_view line = text.substr(0, end);
		text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
		line = trimmed(line.substr(0, line.find('#')));
		if (line.empty())
			continue;
		std::string wrong = set(config, line);
		if (wrong.empty())
			continue;
		if (config.error.size() > k_error_max)
			more++;
		else
			config.error += (config.error.empty() ? "" : "; ") +
				("kube.conf line " + std::to_string(number) + ": " + wrong);
	}
	if (more > 0)
		config.error += "; and " + std::to_string(more) + " more wrong lines";
	if (config.feature == config.hybrid_feature) {
		config.error += (config.error.empty() ? "" : "; ") +
			std::string("kube.conf: Feature and HybridFeature must differ; no node is "
				    "hybrid");
		config.hybrid_feature.clear();
	}
	if (config.has_clusters && config.has_socket)
		config.error += (config.error.empty() ? "" : "; ") +
			std::string("kube.conf: Socket has no effect beside lines with Cluster");
	return config;
}

} // namespace slurmkube::plugin
