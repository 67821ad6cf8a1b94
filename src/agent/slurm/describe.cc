/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/slurm/describe.h"

#include "src/agent/slurm/compat.h"
#include "src/agent/slurm/errors.h"
#include "src/base/owned.h"
#include "src/codec/marker.h"
#include "src/core/model/host_list.h"
#include "src/core/reconcile/report.h"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string_view>
#include <unistd.h>

namespace slurmkube::slurm
{

namespace
{

constexpr std::size_t k_hosts_max = std::size_t{16} << 20; /* bytes */

std::string host_name()
{
	char name[256] = "";
	if (gethostname(name, sizeof(name) - 1) != 0 || !name[0])
		return "localhost"; /* Slurm refuses an empty one; it is only shown */
	return name;
}

char *text_or_null(std::string &text)
{
	return text.empty() ? nullptr : text.data();
}

/* "gpu:2,shard:1" as slurmctld wants it: with the kind of resource before each
 * (gres_prepend_tres_type() in Slurm) */
std::string with_kind(const std::string &gres)
{
	std::string out;
	for (std::size_t at = 0; at < gres.size();) {
		const std::size_t end = std::min(gres.find(',', at), gres.size());
		std::string item = gres.substr(at, end - at);
		if (item.starts_with("gres:") || item.starts_with("gres/"))
			item.erase(0, 5);
		if (!item.empty())
			out += (out.empty() ? "" : ",") +
				(item == "none" ? item : compat::k_gres_kind + item);
		at = end + 1;
	}
	return out;
}

/* "n[1-3,7]": slurmctld keeps this text with every job, so it is as short as can be. */
std::string ranges_of(const std::vector<std::string> &hosts)
{
	if (hosts.empty())
		return {};
	auto list = slurm_hostlist_create(nullptr);
	for (const std::string &host : hosts)
		slurm_hostlist_push_host(list, host.c_str());
	std::string text;
	/* the calls that allocate differ by version */
	for (std::size_t size = 64; text.empty() && size < k_hosts_max; size *= 2) {
		std::string buffer(size, '\0');
		/* negative: it was cut off */
		const auto length = slurm_hostlist_ranged_string(list, size, buffer.data());
		if (length > 0)
			text = buffer.substr(0, static_cast<std::size_t>(length));
	}
	slurm_hostlist_destroy(list);
	return text;
}

/* Slurm is never given a user's expression, but the names that core has read in it. */
std::vector<std::string> names_in(const std::string &hosts)
{
	auto names = hosts.empty() ? Result<std::vector<std::string>>(std::vector<std::string>{})
				   : core::expand_hosts(hosts);
	/* the option's table has refused it */
	return names ? std::move(*names) : std::vector<std::string>{};
}

/* What Kubernetes forbids, and what the user does not want */
std::string excluded_by(const core::JobSpec &spec)
{
	const std::string forbidden = ranges_of(spec.excluded_nodes),
			  unwanted = ranges_of(names_in(spec.options.excluded_nodes));
	return forbidden + (forbidden.empty() || unwanted.empty() ? "" : ",") + unwanted;
}

void describe_who(job_desc_msg_t &job, Texts &texts)
{
	job.name = text_or_null(texts.spec.name);
	job.partition = text_or_null(texts.spec.partition);
	job.account = text_or_null(texts.spec.account);
	job.qos = text_or_null(texts.spec.qos);
	job.comment = text_or_null(texts.spec.comment);
	job.admin_comment = texts.marker.data();
	/* the plugin's copy: a site's script that runs before it may write over the other */
	job.resp_host = texts.marker.data();
	job.alloc_node = texts.host.data();
	job.user_id = texts.spec.user_id;
	job.group_id = texts.spec.group_id;
	job.wckey = text_or_null(texts.spec.options.wckey);
	job.reservation = text_or_null(texts.spec.options.reservation);
}

/*
 * One task: on one node. More: wherever there is room; memory then goes by CPU, since nobody knows
 * how many tasks a node gets. `shared` stays unset: placeholders share nodes as all jobs do, by
 * CPU; asking for more would also share CPUs.
 */
void describe_tasks(job_desc_msg_t &job, const core::JobSpec &spec)
{
	job.min_nodes = spec.options.min_nodes.value_or(1);
	if (spec.tasks == 1)
		job.max_nodes = 1;
	else if (spec.options.max_nodes)
		job.max_nodes = *spec.options.max_nodes;
	job.num_tasks = spec.tasks;
	job.cpus_per_task = static_cast<std::uint16_t>(spec.cpus);
	job.min_cpus = spec.cpus * spec.tasks;
	if (spec.tasks_per_node)
		job.ntasks_per_node = static_cast<std::uint16_t>(spec.tasks_per_node);
	if (spec.memory_mib && spec.tasks == 1)
		job.pn_min_memory = spec.memory_mib;
	else if (spec.memory_mib)
		job.pn_min_memory = MEM_PER_CPU |
			(spec.memory_mib / spec.cpus + (spec.memory_mib % spec.cpus ? 1 : 0));
}

void describe_resources(job_desc_msg_t &job, Texts &texts)
{
	describe_tasks(job, texts.spec);
	job.tres_per_node = text_or_null(texts.gres);
	job.tres_per_task = text_or_null(texts.gres_of_task);
	job.cpus_per_tres = text_or_null(texts.cpus_per_tres);
	job.licenses = text_or_null(texts.spec.options.licenses);
	job.burst_buffer = text_or_null(texts.spec.options.burst_buffer);
	job.requeue = 0;
}

void describe_place(job_desc_msg_t &job, Texts &texts)
{
	core::JobOptions &o = texts.spec.options;
	job.features = text_or_null(o.constraints);
	job.prefer = text_or_null(o.prefer);
	job.req_nodes = text_or_null(
		texts.spec.required_node.empty() ? texts.required : texts.spec.required_node);
	job.exc_nodes = text_or_null(texts.excluded);
	job.mcs_label = text_or_null(o.mcs_label);
	if (o.contiguous)
		job.contiguous = 1;
	if (o.switches)
		job.req_switch = *o.switches;
	if (o.switches_wait_seconds)
		job.wait4switch = *o.switches_wait_seconds;
	if (o.threads_per_core)
		job.threads_per_core = *o.threads_per_core;
	if (o.core_spec)
		job.core_spec = *o.core_spec;
	if (o.thread_spec)
		job.core_spec = static_cast<std::uint16_t>(*o.thread_spec | CORE_SPEC_THREAD);
	if (o.segment)
		compat::set_segment(job, *o.segment);
	compat::set_sharing(job, o.sharing);
}

void describe_time(job_desc_msg_t &job, const core::JobSpec &spec)
{
	const core::JobOptions &o = spec.options;
	if (spec.time_limit_minutes)
		job.time_limit = spec.time_limit_minutes;
	if (o.time_min_minutes)
		job.time_min = *o.time_min_minutes;
	if (o.begin)
		job.begin_time = o.begin;
	if (o.deadline)
		job.deadline = o.deadline;
	if (o.delay_boot_seconds)
		job.delay_boot = *o.delay_boot_seconds;
}

void describe_rank(job_desc_msg_t &job, const core::JobSpec &spec)
{
	if (spec.priority)
		job.priority = *spec.priority;
	if (spec.options.hold)
		job.priority = 0;
	if (spec.options.nice)
		job.nice =
			static_cast<std::uint32_t>(std::int64_t{NICE_OFFSET} + *spec.options.nice);
}

/* core::MailType has Slurm's numbers. */
static_assert(core::k_mail_begin == MAIL_JOB_BEGIN && core::k_mail_time_100 == MAIL_JOB_TIME100 &&
	core::k_mail_time_50 == MAIL_JOB_TIME50);
static_assert(core::k_mail_end == MAIL_JOB_END && core::k_mail_fail == MAIL_JOB_FAIL &&
	core::k_mail_requeue == MAIL_JOB_REQUEUE);
static_assert(core::k_mail_time_90 == MAIL_JOB_TIME90 && core::k_mail_time_80 == MAIL_JOB_TIME80);
static_assert(core::k_mail_stage_out == MAIL_JOB_STAGE_OUT &&
	core::k_mail_invalid_depend == MAIL_INVALID_DEPEND);

void describe_rest(job_desc_msg_t &job, Texts &texts)
{
	static char work_dir[] = "/";
	core::JobOptions &o = texts.spec.options;
	job.work_dir = o.work_dir.empty() ? work_dir : o.work_dir.data();
	job.dependency = text_or_null(o.dependency);
	job.extra = text_or_null(o.extra);
	job.mail_user = text_or_null(o.mail_user);
	job.mail_type = o.mail_types;
	if (o.spread)
		job.bitflags |= SPREAD_JOB;
	if (o.use_min_nodes)
		job.bitflags |= USE_MIN_NODES;
	if (o.kill_on_invalid_dependency)
		job.bitflags |= *o.kill_on_invalid_dependency ? KILL_INV_DEP : NO_KILL_INV_DEP;
}

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

Texts texts_of(const core::JobSpec &spec)
{
	core::Marker marker = spec.marker;
	marker.user_id = spec.user_id;
	marker.group_id = spec.group_id;
	Texts texts{spec, codec::marker_to_text(marker), host_name(), with_kind(spec.options.gres),
		"", excluded_by(spec), with_kind(spec.gres_of_task),
		ranges_of(names_in(spec.options.required_nodes))};
	if (spec.options.cpus_per_gpu)
		texts.cpus_per_tres = std::string(compat::k_gres_kind) +
			"gpu:" + std::to_string(*spec.options.cpus_per_gpu);
	return texts;
}

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

void describe(job_desc_msg_t &job, Texts &texts)
{
	describe_who(job, texts);
	describe_resources(job, texts);
	describe_place(job, texts);
	describe_time(job, texts.spec);
	describe_rank(job, texts.spec);
	describe_rest(job, texts);
	compat::mark_external(job);
}

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
	if (about.empty())
		return error;
	/* a node that is not there may come; to a user it is a wrong name all the same */
	return Error{error.code == Errc::not_found ? Errc::invalid : error.code,
		error.what + " (option " + about + "; change or remove it)"};
}

} // namespace slurmkube::slurm
