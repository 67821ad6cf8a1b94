/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The columns of the lists, by row of the reply. The last column has the free text. */
#include "src/base/text.h"
#include "src/codec/json.h"
#include "src/codec/link.h"
#include "src/skube/list.h"
#include "src/skube/printed.h"
#include "src/skube/views.h"

#include <map>
#include <pwd.h>
#include <vector>

namespace slurmkube::skube
{

namespace
{

using codec::get;
using codec::get_bool;
using codec::get_int;

/* Without control characters and line breaks. */
template <const char *key> std::string word(json_object *row, std::int64_t)
{
	return printed(row, key);
}

template <const char *key> std::string number(json_object *row, std::int64_t)
{
	return std::to_string(get_int(row, key));
}

template <const char *key> std::int64_t value(json_object *row, std::int64_t)
{
	return get_int(row, key);
}

/* Empty without a time; the clocks of two hosts may differ, so no age is below 0. */
template <const char *key> std::string age(json_object *row, std::int64_t now)
{
	const std::int64_t since = get_int(row, key);
	return since > 0 ? age_text(now > since ? now - since : 0) : "";
}

/* For the order of ages: the youngest has the lowest, and a row without one comes last. */
template <const char *key> std::int64_t minus(json_object *row, std::int64_t)
{
	const std::int64_t since = get_int(row, key);
	return since > 0 ? -since : 1;
}

#define KEY(name) constexpr char k_##name[] = #name
KEY(account);
KEY(address);
KEY(cpus);
KEY(created);
KEY(exit_status);
KEY(features);
KEY(gres);
KEY(id);
KEY(job);
KEY(kind);
KEY(memory_mib);
KEY(name);
KEY(node);
KEY(node_count);
KEY(partition);
KEY(phase);
KEY(pods);
KEY(priority);
KEY(slurm_reason);
KEY(submit_time);
KEY(uid);
KEY(waiting_for);
#undef KEY

/* A directory of users may be slow, so it is asked once for each user. */
std::string user_name(std::int64_t id)
{
	static std::map<std::int64_t, std::string> names;
	const auto [name, is_new] = names.try_emplace(id, std::to_string(id));
	std::vector<char> buffer(16384);
	passwd entry{}, *found = nullptr;
	if (is_new &&
		getpwuid_r(static_cast<uid_t>(id), &entry, buffer.data(), buffer.size(), &found) ==
			0 &&
		found)
		name->second = found->pw_name;
	return name->second;
}

std::string user(json_object *row, std::int64_t)
{
	return get(row, "user_id") ? user_name(get_int(row, "user_id")) : "";
}

/* How long the job has run so far, or ran. */
std::int64_t elapsed(json_object *job, std::int64_t now)
{
	const std::int64_t start = get_int(job, "start_time"), end = get_int(job, "end_time");
	const std::string state = printed(job, "state");
	if (state == "pending" || start <= 0)
		return 0;
	/* a live job's end_time is only expected */
	const bool lives = state == "running" || state == "suspended";
	const std::int64_t until = lives || end == 0 ? now : end;
	return until > start ? until - start : 0;
}

std::string job_exit(json_object *job, std::int64_t)
{
	const std::string state = printed(job, "state");
	const bool has_ended = state != "pending" && state != "running" && state != "suspended" &&
		state != "unknown";
	return has_ended ? exit_text(get_int(job, "exit_status")) : "";
}

std::string job_reason(json_object *job, std::int64_t)
{
	return printed(job, "state") == "pending" ? printed(job, "reason") : "";
}

/* What has ended comes last. */
bool is_over(json_object *pod)
{
	const std::string phase = printed(pod, "phase");
	return phase == "Succeeded" || phase == "Failed";
}

std::string pod_job(json_object *pod, std::int64_t)
{
	/* within which it runs, if it has none of its own */
	const char *const key = get_int(pod, "job") ? "job" : "native_job";
	return get_int(pod, key) ? std::to_string(get_int(pod, key)) : "";
}

std::string pod_job_state(json_object *pod, std::int64_t)
{
	if (get_int(pod, "native_job"))
		return "native";
	return get_int(pod, "job") ? job_state_text(printed(pod, "job_state")) : "";
}

std::string kube_state(json_object *node, std::int64_t)
{
	return printed(node, "kube_state", get_bool(node, "kube_ready") ? "Ready" : "NotReady") +
		(get_bool(node, "cordoned") ? ",cordoned" : "");
}

constexpr bool k_wide = true, k_clock = true;

std::vector<ListColumn> job_columns()
{
	return {
		{{"JOBID", true}, false, false, number<k_id>, value<k_id>},
		{{"POD"}, false, false,
			[](json_object *row, std::int64_t) { return full_name(row, "pod"); },
			nullptr},
		{{"STATE", false, true}, false, false,
			[](json_object *row, std::int64_t) {
				return job_state_text(printed(row, "state"));
			},
			nullptr},
		{{"USER"}, false, false, user, nullptr},
		{{"PARTITION"}, false, false, word<k_partition>, nullptr},
		{{"ACCOUNT"}, k_wide, false, word<k_account>, nullptr},
		{{"PRIORITY", true}, k_wide, false, number<k_priority>, value<k_priority>},
		{{"KIND"}, k_wide, false, word<k_kind>, nullptr},
		{{"AGE", true}, false, k_clock, age<k_submit_time>, minus<k_submit_time>},
		{{"TIME", true}, false, k_clock,
			[](json_object *row, std::int64_t now) {
				return duration_text(elapsed(row, now));
			},
			elapsed},
		{{"EXIT", true}, false, false, job_exit, value<k_exit_status>},
		{{"NODES", true}, k_wide, false, number<k_node_count>, value<k_node_count>},
		{{"NODE"}, false, false, word<k_node>, nullptr},
		{{"REASON"}, false, false, job_reason, nullptr},
	};
}

} // namespace

std::string job_state_text(const std::string &state)
{
	const core::JobState known = codec::job_state_from_name(state);
	return known == core::JobState::unknown ? core::upper(state)
						: core::slurm_state_name(known);
}

std::string exit_text(std::int64_t wait_status)
{
	return std::to_string((wait_status >> 8) & 0xff) + ":" + std::to_string(wait_status & 0x7f);
}

const List &jobs_list()
{
	static const List list = {core::ListKind::jobs, "jobs", job_columns(),
		[](json_object *row) { return std::to_string(get_int(row, "id")); },
		[](json_object *row) { return std::vector<SortValue>{{get_int(row, "id")}}; }};
	return list;
}

const List &pods_list()
{
	static const List list = {core::ListKind::pods, "pods",
		{
			{{"POD"}, false, false,
				[](json_object *row, std::int64_t) {
					return full_name(row, "name");
				},
				nullptr},
			{{"PHASE", false, true}, false, false, word<k_phase>, nullptr},
			{{"USER"}, false, false, user, nullptr},
			{{"AGE", true}, false, k_clock, age<k_created>, minus<k_created>},
			{{"NODE"}, false, false, word<k_node>, nullptr},
			{{"JOBID", true}, false, false, pod_job, value<k_job>},
			{{"JOB", false, true}, false, false, pod_job_state, nullptr},
			{{"PARTITION"}, k_wide, false, word<k_partition>, nullptr},
			{{"UID"}, k_wide, false, word<k_uid>, nullptr},
			{{"WAITING_FOR"}, false, false, word<k_waiting_for>, nullptr},
		},
		[](json_object *row) { return full_name(row, "name"); },
		[](json_object *row) {
			return std::vector<SortValue>{{is_over(row)},
				{0, printed(row, "namespace")}, {0, printed(row, "name")}};
		}};
	return list;
}

const List &nodes_list()
{
	static const List list = {core::ListKind::nodes, "nodes",
		{
			{{"NODE"}, false, false, word<k_name>, nullptr},
			{{"KUBERNETES", false, true}, false, false, kube_state, nullptr},
			{{"SLURM", false, true}, false, false,
				[](json_object *row, std::int64_t) {
					return core::upper(printed(row, "slurm_state"));
				},
				nullptr},
			{{"CPUS", true}, false, false, number<k_cpus>, value<k_cpus>},
			{{"MEMORY_MIB", true}, false, false, number<k_memory_mib>,
				value<k_memory_mib>},
			{{"PODS", true}, false, false, number<k_pods>, value<k_pods>},
			{{"ADDRESS"}, false, false, word<k_address>, nullptr},
			{{"KIND"}, k_wide, false, word<k_kind>, nullptr},
			{{"FEATURES"}, k_wide, false, word<k_features>, nullptr},
			{{"GRES"}, k_wide, false, word<k_gres>, nullptr},
			{{"REASON"}, false, false, word<k_slurm_reason>, nullptr},
		},
		[](json_object *row) { return printed(row, "name"); },
		[](json_object *row) {
			return std::vector<SortValue>{{0, printed(row, "name")}};
		}};
	return list;
}

} // namespace slurmkube::skube
