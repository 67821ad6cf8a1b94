/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * link.h - the lines that the plugin and the agent exchange (doc/design/protocol.md, section 2).
 *
 * The plugin encodes and the agent decodes. Lines have no newline here, because the sockets do the
 * framing. A missing key keeps the default of its member, because the sender may be older. A key
 * with a wrong type or range makes the whole line invalid.
 */
#ifndef SLURMKUBE_CODEC_LINK_H
#define SLURMKUBE_CODEC_LINK_H

#include "src/base/result.h"
#include "src/core/model/job.h"
#include "src/core/model/node.h"
#include "src/core/model/plugin.h"

#include <string>
#include <string_view>
#include <variant>

namespace slurmkube::codec
{

/* A job of 20,000 nodes with fragmented cores has 10 MB. */
inline constexpr std::size_t k_link_line_max = 16 * 1024 * 1024;

struct SnapshotBegin {
	bool operator==(const SnapshotBegin &) const = default;
};

struct SnapshotEnd {
	bool operator==(const SnapshotEnd &) const = default;
};

/* slurmctld runs; sent several times a second. */
struct Alive {
	std::int64_t sent_us = 0; /* by CLOCK_MONOTONIC; 0: older plugin */
	bool operator==(const Alive &) const = default;
};

/* Slurm has removed the job from its memory. */
struct JobGone {
	core::JobId id;
	bool operator==(const JobGone &) const = default;
};

struct NodeGone {
	std::string name;
	bool operator==(const NodeGone &) const = default;
};

/* The plugin closes the link after this line, because the agent must not act on what it says. */
struct Refused {
	std::string why;
	bool operator==(const Refused &) const = default;
};

/* A type that only a newer plugin has: the agent counts its seq and ignores it. */
struct UnknownMessage {
	std::string type;
	bool operator==(const UnknownMessage &) const = default;
};

using LinkMessage = std::variant<core::PluginHello, SnapshotBegin, core::SlurmJob, JobGone,
	core::SlurmNode, NodeGone, SnapshotEnd, core::PluginStats, Alive, Refused, UnknownMessage>;

struct LinkLine {
	std::uint64_t seq = 0;
	LinkMessage message;
	bool operator==(const LinkLine &) const = default;
};

std::string encode_link(std::uint64_t seq, const LinkMessage &message);

/* invalid: the error names the key; too_large: longer than k_link_line_max. */
Result<LinkLine> decode_link(std::string_view line);

/* The only line that the agent sends. */
struct Welcome {
	int protocol = 0;
	std::string agent_version;
	/* uid of the namespace kube-system; empty: an older agent, which does not say it */
	std::string cluster_uid = {};
	/* the agent knows hybrid nodes; an older one would take them for external ones */
	bool knows_hybrids = false;
	bool operator==(const Welcome &) const = default;
};

std::string encode_welcome(const Welcome &welcome);
Result<Welcome> decode_welcome(std::string_view line);

/* "pending", "running", ...; "mixed", "idle", ...; "emulated", "native". Unknown names become
 * JobState::unknown and NodeBase::unknown. */
const char *to_name(core::JobState state);
const char *to_name(core::NodeBase base);
const char *to_name(core::Family family);
core::JobState job_state_from_name(std::string_view name);
core::NodeBase node_base_from_name(std::string_view name);

} // namespace slurmkube::codec

#endif
