/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/skube/node_setup.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace slurmkube::skube
{

namespace
{

/* local.mk makes this file of those in etc: the epilog, the prolog, CRI-O's hook. */
constexpr std::string_view k_pieces[] = {
#include "src/skube/node_pieces.inc"
};

constexpr std::string_view k_node_conf = R"(# slurmkube-node(8)
SystemCpus=@CPUS@
# The NodeName of slurm.conf, if it is not the host's name:
#NodeName=
)";

/* A drop-in adds to the tables of other files. */
constexpr std::string_view k_containerd = R"(version = 3

# /etc/containerd/config.toml must have: imports = ['/etc/containerd/conf.d/*.toml']

# No container starts while slurmkube-node is not connected.
[plugins.'io.containerd.nri.v1.nri']
  disable = false
[plugins.'io.containerd.nri.v1.nri'.default_validator]
  enable = true
  required_plugins = ['slurm-kube']
  tolerate_missing_plugins_annotation = ''

# If it dies within a request, the container has the system's processors. The same for each other
# runtime of this node.
[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
  base_runtime_spec = '/etc/containerd/system-cpus.json'
)";

constexpr std::string_view k_base_spec = R"(#!/bin/sh
# Writes the file that base_runtime_spec of containerd's configuration names. Needs jq.
ctr oci spec | jq '.linux.resources.cpu.cpus = "@CPUS@"' > /etc/containerd/system-cpus.json
)";

constexpr std::string_view k_crio = R"(# No container starts while slurmkube-node is not connected.
[crio.nri]
enable_nri = true
nri_disable_connections = false
[crio.nri.default_validator]
nri_enable_default_validator = true
nri_validator_required_plugins = ["slurm-kube"]
nri_validator_tolerate_missing_plugins_annotation = ""

[crio.runtime]
infra_ctr_cpuset = "@CPUS@"
# The second is for the hook: podman reads the first, too.
hooks_dir = ["/usr/share/containers/oci/hooks.d", "/etc/crio/hooks.d"]
# A restored container would start without a look at its job.
enable_criu_support = false
)";

constexpr std::string_view k_slurm_conf =
	R"(# To the line of the node. CpuSpecList: processors @CPUS@ as Slurm numbers them; compare
# slurmd -C with lscpu -e.
#NodeName=NODE ... CpuSpecList=LIST MemSpecLimit=MIB Feature=kube-hybrid
PrologFlags=Contain
ProctrackType=proctrack/cgroup
TaskPlugin=task/cgroup,task/affinity
CompleteWait=0
# Directories that exist on every node, with at least one file.
Epilog=/etc/slurm/epilog.d/*
Prolog=/etc/slurm/prolog.d/*
# Leave PrologEpilogTimeout unset, or set it above the longest grace period of pods and 60 s, and
# with pods within native jobs to at least 110 s.
)";

constexpr std::string_view k_cgroup_conf = R"(ConstrainCores=yes
ConstrainRAMSpace=yes
ConstrainDevices=yes
# Slurm 26.05:
#CgroupJobIdPaths=yes
)";

struct Part {
	const char *name, *place;
	std::string_view text;
};

const Part k_parts[] = {
	{"node-conf", "/etc/slurm-kube/slurmkube-node.conf", k_node_conf},
	{"containerd", "/etc/containerd/conf.d/50-slurm-kube.toml", k_containerd},
	{"base-spec", "a script to run once", k_base_spec},
	{"crio", "/etc/crio/crio.conf.d/50-slurm-kube.conf, instead of the two before", k_crio},
	{"crio-hook", "/etc/crio/hooks.d/50-slurm-kube.json, for CRI-O", k_pieces[2]},
	{"epilog", "/etc/slurm/epilog.d/50-slurm-kube, executable", k_pieces[0]},
	{"prolog", "/etc/slurm/prolog.d/50-slurm-kube, executable", k_pieces[1]},
	{"slurm-conf", "lines of slurm.conf", k_slurm_conf},
	{"cgroup-conf", "lines of cgroup.conf", k_cgroup_conf},
};

bool is_processor_list(const std::string &list)
{
	const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
	return !list.empty() && is_digit(list.front()) && is_digit(list.back()) &&
		list.find_first_not_of("0123456789,-") == std::string::npos;
}

std::string with_cpus(std::string_view text, const std::string &cpus)
{
	constexpr std::string_view k_word = "@CPUS@";
	std::string out;
	for (std::size_t at; (at = text.find(k_word)) != std::string_view::npos;
		text.remove_prefix(at + k_word.size()))
		out.append(text.substr(0, at)).append(cpus);
	return out.append(text);
}

std::string part_names()
{
	std::string names;
	for (const Part &part : k_parts)
		names += (names.empty() ? "" : ", ") + std::string(part.name);
	return names;
}

} // namespace

Result<std::string> node_setup_text(const std::string &system_cpus, const std::string &only)
{
	if (!is_processor_list(system_cpus))
		return Error{Errc::invalid,
			"--system-cpus needs the processors that Slurm gives to no job, as lscpu "
			"-e numbers them, for example 0,32"};
	const auto named = std::ranges::find(k_parts, only, &Part::name);
	if (!only.empty() && named == std::end(k_parts))
		return Error{Errc::invalid, "--only " + only + ": the parts are " + part_names()};
	if (!only.empty())
		return with_cpus(named->text, system_cpus);
	std::string all;
	for (const Part &part : k_parts)
		all += (all.empty() ? "# ---- " : "\n# ---- ") + std::string(part.name) + ": " +
			part.place + "\n" + with_cpus(part.text, system_cpus);
	return all;
}

} // namespace slurmkube::skube
