/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/skube/node_drain.h"

#include "src/base/text.h"
#include "src/codec/json.h"
#include "src/core/model/names.h"
#include "src/core/model/node_names.h"
#include "src/skube/asker.h"
#include "src/skube/config_value.h"
#include "src/skube/request.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <sstream>
#include <utility>

namespace slurmkube::skube
{

namespace
{

constexpr std::size_t k_node_max = std::size_t{4} << 20;

Words with(const Words &program, std::initializer_list<std::string> words)
{
	Words all = program;
	all.insert(all.end(), words);
	return all;
}

Status both_have_it(const DrainState &state)
{
	if (!state.in_kubernetes)
		return Error{Errc::not_found,
			"Kubernetes has no node " + state.node +
				": native nodes are drained with scontrol update"};
	if (!state.in_slurm)
		return Error{Errc::not_found,
			"Slurm has no node " + state.in_slurm_as() + ": kubectl cordon " +
				state.node + " is enough"};
	return Ok{};
}

/* Several Kubernetes clusters may have external nodes of the same name. Hybrid nodes are of no
 * cluster, and the name of their feature may look like that of one. */
Status is_of_this_cluster(const DrainState &state)
{
	const std::string start = names::k_node_feature + std::string("-");
	const Words features = listed(state.features);
	if (std::ranges::find(features, names::k_node_feature) == features.end())
		return Ok{};
	for (const std::string &feature : features) {
		if (feature.starts_with(start) && feature != start + state.cluster)
			return Error{Errc::conflict,
				"node " + state.in_slurm_as() +
					" in Slurm is of the Kubernetes cluster " +
					feature.substr(start.size()) +
					": give the configuration of its agent with --config, and "
					"its cluster with --context or --kubeconfig"};
	}
	return Ok{};
}

bool is_ours(const std::string &reason)
{
	return reason.starts_with(k_drain_prefix);
}

/* The agent drains a node that is cordoned: then the cordon is what to look at. */
bool is_of_the_agent(const std::string &reason)
{
	return reason.starts_with(names::k_reason_prefix);
}

Error cordoned_by_others(const DrainState &state)
{
	return {Errc::conflict,
		"node " + state.node +
			" is cordoned, and not by skube drain: ask who did it; kubectl uncordon " +
			state.node + " undoes it"};
}

Error drained_by_others(const DrainState &state)
{
	return {Errc::conflict,
		"node " + state.node + " is drained in Slurm with the reason '" + state.reason +
			"', and not by skube drain: ask who did it; scontrol update NodeName=" +
			state.in_slurm_as() + " State=RESUME undoes it"};
}

Error drained_by_the_agent(const DrainState &state)
{
	return {Errc::conflict,
		"slurmkubed has drained node " + state.node + ": '" + state.reason +
			"'; skube why node/" + state.node + " says what returns it"};
}

Status is_not_of_others(const DrainState &state)
{
	if (state.cordoned && state.annotation.empty())
		return cordoned_by_others(state);
	if (!state.drained || is_ours(state.reason))
		return Ok{};
	/* with our annotation the agent may only have been first to see our cordon */
	if (is_of_the_agent(state.reason))
		return state.annotation.empty() ? Status(drained_by_the_agent(state))
						: Status(Ok{});
	return drained_by_others(state);
}

Status is_fit(const std::string &reason)
{
	if (reason.empty() || reason.size() > k_drain_reason_max || printable(reason) != reason)
		return Error{Errc::invalid,
			"--reason needs a text of 1 to " + std::to_string(k_drain_reason_max) +
				" bytes on one line"};
	return Ok{};
}

} // namespace

/* Slurm first: if it refuses, Kubernetes has not been changed. */
Result<std::vector<Words>> drain_commands(const DrainState &state, const std::string &reason)
{
	for (const Status &needed : {is_fit(reason), both_have_it(state), is_of_this_cluster(state),
		     is_not_of_others(state)}) {
		if (!needed)
			return needed.error();
	}
	std::vector<Words> commands;
	const std::string text = k_drain_prefix + reason;
	if (!state.drained || state.reason != text)
		commands.push_back({"scontrol", "update", "NodeName=" + state.in_slurm_as(),
			"State=DRAIN", "Reason=" + text});
	if (state.annotation != reason)
		commands.push_back(with(state.kubectl,
			{"annotate", "node", state.node, "--overwrite",
				names::k_drain_reason + ("=" + reason)}));
	if (!state.cordoned)
		commands.push_back(with(state.kubectl, {"cordon", state.node}));
	return commands;
}

/* The cordon first: while it is there, the agent would drain the node again. */
Result<std::vector<Words>> resume_commands(const DrainState &state)
{
	for (const Status &needed :
		{both_have_it(state), is_of_this_cluster(state), is_not_of_others(state)}) {
		if (!needed)
			return needed.error();
	}
	std::vector<Words> commands;
	if (state.cordoned)
		commands.push_back(with(state.kubectl, {"uncordon", state.node}));
	if (!state.annotation.empty())
		commands.push_back(with(state.kubectl,
			{"annotate", "node", state.node,
				names::k_drain_reason + std::string("-")}));
	if (state.drained && is_ours(state.reason))
		commands.push_back(
			{"scontrol", "update", "NodeName=" + state.in_slurm_as(), "State=RESUME"});
	return commands;
}

namespace
{

/* A file that is not there, or that this user may not read, is no error unless it was named: most
 * sites have no prefix. */
Status name_in_slurm(const std::string &config, DrainState &state)
{
	const auto [file, is_named] = config_file(config);
	const auto prefix = config_value(file, "nodes.name_prefix");
	if (!prefix && is_named)
		return prefix.error();
	if (prefix && !prefix->empty())
		state.slurm_name = core::NodeNames{*prefix}.in_slurm(state.node);
	if (const auto cluster = config_value(file, "cluster"))
		state.cluster = *cluster;
	return Ok{};
}

Status ask_kubernetes(DrainState &state)
{
	const auto text = output_of(with(state.kubectl,
		{"get", "node", state.node, "--ignore-not-found", "--output", "json"}));
	if (!text)
		return text.error();
	if (text->empty())
		return Ok{};
	const auto node = codec::parse_json(*text, k_node_max);
	if (!node)
		return in_context("kubectl get node", node.error());
	state.in_kubernetes = true;
	state.label = printable(codec::get_string(
		codec::get(node->get(), "metadata", "labels"), names::k_slurm_node_label));
	state.cordoned = codec::get_bool(codec::get(node->get(), "spec"), "unschedulable");
	state.annotation = printable(codec::get_string(
		codec::get(node->get(), "metadata", "annotations"), names::k_drain_reason));
	return Ok{};
}

/* Its label may have changed while jobs run, or be that of another node: the agent knows. Without
 * the agent, a node without the label has the name that the file gives. */
Status ask_agent(const std::string &socket, DrainState &state)
{
	codec::Json about = codec::new_object();
	codec::put(about.get(), "node", state.node);
	const auto reply = ask(socket, "why", std::move(about));
	const std::string name = !reply
		? ""
		: printable(codec::get_string(
			  codec::get(reply->get(), "data", "node"), "slurm_name"));
	if (core::NodeNames::is_of_no_node(name))
		return Error{Errc::not_found,
			"node " + state.node +
				" has no name in Slurm (skube check, line node names, says why): "
				"kubectl cordon keeps pods away"};
	if (name.empty() && !state.label.empty())
		return Error{Errc::not_found,
			"node " + state.node + " has the label " + names::k_slurm_node_label + "=" +
				state.label +
				", and the agent does not say which node it is in Slurm" +
				(reply ? "" : " (" + reply.error().what + ")") +
				"; kubectl cordon keeps pods away"};
	if (!name.empty())
		state.slurm_name = name;
	return Ok{};
}

/* One line for each partition that has the node, all alike. */
Status ask_slurm(DrainState &state)
{
	const auto text = output_of({"sinfo", "--all", "--noheader", "--nodes", state.in_slurm_as(),
		"--Format", "StateComplete:200,Features:1000,Reason:1000"});
	if (!text)
		return text.error();
	const std::vector<std::string> lines = lines_of(*text);
	if (lines.empty())
		return Ok{};
	state.in_slurm = true;
	std::istringstream in(lines.front());
	std::string states;
	in >> states >> state.features;
	std::transform(states.begin(), states.end(), states.begin(),
		[](unsigned char c) { return static_cast<char>(std::tolower(c)); });
	state.drained = states.find("drain") != std::string::npos;
	std::getline(in >> std::ws, state.reason);
	state.reason.erase(state.reason.find_last_not_of(' ') + 1);
	state.reason = printable(state.reason);
	return Ok{};
}

} // namespace

Status drain_or_resume(const DrainRequest &wanted)
{
	DrainState state{.node = wanted.node};
	if (auto named = name_in_slurm(wanted.config, state); !named)
		return named;
	for (const auto &[option, value] : {std::pair("--kubeconfig", &wanted.kubeconfig),
		     std::pair("--context", &wanted.context)}) {
		if (!value->empty())
			state.kubectl.insert(state.kubectl.end(), {option, *value});
	}
	if (auto asked = ask_kubernetes(state); !asked)
		return asked;
	if (auto asked = ask_agent(wanted.socket, state); !asked)
		return asked;
	if (auto asked = ask_slurm(state); !asked)
		return asked;
	const auto commands =
		wanted.resumes ? resume_commands(state) : drain_commands(state, wanted.reason);
	if (!commands)
		return commands.error();
	for (const Words &command : *commands) {
		if (wanted.verbose)
			(void)printf("%s\n", command_line(command).c_str());
		(void)fflush(stdout);
		if (const auto done = output_of(command); !done)
			return Error{done.error().code,
				done.error().what + "; correct that, and run the command again"};
	}
	(void)printf("node %s %s\n", wanted.node.c_str(),
		wanted.resumes ? (commands->empty() ? "was not drained by skube" : "resumed")
			       : (commands->empty() ? "is drained already" : "drained"));
	return Ok{};
}

} // namespace slurmkube::skube
