/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * link.h - the lines that the plugin and the agent exchange (doc/design/protocol.md, section 2).
 *
 * The plugin encodes, the agent decodes. Lines have no newline here: framing belongs to the
 * sockets. A key that is absent keeps the default of the struct (the other side may be older); a
 * key of a wrong type or range fails the line.
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

inline constexpr std::size_t k_link_line_max = 1024 * 1024;

struct SnapshotBegin {
	bool operator==(const SnapshotBegin &) const = default;
};

struct SnapshotEnd {
	bool operator==(const SnapshotEnd &) const = default;
};

/* Slurm has forgotten the job. */
struct JobGone {
	core::JobId id;
	bool operator==(const JobGone &) const = default;
};

struct NodeGone {
	std::string name;
	bool operator==(const NodeGone &) const = default;
};

/* A type that only a newer plugin knows: count its seq and go on. */
struct UnknownMessage {
	std::string type;
	bool operator==(const UnknownMessage &) const = default;
};

using LinkMessage = std::variant<core::PluginHello, SnapshotBegin, core::SlurmJob, JobGone,
	core::SlurmNode, NodeGone, SnapshotEnd, core::PluginStats, UnknownMessage>;

struct LinkLine {
	std::uint64_t seq = 0;
	LinkMessage message;
	bool operator==(const LinkLine &) const = default;
};

std::string encode_link(std::uint64_t seq, const LinkMessage &message);

/* invalid: names the key; too_large: above k_link_line_max. */
Result<LinkLine> decode_link(std::string_view line);

/* What the agent answers once. */
struct Welcome {
	int protocol = 0;
	std::string agent_version;
	bool operator==(const Welcome &) const = default;
};

std::string encode_welcome(const Welcome &welcome);
Result<Welcome> decode_welcome(std::string_view line);

/* "pending", "running", ...; "mixed", "idle", ...; "emulated", "native". Unknown text gives unknown
 * (emulated for a family). */
const char *to_name(core::JobState state);
const char *to_name(core::NodeBase base);
const char *to_name(core::Family family);
core::JobState job_state_from_name(std::string_view name);
core::NodeBase node_base_from_name(std::string_view name);

} // namespace slurmkube::codec

#endif
