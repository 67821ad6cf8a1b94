/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * teardown_ask_slurm.cc - asks scontrol and squeue what is left of slurm-kube, and reads
 * slurm.conf.
 */
#include "src/base/text.h"
#include "src/codec/marker.h"
#include "src/core/model/names.h"
#include "src/skube/teardown_parts.h"

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <utility>

namespace slurmkube::skube
{

namespace
{

constexpr unsigned k_include_depth_max = 8;

bool has(const Words &words, const std::string &one)
{
	return std::find(words.begin(), words.end(), one) != words.end();
}

const std::string k_cluster_feature = names::k_node_feature + std::string("-");

/* Whether a node with these features is to be removed. */
bool is_to_go(const Words &features, const Leftovers &left)
{
	return has(features,
		left.cluster.empty() ? names::k_node_feature : k_cluster_feature + left.cluster);
}

/* The same for a line of slurm.conf: a NodeSet may have a cluster's feature alone. */
bool is_line_to_go(const Words &features, const Leftovers &left)
{
	const auto is_of = [&features](const std::string &cluster) {
		return has(features, k_cluster_feature + cluster);
	};
	return is_to_go(features, left) ||
		(left.cluster.empty() &&
			std::any_of(left.clusters.begin(), left.clusters.end(), is_of));
}

void note_clusters(const Words &features, Leftovers &left)
{
	for (const std::string &feature : features) {
		if (feature.starts_with(k_cluster_feature))
			left.clusters.insert(feature.substr(k_cluster_feature.size()));
	}
}

/* Partitions that also have other nodes are left alone, because they may have native jobs. */
void ask_nodes(Asker &ask, Leftovers &left)
{
	std::set<std::string> ours, others;
	for (const std::string &row :
		ask.lines({"scontrol", "--oneliner", "--all", "show", "nodes"})) {
		const Words features = listed(scontrol_value(row, "AvailableFeatures"));
		const bool is_ours = is_to_go(features, left);
		if (has(features, names::k_node_feature))
			note_clusters(features, left);
		for (const std::string &partition : listed(scontrol_value(row, "Partitions")))
			(is_ours ? ours : others).insert(partition);
		const bool is_dynamic =
			scontrol_value(row, "State").find("DYNAMIC") != std::string::npos;
		if (is_ours)
			(is_dynamic ? left.dynamic_nodes : left.written_nodes)
				.push_back(scontrol_value(row, "NodeName"));
	}
	for (const std::string &row :
		ask.lines({"scontrol", "--oneliner", "--all", "show", "partitions"})) {
		const std::string name = scontrol_value(row, "PartitionName");
		if (!ours.contains(name) || others.contains(name))
			continue;
		left.partitions.push_back(name);
		if (scontrol_value(row, "State") == "UP")
			left.open_partitions.push_back(name);
	}
}

bool is_live(const std::string &state)
{
	return state == "RUNNING" || state == "COMPLETING" || state == "SUSPENDED" ||
		state == "CONFIGURING";
}

/* A job is identified by its marker, in whatever partition it is. */
void ask_marked_jobs(Asker &ask, Leftovers &left)
{
	const std::string format =
		"jobid:20,state:20,admin_comment:" + std::to_string(codec::k_marker_bytes_max + 1);
	for (const std::string &row : ask.lines(
		     {"squeue", "--noheader", "--all", "--states", "all", "--Format", format})) {
		std::istringstream words(row);
		MarkedJob job;
		words >> job.id >> job.state;
		std::string comment;
		std::getline(words >> std::ws, comment);
		auto marker = codec::marker_from_text(
			comment.substr(0, comment.find_last_not_of(' ') + 1));
		if (!marker || (job.state != "PENDING" && !is_live(job.state)) ||
			(!left.cluster.empty() && marker->cluster != left.cluster))
			continue;
		job.marker = std::move(*marker);
		left.marked_jobs.push_back(std::move(job));
	}
}

/* Jobs of users in the partitions that are to be removed. */
void ask_other_jobs(Asker &ask, Leftovers &left)
{
	std::string partitions;
	for (const std::string &name : left.partitions)
		partitions += (partitions.empty() ? "" : ",") + name;
	if (partitions.empty())
		return;
	for (const std::string &row : ask.lines({"squeue", "--noheader", "--all", "--partition",
		     partitions, "--states", "all", "--format", "%A %T"})) {
		std::istringstream words(row);
		std::string id, state;
		words >> id >> state;
		const auto is_it = [&id](const MarkedJob &job) { return job.id == id; };
		const bool is_marked =
			std::any_of(left.marked_jobs.begin(), left.marked_jobs.end(), is_it);
		if (!is_marked && (state == "PENDING" || is_live(state)))
			left.other_jobs.push_back(id);
	}
}

bool is_of_ours(const std::string &line, const Leftovers &left)
{
	const std::string key = line.substr(0, line.find('='));
	const auto words = [&line] {
		return listed(line.substr(
			line.find('=') + 1, line.find_first_of(" \t#") - line.find('=') - 1));
	};
	if (key == "JobSubmitPlugins")
		return left.cluster.empty() &&
			(has(words(), "kube") || has(words(), "job_submit/kube"));
	if (key == "PartitionName")
		return has(left.partitions, scontrol_value(line, "PartitionName"));
	if (key == "NodeName" || key == "NodeSet")
		return is_line_to_go(listed(scontrol_value(line, "Feature")), left) ||
			is_line_to_go(listed(scontrol_value(line, "Features")), left);
	return false;
}

void read_conf(const std::string &file, Leftovers &left, unsigned depth)
{
	std::ifstream in(file);
	std::string line;
	for (unsigned number = 1; depth < k_include_depth_max && std::getline(in, line); number++) {
		std::istringstream words(line);
		std::string first, second;
		words >> first >> second;
		const std::size_t before = left.conf_lines.size();
		if (first == "Include" || first == "include")
			read_conf(second.starts_with('/')
					? second
					: file.substr(0, file.rfind('/') + 1) + second,
				left, depth + 1);
		/* with several clusters the file may have lines of others too */
		const bool has_ours = left.conf_lines.size() > before && left.cluster.empty();
		if (is_of_ours(line, left) || has_ours)
			left.conf_lines.push_back(file + ":" + std::to_string(number) + ": " +
				printable(line).substr(0, 120));
	}
}

void ask_conf(Asker &ask, Leftovers &left)
{
	for (const std::string &row : ask.lines({"scontrol", "show", "config"})) {
		std::istringstream words(row);
		std::string key, equals, value;
		words >> key >> equals >> value;
		if (key == "SLURM_CONF")
			read_conf(value, left, 0);
		if (key.starts_with("SlurmctldHost["))
			left.controllers.push_back(value.substr(0, value.find('(')));
	}
}

} // namespace

void ask_slurm(Asker &ask, Leftovers &left)
{
	ask_nodes(ask, left);
	ask_marked_jobs(ask, left);
	ask_other_jobs(ask, left);
	ask_conf(ask, left);
}

} // namespace slurmkube::skube
