/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of options. The manual page and doc/user.md are generated from its texts. */
#include "src/base/slurm_versions.h"
#include "src/core/model/amounts.h"
#include "src/core/model/quantity.h"
#include "src/core/options/bounds.h"
#include "src/core/options/options.h"
#include "src/core/options/timelimit.h"
#include "src/core/options/values.h"

#include <algorithm>
#include <iterator>

namespace slurmkube::core
{

namespace
{

using Context = OptionContext;
using Text = std::string;

template <Text JobOptions::*member, Status (*set)(const Text &, Text &)>
Status text(const Text &value, const Context &, JobSpec &spec)
{
	return set(value, spec.options.*member);
}

template <bool JobOptions::*member> Status flag(const Text &value, const Context &, JobSpec &spec)
{
	return set_flag(value, spec.options.*member);
}

template <auto member, std::int64_t least, std::int64_t most>
Status number(const Text &value, const Context &, JobSpec &spec)
{
	return set_number(value, least, spec.options.*member, most);
}

Status account(const Text &value, const Context &context, JobSpec &spec)
{
	return choose(value, context.rule.accounts, spec.account);
}

Status partition(const Text &value, const Context &context, JobSpec &spec)
{
	return choose(value, context.rule.partitions, spec.partition);
}

Status qos(const Text &value, const Context &context, JobSpec &spec)
{
	return choose(value, context.rule.qos, spec.qos);
}

Status reservation(const Text &value, const Context &context, JobSpec &spec)
{
	return choose_or_any(value, context.rule.reservations, spec.options.reservation);
}

Status wckey(const Text &value, const Context &context, JobSpec &spec)
{
	return choose_or_any(value, context.rule.wckeys, spec.options.wckey);
}

Status same_id(const Text &value, std::uint32_t id)
{
	if (value != std::to_string(id))
		return Error{Errc::denied,
			"not allowed: jobs of this namespace run as " + std::to_string(id) +
				"; leave it out"};
	return Ok{};
}

Status user_id(const Text &value, const Context &context, JobSpec &)
{
	return same_id(value, context.rule.user_id);
}

Status group_id(const Text &value, const Context &context, JobSpec &)
{
	return same_id(value, context.rule.group_id);
}

Status gang(const Text &value, const Context &, JobSpec &spec)
{
	bool is_wanted = false;
	const Status done = set_flag(value, is_wanted);
	spec.options.gang = is_wanted;
	return done;
}

Status native_job(const Text &value, const Context &context, JobSpec &spec)
{
	if (!context.policy.pods_in_native_jobs)
		return Error{Errc::denied,
			"pods in native jobs are off in this cluster; leave it out, and the pod "
			"gets a job of its own (administrators: nodes.pods_in_native_jobs in "
			"slurmkubed.yaml)"};
	std::optional<std::uint32_t> number;
	const Status done = set_number(value, 1, number, k_job_number_max);
	spec.options.native_job = number.value_or(0);
	return done;
}

Status end_together(const Text &value, const Context &, JobSpec &spec)
{
	bool is_wanted = false;
	const Status done = set_flag(value, is_wanted);
	spec.options.ends_together = is_wanted;
	return done;
}

Status job_name(const Text &value, const Context &, JobSpec &spec)
{
	return set_text(value, spec.name);
}

Status comment(const Text &value, const Context &, JobSpec &spec)
{
	return set_text(value, spec.comment);
}

Status extra(const Text &value, const Context &, JobSpec &spec)
{
	return set_text(value, spec.options.extra);
}

Result<std::uint32_t> minutes_of(const Text &value)
{
	const Status size = check_time_text(value);
	return size ? parse_time_limit(value) : Result<std::uint32_t>(size.error());
}

Status time_limit(const Text &value, const Context &, JobSpec &spec)
{
	const auto minutes = minutes_of(value);
	if (!minutes)
		return minutes.error();
	spec.time_limit_minutes = *minutes;
	return Ok{};
}

/* "0:N" is N seconds in Slurm's syntax. */
Status timeout(const Text &value, const Context &context, JobSpec &spec)
{
	if (!whole_number(value, 1, 1'000'000'000))
		return Error{Errc::invalid, "must be a whole number of seconds from 1"};
	const auto limited = time_limit("0:" + value, context, spec);
	return limited ? limited : Status(Error{Errc::invalid, "is longer than Slurm can count"});
}

Status time_min(const Text &value, const Context &, JobSpec &spec)
{
	const auto minutes = minutes_of(value);
	if (!minutes)
		return minutes.error();
	spec.options.time_min_minutes = *minutes;
	return Ok{};
}

Status delay_boot(const Text &value, const Context &, JobSpec &spec)
{
	const auto minutes = minutes_of(value);
	if (!minutes || *minutes == k_unlimited_minutes)
		return Error{Errc::invalid, "must be minutes or [D-]HH:MM:SS"};
	spec.options.delay_boot_seconds = *minutes * 60;
	return Ok{};
}

Status point_in_time(const Text &value, const Context &context, std::int64_t &target)
{
	if (const Status size = check_time_text(value); !size)
		return size;
	const auto when = parse_when(value, context.pod.created, context.policy.zone_offset);
	if (!when)
		return when.error();
	const std::int64_t most = context.pod.created + k_limit_minutes_max * std::int64_t{60};
	if (*when > (context.pod.created > 0 ? std::min(k_time_max, most) : k_time_max))
		return Error{Errc::invalid,
			"must be within " + std::to_string(k_limit_minutes_max) +
				" minutes (19 years) of the pod's creation"};
	target = *when;
	return Ok{};
}

Status begin(const Text &value, const Context &context, JobSpec &spec)
{
	return point_in_time(value, context, spec.options.begin);
}

Status deadline(const Text &value, const Context &context, JobSpec &spec)
{
	return point_in_time(value, context, spec.options.deadline);
}

/* Excludes 0, which would hold the job, and the two highest numbers, Slurm's INFINITE and
 * NO_VAL. */
Status priority(const Text &value, const Context &context, JobSpec &spec)
{
	if (!may(context.rule, "may_set_priority"))
		return Error{Errc::denied,
			"not allowed in this namespace: Slurm leaves it to operators. Use nice, or "
			"ask for the permission may_set_priority in slurmkubed.yaml"};
	return set_number(value, 1, spec.priority);
}

Status nice(const Text &value, const Context &context, JobSpec &spec)
{
	constexpr std::int64_t most = 2147483645; /* NICE_OFFSET less 3, as sbatch has it */
	const auto number = whole_number(value, -most, most);
	if (!number)
		return not_from_to(-most, most);
	if (*number < 0 && !may(context.rule, "may_set_priority"))
		return Error{Errc::denied,
			"a negative one is not allowed in this namespace: Slurm leaves it to "
			"operators. Give 0 or more"};
	spec.options.nice = static_cast<std::int32_t>(*number);
	return Ok{};
}

Status burst_buffer(const Text &value, const Context &context, JobSpec &spec)
{
	if (!may(context.rule, "may_use_burst_buffer"))
		return Error{Errc::denied,
			"not allowed in this namespace: ask for the permission "
			"may_use_burst_buffer in slurmkubed.yaml"};
	return set_text(value, spec.options.burst_buffer);
}

constexpr std::int64_t k_slurm_cpus_most = 65000; /* of a task, in 16 bits */

Status cpus_at_least(std::int64_t cpus, const Context &context, JobSpec &spec)
{
	const std::uint32_t needed = cpus_of(context.pod.requests, context.policy.cpu_unit);
	if (cpus > k_slurm_cpus_most)
		return Error{Errc::invalid,
			"must be at most " + cpus_text(k_slurm_cpus_most, context.policy.cpu_unit)};
	if (cpus < needed)
		return Error{Errc::invalid,
			"the pod requests more: give " +
				std::to_string(whole_cpus(needed, context.policy.cpu_unit)) +
				" or more, or lower resources.requests.cpu"};
	spec.cpus = static_cast<std::uint32_t>(cpus);
	return Ok{};
}

Status cpus(const Text &value, const Context &context, JobSpec &spec)
{
	const auto milli = parse_quantity(value, Scale::milli);
	if (!milli || *milli <= 0 || *milli > std::int64_t{65'000'000})
		return Error{Errc::invalid, "must be a number of CPUs from 1 to 65000"};
	return cpus_at_least(
		(*milli + context.policy.cpu_unit - 1) / context.policy.cpu_unit, context, spec);
}

Status cpus_per_gpu(const Text &value, const Context &context, JobSpec &spec)
{
	if (const Status read = number<&JobOptions::cpus_per_gpu, 1, k_slurm_cpus_most>(
		    value, context, spec);
		!read)
		return read;
	const std::uint32_t counted =
		*spec.options.cpus_per_gpu * (k_whole_cpu / context.policy.cpu_unit);
	if (counted > k_slurm_cpus_most)
		return Error{Errc::invalid,
			"must be at most " + cpus_text(k_slurm_cpus_most, context.policy.cpu_unit)};
	spec.options.cpus_per_gpu = static_cast<std::uint16_t>(counted);
	return Ok{};
}

Status memory_at_least(std::uint64_t mib, const Context &context, JobSpec &spec)
{
	const std::uint64_t needed = memory_mib_of(context.pod.requests, 1);
	if (mib < needed)
		return Error{Errc::invalid,
			"the pod requests more: give " + std::to_string(needed) +
				"Mi or more, or lower resources.requests.memory"};
	spec.memory_mib = mib;
	return Ok{};
}

Status memory(const Text &value, const Context &context, JobSpec &spec)
{
	const auto bytes = parse_quantity(value, Scale::whole);
	if (!bytes || *bytes <= 0 || *bytes > k_memory_bytes_max)
		return Error{Errc::invalid,
			"must be a quantity as in Kubernetes, such as 4Gi, of at most 1Ei"};
	constexpr std::int64_t mib = 1 << 20;
	return memory_at_least(
		static_cast<std::uint64_t>(*bytes / mib + (*bytes % mib > 0 ? 1 : 0)), context,
		spec);
}

Status slurm_memory(const Text &value, const Context &context, JobSpec &spec)
{
	const auto mib = parse_slurm_memory(value);
	return mib ? memory_at_least(*mib, context, spec) : Status(mib.error());
}

Status dependency(const Text &value, const Context &, JobSpec &spec)
{
	if (value.find("expand:") != Text::npos)
		return Error{Errc::invalid,
			"expand: would give the pod's nodes to another job; use after, afterany, "
			"afterok, afternotok or singleton"};
	return set_dependency(value, spec.options.dependency);
}

Status work_dir(const Text &value, const Context &, JobSpec &spec)
{
	if (!value.starts_with('/'))
		return Error{Errc::invalid, "must be an absolute path"};
	return set_text(value, spec.options.work_dir);
}

Status sharing(const Text &value, const Context &, JobSpec &spec)
{
	return set_sharing(value, spec.options.sharing);
}

Status mail_types(const Text &value, const Context &, JobSpec &spec)
{
	return set_mail_types(value, spec.options.mail_types);
}

Status switches(const Text &value, const Context &, JobSpec &spec)
{
	return set_switches(value, spec.options);
}

Status kill_on_invalid_dependency(const Text &value, const Context &, JobSpec &spec)
{
	bool kill = false;
	const Status read = set_flag(value, kill);
	if (read)
		spec.options.kill_on_invalid_dependency = kill;
	return read;
}

/* sbatch --nodes=MIN[-MAX] */
Status nodes(const Text &value, const Context &, JobSpec &spec)
{
	const std::size_t dash = value.find('-');
	const Text most = dash == Text::npos ? value : value.substr(dash + 1);
	const Status least =
		set_number(value.substr(0, dash), 1, spec.options.min_nodes, k_node_count_max);
	const Status done =
		least ? set_number(most, 1, spec.options.max_nodes, k_node_count_max) : least;
	return done ? done : Status(Error{Errc::invalid, "must be MIN or MIN-MAX"});
}

constexpr Option k_options[] = {
	{.name = "account",
		.takes = "NAME",
		.meaning = "Account to charge, from the list of the namespace's rule. Default: the "
			   "first in that list.",
		.apply = account,
		.sbatch = "account",
		.letter = 'A',
		.bridge = "account",
		.sunk = "account"},
	{.name = "begin",
		.takes = "TIME",
		.meaning = "Earliest start: YYYY-MM-DDTHH:MM, HH:MM, now+2hours and other forms. "
			   "\"now\" is the creation of the pod.",
		.apply = begin,
		.sbatch = "begin",
		.letter = 'b'},
	{.name = "burst-buffer",
		.takes = "TEXT",
		.meaning = "Burst buffer specification. Needs the permission may_use_burst_buffer "
			   "of the namespace's rule.",
		.apply = burst_buffer,
		.sbatch = "bb",
		.fixed = true},
	{.name = "comment",
		.takes = "TEXT",
		.meaning = "Comment of the job. Default: namespace/name.",
		.apply = comment,
		.sbatch = "comment",
		.sunk = "comment"},
	{.name = "constraints",
		.takes = "FEATURES",
		.meaning = "Required node features, for example gpu&(v100|a100).",
		.apply = text<&JobOptions::constraints, set_features>,
		.sbatch = "constraint",
		.letter = 'C',
		.bridge = "constraints",
		.sunk = "constraints"},
	{.name = "contiguous",
		.takes = "true|false",
		.meaning = "Allocate contiguous nodes only.",
		.apply = flag<&JobOptions::contiguous>,
		.sbatch = "contiguous",
		.argument = Argument::none,
		.implied = "true",
		.fixed = true},
	{.name = "core-spec",
		.takes = "COUNT",
		.meaning = "Cores per node reserved for the system. Needs AllowSpecResourcesUsage "
			   "in slurm.conf.",
		.apply = number<&JobOptions::core_spec, 0, k_spec_max>,
		.sbatch = "core-spec",
		.letter = 'S',
		.fixed = true},
	{.name = "cpu-per-task",
		.takes = "CPUS",
		.meaning = "CPUs to allocate to the pod, if more than its CPU requests. A smaller "
			   "value is refused. Rounded up to the unit of nodes.cpu_unit.",
		.apply = cpus,
		.sbatch = "cpus-per-task",
		.letter = 'c',
		.bridge = "cpu-per-task",
		.fixed = true},
	{.name = "cpus-per-gpu",
		.takes = "COUNT",
		.meaning = "CPUs per GPU of the option gres.",
		.apply = cpus_per_gpu,
		.sbatch = "cpus-per-gpu",
		.fixed = true},
	{.name = "current-working-dir",
		.takes = "PATH",
		.meaning = "Working directory that Slurm shows for the job. It does not affect "
			   "containers.",
		.apply = work_dir,
		.sbatch = "chdir",
		.letter = 'D',
		.sunk = "current-working-dir"},
	{.name = "deadline",
		.takes = "TIME",
		.meaning = "Time by which the job must end. Slurm removes a job that cannot end in "
			   "time. Same forms as begin.",
		.apply = deadline,
		.sbatch = "deadline"},
	{.name = "delay-boot",
		.takes = "MINUTES or [D-]HH:MM:SS",
		.meaning = "How long to wait for nodes that have the required features without a "
			   "reboot.",
		.apply = delay_boot,
		.sbatch = "delay-boot",
		.fixed = true},
	{.name = "dependency",
		.takes = "LIST",
		.meaning = "Jobs that must start or end first, including jobs of pods: "
			   "afterok:123, afterany:123:124, singleton and others.",
		.apply = dependency,
		.sbatch = "dependency",
		.letter = 'd'},
	{.name = "end-together",
		.takes = "true|false",
		.meaning =
			"Whether the jobs of all components of a workload end if Slurm ends the "
			"job of one component (scancel, time limit, option deadline, preemption, "
			"failed node). Default: true; false for a LeaderWorkerSet with "
			"restartPolicy None.",
		.apply = end_together,
		.fixed = true},
	{.name = "excluded-nodes",
		.takes = "HOSTLIST",
		.meaning = "Nodes that the job must not use. Names that Slurm does not have are "
			   "ignored.",
		.apply = text<&JobOptions::excluded_nodes, set_hosts>,
		.sbatch = "exclude",
		.letter = 'x',
		.sunk = "excluded-nodes"},
	{.name = "exclusive",
		.takes = "none|true|user|mcs|topo|ok|false",
		.meaning = "Which other jobs may use the nodes. none or true: no other job. user, "
			   "mcs or topo: only jobs of the same user, MCS label or topology "
			   "block. ok or false (the default): any job that the partition "
			   "allows.",
		.apply = sharing,
		.sbatch = "exclusive",
		.argument = Argument::optional,
		.implied = "true",
		.bridge = "exclusive",
		.sunk = "exclusive",
		.fixed = true},
	{.name = "extra",
		.takes = "TEXT",
		.meaning = "Arbitrary text for the site's own tools.",
		.apply = extra,
		.sbatch = "extra",
		.since = KUBE_SLURM_EXTRA_SINCE},
	{.name = "gang",
		.takes = "true|false",
		.meaning = "Whether the pods of the owner share one job and start together. "
			   "Default: depends on the kind of the owner.",
		.apply = gang,
		.fixed = true},
	{.name = "gres",
		.takes = "LIST",
		.meaning = "Generic resources per node, for example gpu:2 or gpu:a100:1,shard:4.",
		.apply = text<&JobOptions::gres, set_counts>,
		.sbatch = "gres",
		.bridge = "gres",
		.fixed = true},
	{.name = "group-id",
		.takes = "NUMBER",
		.meaning = "Must be the group of the namespace's rule.",
		.apply = group_id,
		.sbatch = "gid",
		.bridge = "group-id",
		.sunk = "group-id"},
	{.name = "hold",
		.takes = "true|false",
		.meaning = "Hold the job until this option is false or scontrol release is used.",
		.apply = flag<&JobOptions::hold>,
		.sbatch = "hold",
		.letter = 'H',
		.argument = Argument::none,
		.implied = "true"},
	{.name = "job",
		.takes = "NUMBER",
		.meaning = "A native job of the same user on a hybrid node, within which the pod "
			   "runs instead of in a job of its own. The pod ends with that job.",
		.apply = native_job,
		.fixed = true},
	{.name = "job-name",
		.takes = "TEXT",
		.meaning = "Name of the job. Default: the name of the pod or, in a workload of "
			   "several pods, the name of their owner.",
		.apply = job_name,
		.sbatch = "job-name",
		.letter = 'J',
		.bridge = "job-name",
		.sunk = "job-name"},
	{.name = "kill-on-invalid-dep",
		.takes = "true|false",
		.meaning = "Whether Slurm ends the job if its dependency can never be satisfied. "
			   "If false, the job stays in the queue.",
		.apply = kill_on_invalid_dependency,
		.sbatch = "kill-on-invalid-dep",
		.fixed = true},
	{.name = "licenses",
		.takes = "LIST",
		.meaning = "Required licenses, for example abaqus:2,matlab.",
		.apply = text<&JobOptions::licenses, set_counts>,
		.sbatch = "licenses",
		.letter = 'L',
		.bridge = "licenses"},
	{.name = "mail-type",
		.takes = "LIST",
		.meaning = "Events for which slurmctld sends mail: BEGIN, END, FAIL, ALL, "
			   "TIME_LIMIT_80 and others, as for sbatch.",
		.apply = mail_types,
		.sbatch = "mail-type"},
	{.name = "mail-user",
		.takes = "ADDRESS",
		.meaning = "Recipient of the mail. Default: the user of the job.",
		.apply = text<&JobOptions::mail_user, set_address>,
		.sbatch = "mail-user"},
	{.name = "max-nodes",
		.takes = "COUNT",
		.meaning = "Maximum number of nodes.",
		.apply = number<&JobOptions::max_nodes, 1, k_node_count_max>,
		.bridge = "max-nodes",
		.fixed = true},
	{.name = "mcs-label",
		.takes = "LABEL",
		.meaning = "Multi-Category Security label. Needs MCSPlugin in slurm.conf.",
		.apply = text<&JobOptions::mcs_label, set_names>,
		.sbatch = "mcs-label",
		.fixed = true},
	{.name = "mem-per-node",
		.takes = "QUANTITY",
		.meaning = "Memory to allocate to the pod, if more than its memory requests: a "
			   "quantity of Kubernetes, as in 4Gi, rounded up to MiB. A smaller "
			   "value is refused. In slurm-kube.io/sbatch, --mem has Slurm's units.",
		.apply = memory,
		.sbatch = "mem",
		.apply_sbatch = slurm_memory,
		.bridge = "mem-per-node",
		.fixed = true},
	{.name = "min-nodes",
		.takes = "COUNT",
		.meaning = "Minimum number of nodes of a gang. A single pod has one node.",
		.apply = number<&JobOptions::min_nodes, 1, k_node_count_max>,
		.sbatch = "nodes",
		.letter = 'N',
		.apply_sbatch = nodes,
		.bridge = "min-nodes",
		.fixed = true},
	{.name = "nice",
		.takes = "NUMBER",
		.meaning = "Amount by which to lower the priority. A negative value needs the "
			   "permission may_set_priority of the namespace's rule.",
		.apply = nice,
		.sbatch = "nice",
		.argument = Argument::optional,
		.implied = "100"},
	{.name = "partition",
		.takes = "NAME",
		.meaning = "Partition, from the list of the namespace's rule. Default: the first "
			   "in that list.",
		.apply = partition,
		.sbatch = "partition",
		.letter = 'p',
		.bridge = "partition",
		.sunk = "partition"},
	{.name = "pods-per-node",
		.takes = "COUNT",
		.meaning = "Maximum number of pods of a gang per node. Small pods of a gang can "
			   "otherwise share a task; with this option each pod is a task of its "
			   "own.",
		.apply = number<&JobOptions::pods_per_node, 1, k_tasks_per_node_max>,
		.sbatch = "ntasks-per-node",
		.fixed = true},
	{.name = "prefer",
		.takes = "FEATURES",
		.meaning = "Preferred node features.",
		.apply = text<&JobOptions::prefer, set_features>,
		.sbatch = "prefer",
		.sunk = "prefer"},
	{.name = "priority",
		.takes = "NUMBER",
		.meaning = "Priority in place of the computed one. Needs the permission "
			   "may_set_priority of the namespace's rule.",
		.apply = priority,
		.sbatch = "priority",
		.bridge = "priority",
		.sunk = "priority"},
	{.name = "qos",
		.takes = "NAME",
		.meaning = "QOS, from the list of the namespace's rule. Default: the first in that "
			   "list.",
		.apply = qos,
		.sbatch = "qos",
		.letter = 'q',
		.bridge = "qos",
		.sunk = "qos"},
	{.name = "required-nodes",
		.takes = "HOSTLIST",
		.meaning = "Nodes that must be used.",
		.apply = text<&JobOptions::required_nodes, set_hosts>,
		.sbatch = "nodelist",
		.letter = 'w',
		.sunk = "required-nodes"},
	{.name = "reservation",
		.takes = "NAME",
		.meaning = "Reservation, from the list of the namespace's rule.",
		.apply = reservation,
		.sbatch = "reservation",
		.bridge = "reservation",
		.sunk = "reservation"},
	{.name = "segment",
		.takes = "COUNT",
		.meaning = "Number of nodes per segment. Each segment lies in one block. Needs "
			   "topology/block.",
		.apply = number<&JobOptions::segment, 1, k_segment_max>,
		.sbatch = "segment",
		.since = KUBE_SLURM_SEGMENT_SINCE,
		.fixed = true},
	{.name = "spread-job",
		.takes = "true|false",
		.meaning = "Spread the job over as many nodes as possible.",
		.apply = flag<&JobOptions::spread>,
		.sbatch = "spread-job",
		.argument = Argument::none,
		.implied = "true",
		.fixed = true},
	{.name = "switches",
		.takes = "COUNT[@MINUTES]",
		.meaning = "Maximum number of leaf switches, and how long to wait for them.",
		.apply = switches,
		.sbatch = "switches"},
	{.name = "thread-spec",
		.takes = "COUNT",
		.meaning = "As core-spec, in threads.",
		.apply = number<&JobOptions::thread_spec, 0, k_spec_max>,
		.sbatch = "thread-spec",
		.fixed = true},
	{.name = "threads-per-core",
		.takes = "COUNT",
		.meaning = "Maximum number of threads per core that the job uses.",
		.apply = number<&JobOptions::threads_per_core, 1, k_threads_per_core_max>,
		.sbatch = "threads-per-core",
		.fixed = true},
	{.name = "time-min",
		.takes = "MINUTES or [D-]HH:MM:SS",
		.meaning = "Minimum time limit. Slurm may lower the time limit to this value if "
			   "the job then starts earlier.",
		.apply = time_min,
		.sbatch = "time-min"},
	{.name = "timelimit",
		.takes = "MINUTES, [D-]HH:MM:SS or UNLIMITED",
		.meaning = "Maximum run time of the job. Default: activeDeadlineSeconds, "
			   "otherwise default_time_limit_minutes, otherwise the default time "
			   "limit of the partition. The alias sunk.coreweave.com/timeout is in "
			   "seconds.",
		.apply = time_limit,
		.sbatch = "time",
		.letter = 't',
		.bridge = "timelimit",
		.sunk = "timeout",
		.apply_sunk = timeout},
	{.name = "use-min-nodes",
		.takes = "true|false",
		.meaning = "If both min-nodes and max-nodes are given, use min-nodes.",
		.apply = flag<&JobOptions::use_min_nodes>,
		.sbatch = "use-min-nodes",
		.argument = Argument::none,
		.implied = "true",
		.fixed = true},
	{.name = "user-id",
		.takes = "NUMBER",
		.meaning = "Must be the user of the namespace's rule.",
		.apply = user_id,
		.sbatch = "uid",
		.bridge = "user-id",
		.sunk = "user-id"},
	{.name = "wckey",
		.takes = "NAME",
		.meaning = "Workload characterization key, from the list of the namespace's rule.",
		.apply = wckey,
		.sbatch = "wckey",
		.bridge = "wckey"},
};

} // namespace

std::span<const Option> options()
{
	return k_options;
}

static_assert(std::size(k_options) <= 64, "JobOptions::given has a bit for each");

/* "hold: false" requests nothing. */
void note_given(const Option &option, JobSpec &spec)
{
	const std::uint64_t bit = std::uint64_t{1} << (&option - std::begin(k_options));
	const bool is_idle = option.name == "hold" && !spec.options.hold;
	spec.options.given = is_idle ? spec.options.given & ~bit : spec.options.given | bit;
}

bool is_given(std::string_view name, const JobSpec &spec)
{
	const Option *option = find_option(name);
	return option && (spec.options.given >> (option - std::begin(k_options)) & 1) != 0;
}

const Option *find_option(std::string_view name)
{
	const auto *found = std::find_if(std::begin(k_options), std::end(k_options),
		[name](const Option &o) { return o.name == name; });
	return found == std::end(k_options) ? nullptr : found;
}

} // namespace slurmkube::core
