/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/slurm/describe.h"

#include "src/agent/slurm/compat.h"
#include "src/codec/marker.h"
#include "src/core/model/host_list.h"

#include <algorithm>
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
		return "localhost"; /* Slurm refuses an empty name; the name is only shown */
	return name;
}

char *text_or_null(std::string &text)
{
	return text.empty() ? nullptr : text.data();
}

/* Puts the kind of resource before each item of "gpu:2,shard:1", as slurmctld requires
 * (gres_prepend_tres_type() in Slurm). */
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

/* Host list in the short form "n[1-3,7]", because slurmctld keeps the text with every job. */
std::string ranges_of(const std::vector<std::string> &hosts)
{
	if (hosts.empty())
		return {};
	auto list = slurm_hostlist_create(nullptr);
	for (const std::string &host : hosts)
		slurm_hostlist_push_host(list, host.c_str());
	std::string text;
	/* with a buffer of ours, because the functions that allocate one differ by version */
	for (std::size_t size = 64; text.empty() && size < k_hosts_max; size *= 2) {
		std::string buffer(size, '\0');
		/* negative: the text was cut off */
		const auto length = slurm_hostlist_ranged_string(list, size, buffer.data());
		if (length > 0)
			text = buffer.substr(0, static_cast<std::size_t>(length));
	}
	slurm_hostlist_destroy(list);
	return text;
}

/* The hosts of a user's expression as core has read them. Slurm never gets the expression itself.
 * A plain list may be longer than users may write, because it may have been translated. */
std::vector<std::string> names_in(const std::string &hosts)
{
	if (hosts.find('[') == std::string::npos)
		return core::split_hosts(hosts);
	auto names = core::expand_hosts(hosts);
	/* the table of options has refused an expression with errors */
	return names ? std::move(*names) : std::vector<std::string>{};
}

/* The nodes that Kubernetes rules out, and those that the user excludes. */
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
	/* the plugin's copy: a site's job_submit script that runs earlier may overwrite
	 * admin_comment */
	job.resp_host = texts.marker.data();
	job.alloc_node = texts.host.data();
	job.user_id = texts.spec.user_id;
	job.group_id = texts.spec.group_id;
	job.wckey = text_or_null(texts.spec.options.wckey);
	job.reservation = text_or_null(texts.spec.options.reservation);
}

/*
 * A single task gets one node. Several tasks run wherever there is room; their memory is given per
 * CPU, because the number of tasks per node is not known. `shared` stays unset here: placeholders
 * share nodes by CPU like all jobs, and a request to share would also share CPUs.
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

/* core::MailType uses Slurm's numbers. */
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
	texts.spank = {texts.spank_mark.data(), texts.spank_grace.data()};
	job.spank_job_env = texts.spank.data();
	job.spank_job_env_size = static_cast<std::uint32_t>(texts.spank.size());
	job.mail_user = text_or_null(o.mail_user);
	job.mail_type = o.mail_types;
	if (o.spread)
		job.bitflags |= SPREAD_JOB;
	if (o.use_min_nodes)
		job.bitflags |= USE_MIN_NODES;
	if (o.kill_on_invalid_dependency)
		job.bitflags |= *o.kill_on_invalid_dependency ? KILL_INV_DEP : NO_KILL_INV_DEP;
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
	texts.spank_grace = "SPANK_SLURM_KUBE_GRACE=" + std::to_string(spec.grace_seconds);
	if (spec.options.cpus_per_gpu)
		texts.cpus_per_tres = std::string(compat::k_gres_kind) +
			"gpu:" + std::to_string(*spec.options.cpus_per_gpu);
	return texts;
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

} // namespace slurmkube::slurm
