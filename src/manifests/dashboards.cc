/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/manifests/dashboards.h"

#include <algorithm>
#include <string_view>

namespace slurmkube::manifests
{

namespace
{

struct File {
	std::string_view name, text;
};

/* local.mk makes this file of those in contribs/monitoring. */
constexpr File k_files[] = {
#include "src/manifests/dashboards.inc"
};

constexpr char k_dashboards_head[] = R"(apiVersion: v1
kind: ConfigMap
metadata:
  name: slurm-kube-dashboards
  namespace: "@NAMESPACE@"
  labels:
    grafana_dashboard: "1"
data:
)";

/* A block scalar of YAML: each line, indented. */
std::string indented(std::string_view text)
{
	std::string out;
	while (!text.empty()) {
		const std::size_t end = std::min(text.find('\n'), text.size());
		out += (end ? "    " + std::string(text.substr(0, end)) : "") + "\n";
		text.remove_prefix(std::min(end + 1, text.size()));
	}
	return out;
}

} // namespace

std::string dashboards(const Site &site)
{
	std::string text = fill_in(k_dashboards_head, site);
	for (const File &file : k_files)
		text += "  slurm-kube-" + std::string(file.name) + ": |\n" + indented(file.text);
	return text;
}

} // namespace slurmkube::manifests
