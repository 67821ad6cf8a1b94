/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Changes the options of a pending job: the members of job_desc_msg_t that belong to each
 * option. */
#include "src/agent/loop.h"
#include "src/agent/slurm/compat.h"
#include "src/agent/slurm/describe.h"

#include <algorithm>
#include <iterator>

namespace slurmkube::slurm
{

namespace
{

using Job = job_desc_msg_t;

char k_nothing[] = ""; /* slurmctld clears a value that is an empty text */

char *or_nothing(char *text)
{
	return text ? text : k_nothing;
}

/* How an option is set (from: a full description) and how it is reset; nullptr: it cannot be
 * reset. */
struct Row {
	std::string_view option;
	void (*give)(Job &to, const Job &from);
	void (*take_back)(Job &to, const Job &from);
};

template <auto member> void copy(Job &to, const Job &from)
{
	to.*member = from.*member;
}

template <char *Job::*member> void copy_or_clear(Job &to, const Job &from)
{
	to.*member = or_nothing(from.*member);
}

void hold(Job &to, const Job &)
{
	to.priority = 0;
	to.alloc_sid = ALLOC_SID_USER_HOLD; /* so that the user may release the job */
}

void let_go(Job &to, const Job &)
{
	to.priority = INFINITE; /* Slurm computes the priority again */
}

void begin_now(Job &to, const Job &)
{
	to.begin_time = agent::now().wall_s;
}

void not_nice(Job &to, const Job &)
{
	to.nice = NICE_OFFSET;
}

void copy_switches(Job &to, const Job &from)
{
	to.req_switch = from.req_switch;
	to.wait4switch = from.wait4switch;
}

void no_switches(Job &to, const Job &)
{
	to.req_switch = 0;
}

/* hold stands before priority: if hold is removed and a priority is given, the priority must be
 * written last. */
constexpr Row k_rows[] = {
	{"account", copy<&Job::account>, nullptr},
	{"begin", copy<&Job::begin_time>, begin_now},
	{"comment", copy<&Job::comment>, copy<&Job::comment>},
	{"constraints", copy<&Job::features>, copy_or_clear<&Job::features>},
	{"current-working-dir", copy<&Job::work_dir>, copy<&Job::work_dir>},
	{"deadline", copy<&Job::deadline>, nullptr},
	{"dependency", copy<&Job::dependency>, copy_or_clear<&Job::dependency>},
	{"excluded-nodes", copy_or_clear<&Job::exc_nodes>, copy_or_clear<&Job::exc_nodes>},
	{"extra", copy<&Job::extra>, copy_or_clear<&Job::extra>},
	{"hold", hold, let_go},
	{"job-name", copy<&Job::name>, copy<&Job::name>},
	{"licenses", copy<&Job::licenses>, copy_or_clear<&Job::licenses>},
	{"mail-type", copy<&Job::mail_type>, copy<&Job::mail_type>},
	{"mail-user", copy<&Job::mail_user>, nullptr},
	{"nice", copy<&Job::nice>, not_nice},
	{"partition", copy<&Job::partition>, copy<&Job::partition>},
	{"prefer", copy<&Job::prefer>, copy_or_clear<&Job::prefer>},
	{"priority", copy<&Job::priority>, let_go},
	{"qos", copy<&Job::qos>, nullptr},
	{"required-nodes", copy<&Job::req_nodes>, copy_or_clear<&Job::req_nodes>},
	{"reservation", copy<&Job::reservation>, copy_or_clear<&Job::reservation>},
	{"switches", copy_switches, no_switches},
	{"time-min", copy<&Job::time_min>, nullptr},
	{"timelimit", copy<&Job::time_limit>, nullptr},
	{"wckey", copy<&Job::wckey>, nullptr},
};

bool contains(const std::vector<std::string> &list, std::string_view name)
{
	return std::find(list.begin(), list.end(), name) != list.end();
}

} // namespace

Status describe_change(Job &job, Texts &texts, const std::vector<std::string> &given,
	const std::vector<std::string> &removed)
{
	Job wanted;
	slurm_init_job_desc_msg(&wanted);
	describe(wanted, texts);
	for (const Row &row : k_rows) {
		if (contains(removed, row.option) && !row.take_back)
			return Error{Errc::invalid,
				std::string(row.option) +
					" cannot be taken back while the job waits; give another "
					"value, or make a new pod"};
		if (contains(removed, row.option))
			row.take_back(job, wanted);
		if (contains(given, row.option))
			row.give(job, wanted);
	}
	job.admin_comment = texts.marker.data();
	return Ok{};
}

} // namespace slurmkube::slurm
