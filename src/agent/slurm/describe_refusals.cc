/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Errors for options that this version or configuration of Slurm does not support, and for options
 * that slurmctld has refused. */
#include "src/agent/slurm/compat.h"
#include "src/agent/slurm/describe.h"
#include "src/agent/slurm/errors.h"
#include "src/base/owned.h"
#include "src/core/reconcile/report.h"

#include <cerrno>
#include <optional>
#include <string_view>

namespace slurmkube::slurm
{

namespace
{

Error no_such_option(const char *name, const std::string &why)
{
	return Error{Errc::invalid, std::string("option ") + name + ": " + why + "; leave it out"};
}

std::string needs(const char *version)
{
	const std::string minor =
		std::to_string(100 + SLURM_VERSION_MINOR(SLURM_VERSION_NUMBER)).substr(1);
	return std::string("Slurm has it since ") + version + ", and this is " +
		std::to_string(SLURM_VERSION_MAJOR(SLURM_VERSION_NUMBER)) + "." + minor;
}

bool is_no_plugin(const char *name)
{
	return !name || !name[0] || std::string_view(name).ends_with("none");
}

Status check_version(const core::JobOptions &o)
{
	if (!o.extra.empty() && !compat::k_has_extra)
		return no_such_option("extra", needs(KUBE_SLURM_EXTRA_SINCE));
	if (o.segment && !compat::k_has_segment)
		return no_such_option("segment", needs(KUBE_SLURM_SEGMENT_SINCE));
	if (o.sharing == core::Sharing::same_topology && !compat::k_has_sharing_by_topology)
		return no_such_option("exclusive=topo", needs(KUBE_SLURM_SHARED_TOPO_SINCE));
	return Ok{};
}

Status check_configuration(const core::JobOptions &o, const slurm_conf_t &conf)
{
	if ((o.core_spec || o.thread_spec) &&
		(conf.conf_flags & compat::k_allow_spec_resources) == 0)
		return no_such_option(o.core_spec ? "core-spec" : "thread-spec",
			"slurm.conf does not say AllowSpecResourcesUsage");
	if ((!o.mcs_label.empty() || o.sharing == core::Sharing::same_mcs_label) &&
		is_no_plugin(conf.mcs_plugin))
		return no_such_option(o.mcs_label.empty() ? "exclusive=mcs" : "mcs-label",
			"slurm.conf has no MCSPlugin");
	if (!o.burst_buffer.empty() && is_no_plugin(conf.bb_type))
		return no_such_option("burst-buffer", "slurm.conf has no BurstBufferType");
	return Ok{};
}

bool depends_on_configuration(const core::JobOptions &o)
{
	return o.core_spec || o.thread_spec || !o.mcs_label.empty() ||
		o.sharing == core::Sharing::same_mcs_label || !o.burst_buffer.empty();
}

} // namespace

Status check_supported(const core::JobSpec &spec)
{
	const Status by_version = check_version(spec.options);
	if (!by_version || !depends_on_configuration(spec.options))
		return by_version;
	slurm_conf_t *raw = nullptr;
	if (slurm_load_ctl_conf(0, &raw) != SLURM_SUCCESS)
		return error_of(errno);
	const Owned<slurm_conf_t, compat::free_conf> conf(raw);
	return check_configuration(spec.options, *conf);
}

namespace
{

struct Blame {
	int slurm_errno;
	const char *option;
	std::string core::JobOptions::*value;
};

constexpr Blame k_blames[] = {
	{ESLURM_DEPENDENCY, "dependency", &core::JobOptions::dependency},
	{ESLURM_INVALID_LICENSES, "licenses", &core::JobOptions::licenses},
	{ESLURM_INVALID_GRES, "gres", &core::JobOptions::gres},
	{ESLURM_INVALID_FEATURE, "constraints", &core::JobOptions::constraints},
	{ESLURM_INVALID_PREFER, "prefer", &core::JobOptions::prefer},
	{ESLURM_INVALID_NODE_NAME, "required-nodes", &core::JobOptions::required_nodes},
	{ESLURM_INVALID_NODE_NAME, "excluded-nodes", &core::JobOptions::excluded_nodes},
	{ESLURM_RESERVATION_INVALID, "reservation", &core::JobOptions::reservation},
	{ESLURM_RESERVATION_ACCESS, "reservation", &core::JobOptions::reservation},
	{ESLURM_INVALID_WCKEY, "wckey", &core::JobOptions::wckey},
	{ESLURM_INVALID_MCS_LABEL, "mcs-label", &core::JobOptions::mcs_label},
	{ESLURM_INVALID_BURST_BUFFER_REQUEST, "burst-buffer", &core::JobOptions::burst_buffer},
	{ESLURM_REQUESTED_NODE_CONFIG_UNAVAILABLE, "constraints", &core::JobOptions::constraints},
	{ESLURM_REQUESTED_NODE_CONFIG_UNAVAILABLE, "gres", &core::JobOptions::gres},
	{ESLURM_REQUESTED_NODE_CONFIG_UNAVAILABLE, "required-nodes",
		&core::JobOptions::required_nodes},
	{ESLURM_REQUESTED_NODE_CONFIG_UNAVAILABLE, "excluded-nodes",
		&core::JobOptions::excluded_nodes},
};

std::optional<core::NotGranted> not_granted(int slurm_errno)
{
	switch (slurm_errno) {
	case ESLURM_INVALID_ACCOUNT:
		return core::NotGranted::account;
	case ESLURM_INVALID_QOS:
		return core::NotGranted::qos;
	case ESLURM_USER_ID_MISSING:
		return core::NotGranted::user;
	default:
		return std::nullopt;
	}
}

} // namespace

Error refusal_of(int slurm_errno, const core::JobSpec &spec)
{
	Error error = error_of(slurm_errno);
	if (const auto what = not_granted(slurm_errno))
		error.what += ": " + core::not_granted(*what, spec);
	std::string about;
	for (const Blame &blame : k_blames) {
		const std::string &value = spec.options.*blame.value;
		if (blame.slurm_errno == slurm_errno && !value.empty())
			about += (about.empty() ? "" : ", ") + std::string(blame.option) + "='" +
				value.substr(0, 64) + "'";
	}
	if (about.empty() && slurm_errno == ESLURM_INVALID_PARTITION_NAME)
		error.what += ": '" + spec.partition +
			"', which slurmkubed.yaml names; an administrator corrects that or adds "
			"the partition to slurm.conf";
	/* libslurm writes the plugin's text to our log, and does not return it */
	if (slurm_errno == ESLURM_ACCESS_DENIED)
		error.what += ": partition '" + spec.partition +
			"' may have nodes that are not of this Kubernetes cluster; the log of "
			"slurmkubed has the reason";
	if (about.empty())
		return error;
	/* not_found means that the option names a node that Slurm does not have: the user must
	 * correct it */
	return Error{error.code == Errc::not_found ? Errc::invalid : error.code,
		error.what + " (option " + about + "; change or remove it)"};
}

} // namespace slurmkube::slurm
