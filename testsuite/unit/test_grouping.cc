/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which pods run alone and which run in a gang, by their labels and owners. */
#include "src/core/gang/grouping.h"
#include "testsuite/unit/builders.h"
#include "testsuite/unit/check.h"

using namespace slurmkube;
using namespace slurmkube::core;
using namespace slurmkube::check;

namespace
{

struct Cluster {
	std::map<OwnerId, std::optional<Owner>> owners;

	Owner &add(const char *api_version, const char *kind, const char *name,
		std::vector<Role> roles = {}, bool starts_together = false)
	{
		Owner owner;
		owner.id = {api_version, kind, "a", name};
		owner.uid = std::string(name) + "-uid";
		owner.roles = std::move(roles);
		owner.starts_together = starts_together;
		auto &slot = owners[owner.id];
		slot = std::move(owner);
		return *slot;
	}

	[[nodiscard]] Result<Grouping> place(const Pod &pod) const
	{
		return group_of(pod, {"slurm", "older"},
			[this](const OwnerId &id, const std::string &) -> OwnerAnswer {
				const auto found = owners.find(id);
				return found == owners.end() ? nullptr : &found->second;
			});
	}
};

OwnerRef ref_of(const Owner &owner)
{
	return {owner.id.api_version, owner.id.kind, owner.id.name, owner.uid};
}

Pod pod_of(std::optional<OwnerRef> controller, std::map<std::string, std::string> labels = {})
{
	Pod pod = make_pod("a", "p", "p");
	pod.controller = std::move(controller);
	pod.labels = std::move(labels);
	return pod;
}

Role role(const char *name, std::uint32_t pods, std::uint32_t per_job = 1, std::uint32_t stage = 0)
{
	return {.name = name, .pods = pods, .pods_per_job = per_job, .stage = stage, .each = {}};
}

template <class T> const T *as(const Result<Grouping> &grouping)
{
	return grouping ? std::get_if<T>(&*grouping) : nullptr;
}

void a_bare_pod_is_alone()
{
	const auto grouping = Cluster().place(pod_of(std::nullopt));
	CHECK(as<Alone>(grouping));
}

void an_unknown_owner_is_asked_for_and_one_of_a_strange_kind_is_not()
{
	Cluster cluster;
	const auto asked = cluster.place(pod_of(OwnerRef{"batch/v1", "Job", "j", "j-uid"}));
	REQUIRE(as<NeedsOwner>(asked));
	CHECK_EQUAL(as<NeedsOwner>(asked)->id.name, "j");
	CHECK(as<Alone>(cluster.place(pod_of(OwnerRef{"example.com/v1", "Thing", "t", "t"}))));
	CHECK(as<Alone>(cluster.place(pod_of(OwnerRef{"batch/v1", "Job", "../secrets/x", "j"}))));
}

void an_owner_with_another_uid_is_none()
{
	Cluster cluster;
	Owner &job = cluster.add("batch/v1", "Job", "j", {role("", 4)}, true);
	job.annotations = {{"slurm-kube.io/account", "theirs"}};
	OwnerRef made_up = ref_of(job);
	made_up.uid = "another";
	const auto grouping = cluster.place(pod_of(made_up));
	REQUIRE(as<Alone>(grouping));
	CHECK(as<Alone>(grouping)->inherited.empty());
}

void nearer_owners_win()
{
	Cluster cluster;
	Owner &deployment = cluster.add("apps/v1", "Deployment", "d");
	deployment.annotations = {{"slurm-kube.io/account", "far"}, {"slurm-kube.io/qos", "far"}};
	const OwnerRef above = ref_of(deployment);
	Owner &set = cluster.add("apps/v1", "ReplicaSet", "r");
	set.controller = above;
	set.annotations = {{"slurm-kube.io/account", "near"}};
	const auto grouping = cluster.place(pod_of(ref_of(set)));
	REQUIRE(as<Alone>(grouping));
	const std::map<std::string, std::string> wanted = {
		{"slurm-kube.io/account", "near"}, {"slurm-kube.io/qos", "far"}};
	CHECK(as<Alone>(grouping)->inherited == wanted);
}

void an_indexed_job_is_a_gang_unless_it_says_no()
{
	Cluster cluster;
	Owner &job = cluster.add("batch/v1", "Job", "j", {role("", 4)}, true);
	Pod pod = pod_of(ref_of(job), {{"batch.kubernetes.io/job-completion-index", "2"}});
	const auto grouping = cluster.place(pod);
	REQUIRE(as<InGang>(grouping));
	CHECK_EQUAL(as<InGang>(grouping)->gang.key, "j-uid");
	CHECK_EQUAL(ranks_of(as<InGang>(grouping)->components.at(0).roles).size(), 4U);
	CHECK(as<InGang>(grouping)->index == 2U);
	pod.annotations = {{"slurm-kube.io/gang", "false"}};
	CHECK(as<Alone>(cluster.place(pod)));
}

void a_plain_job_is_a_gang_only_when_it_says_so()
{
	Cluster cluster;
	Owner &job = cluster.add("batch/v1", "Job", "j", {role("", 4)}, false);
	CHECK(as<Alone>(cluster.place(pod_of(ref_of(job)))));
	job.annotations = {{"slurm-kube.io/gang", "true"}};
	CHECK(as<InGang>(cluster.place(pod_of(ref_of(job)))));
}

void a_job_set_stands_above_its_jobs()
{
	Cluster cluster;
	const OwnerRef above = ref_of(cluster.add("jobset.x-k8s.io/v1alpha2", "JobSet", "s",
		{role("driver", 1), role("worker", 6, 3), role("after", 2, 1, 1)}, true));
	Owner &job = cluster.add("batch/v1", "Job", "j", {role("", 3)}, true);
	job.controller = above;
	const auto worker = cluster.place(pod_of(ref_of(job),
		{{"jobset.sigs.k8s.io/replicatedjob-name", "worker"},
			{"jobset.sigs.k8s.io/job-index", "1"},
			{"batch.kubernetes.io/job-completion-index", "2"}}));
	REQUIRE(as<InGang>(worker));
	CHECK_EQUAL(as<InGang>(worker)->gang.key, "s-uid");
	/* the roles that start in the same stage */
	CHECK_EQUAL(ranks_of(as<InGang>(worker)->components.at(0).roles).size(), 7U);
	CHECK(as<InGang>(worker)->index == 5U);
	const auto after = cluster.place(
		pod_of(ref_of(job), {{"jobset.sigs.k8s.io/replicatedjob-name", "after"}}));
	REQUIRE(as<InGang>(after));
	CHECK_EQUAL(as<InGang>(after)->gang.key, "s-uid/1");
	CHECK_EQUAL(ranks_of(as<InGang>(after)->components.at(0).roles).size(), 2U);
}

void each_replica_of_a_leader_worker_set_is_a_gang()
{
	Cluster cluster;
	cluster.add("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "l",
		{role("leader", 1), role("worker", 3)}, true);
	const auto worker = cluster.place(pod_of(std::nullopt,
		{{"leaderworkerset.sigs.k8s.io/name", "l"},
			{"leaderworkerset.sigs.k8s.io/group-index", "2"},
			{"leaderworkerset.sigs.k8s.io/worker-index", "3"}}));
	REQUIRE(as<InGang>(worker));
	CHECK_EQUAL(as<InGang>(worker)->gang.key, "l-uid/2");
	CHECK_EQUAL(as<InGang>(worker)->role, "worker");
	CHECK(as<InGang>(worker)->index == 2U);
}

/* The pod's own option comes first, then its owner's, then whether the owner replaces pods. */
void who_says_that_components_end_together()
{
	using Options = std::map<std::string, std::string>;
	const auto together = [](bool is_replaced, const Options &of_owner, const Options &of_pod) {
		Cluster cluster;
		Owner &set = cluster.add("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "l",
			{role("leader", 1), role("worker", 3)}, true);
		set.replaces_single_pods = is_replaced;
		set.annotations = of_owner;
		Pod pod = pod_of(ref_of(set), {{"leaderworkerset.sigs.k8s.io/name", "l"}});
		pod.annotations = of_pod;
		const auto grouping = cluster.place(pod);
		return as<InGang>(grouping) && as<InGang>(grouping)->ends_together;
	};
	const Options yes = {{"slurm-kube.io/end-together", "true"}},
		      no = {{"slurm-kube.io/end-together", "false"}};
	CHECK(together(false, {}, {}));
	CHECK(!together(true, {}, {}));
	CHECK(!together(false, no, {}));
	CHECK(together(true, yes, {}));
	CHECK(!together(false, yes, no));
}

void pod_groups_of_both_kinds()
{
	Cluster cluster;
	Owner &older = cluster.add("scheduling.x-k8s.io/v1alpha1", "PodGroup", "g", {}, true);
	older.minimum = 3;
	const auto grouping =
		cluster.place(pod_of(std::nullopt, {{"scheduling.x-k8s.io/pod-group", "g"}}));
	REQUIRE(as<InGang>(grouping));
	CHECK_EQUAL(as<InGang>(grouping)->minimum, 3U);
	Pod pod = pod_of(std::nullopt);
	pod.scheduling_group = "later";
	const OwnerId id{"scheduling.k8s.io/v1beta1", "PodGroup", "a", "later"};
	CHECK(as<NeedsOwner>(cluster.place(pod)));
	cluster.owners[id] = std::nullopt; /* the PodGroup may be created after its pods */
	CHECK(as<NeedsOwner>(cluster.place(pod)));
	/* a PodGroup with the basic policy is no gang */
	cluster.add("scheduling.k8s.io/v1beta1", "PodGroup", "later", {}, false);
	CHECK(as<Alone>(cluster.place(pod)));
}

void kubeflow_roles_are_found_whatever_their_case()
{
	Cluster cluster;
	Owner &job = cluster.add("kubeflow.org/v2beta1", "MPIJob", "m",
		{role("Launcher", 1), role("Worker", 2)}, true);
	const auto worker = cluster.place(pod_of(ref_of(job),
		{{"training.kubeflow.org/job-role", "worker"},
			{"training.kubeflow.org/replica-index", "1"}}));
	REQUIRE(as<InGang>(worker));
	CHECK_EQUAL(as<InGang>(worker)->role, "Worker");
	CHECK(as<InGang>(worker)->index == 1U);
}

/* With runLauncherAsWorker the launcher is number 0, and the first worker's label is 1. */
void workers_may_be_numbered_from_one()
{
	Cluster cluster;
	Role workers = role("Worker", 2);
	workers.first_index = 1;
	Owner &job = cluster.add(
		"kubeflow.org/v2beta1", "MPIJob", "m", {role("Launcher", 1), workers}, true);
	for (const char *index : {"1", "2"}) {
		const auto worker = cluster.place(pod_of(ref_of(job),
			{{"training.kubeflow.org/job-role", "worker"},
				{"training.kubeflow.org/replica-index", index}}));
		REQUIRE(as<InGang>(worker));
		CHECK_EQUAL(as<InGang>(worker)->index.value_or(99),
			static_cast<std::uint32_t>(index[0] - '1'));
	}
}

void the_earliest_deadline_of_the_owners_counts()
{
	Cluster cluster;
	Owner &set =
		cluster.add("jobset.x-k8s.io/v1alpha2", "JobSet", "s", {role("driver", 1)}, true);
	set.deadline_seconds = 100;
	const OwnerRef above = ref_of(set);
	Owner &job = cluster.add("batch/v1", "Job", "j", {role("", 3)}, false);
	job.controller = above;
	job.deadline_seconds = 60;
	const auto member = cluster.place(pod_of(ref_of(job)));
	REQUIRE(as<InGang>(member));
	CHECK_EQUAL(as<InGang>(member)->deadline_seconds, 60);
	job.annotations = {{"slurm-kube.io/gang", "false"}};
	const auto single = cluster.place(pod_of(ref_of(job)));
	REQUIRE(as<Alone>(single));
	CHECK_EQUAL(as<Alone>(single)->deadline_seconds, 60);
	CHECK_EQUAL(earlier_deadline(0, 5) + earlier_deadline(5, 0) + earlier_deadline(-1, 0) +
			earlier_deadline(7, 3),
		13);
}

/* Pods of such roles never join the gang: a job for them would hold nodes in vain. */
void roles_that_opt_out_or_have_another_scheduler_are_left_out()
{
	Cluster cluster;
	const auto with = [](const char *name, const char *scheduler, const char *gang) {
		Role one = role(name, 1);
		Pod pod;
		pod.scheduler_name = scheduler;
		if (gang)
			pod.annotations = {{"slurm-kube.io/gang", gang}};
		one.pod_template = std::make_shared<const Pod>(pod);
		return one;
	};
	Owner &set = cluster.add("jobset.x-k8s.io/v1alpha2", "JobSet", "s",
		{with("ours", "slurm", nullptr), with("out", "slurm", "false"),
			with("theirs", "volcano", nullptr), with("alias", "older", nullptr),
			with("default", "default-scheduler", nullptr), with("none", "", "true")},
		true);
	Pod pod = pod_of(ref_of(set), {{"jobset.sigs.k8s.io/replicatedjob-name", "ours"}});
	const auto member = cluster.place(pod);
	REQUIRE(as<InGang>(member));
	std::string names;
	for (const ComponentRoles &component : as<InGang>(member)->components) {
		for (const Role &one : component.roles)
			names += one.name + " ";
	}
	CHECK_EQUAL(names, "ours alias default none ");
}

void a_gang_without_end_is_refused()
{
	Cluster cluster;
	Owner &job = cluster.add("batch/v1", "Job", "j", {role("", k_gang_pods_max + 1)}, true);
	CHECK(!cluster.place(pod_of(ref_of(job))).ok());
}

void ranks_are_found_by_role_and_index()
{
	const auto ranks = ranks_of({role("leader", 1), role("worker", 3), role("leader", 2)});
	CHECK_EQUAL(ranks.size(), 6U);
	CHECK(rank_at(ranks, "leader", 0) == 0U);
	CHECK(rank_at(ranks, "worker", 2) == 3U);
	CHECK(rank_at(ranks, "leader", 1) == 5U);
	CHECK(!rank_at(ranks, "worker", 3));
	CHECK(!rank_at(ranks, "worker", 4'000'000'000U));
	CHECK(!rank_at(ranks, "driver", 0));
	CHECK(!rank_at({}, "leader", 0));
}

void paths_are_made_of_plain_names_only()
{
	CHECK_EQUAL(path_of({"batch/v1", "Job", "a", "j"}), "/apis/batch/v1/namespaces/a/jobs/j");
	for (const char *name : {"", "a/b", "..", "A", "j?x", "a..b"})
		CHECK_EQUAL(path_of({"batch/v1", "Job", "a", name}), "");
	CHECK_EQUAL(path_of({"batch/../v1", "Job", "a", "j"}), "");
	CHECK_EQUAL(path_of({"v1", "Pod", "a", "j"}), "");
}

} // namespace

int main()
{
	return check::run_tests("grouping",
		{
			TEST(a_bare_pod_is_alone),
			TEST(an_unknown_owner_is_asked_for_and_one_of_a_strange_kind_is_not),
			TEST(an_owner_with_another_uid_is_none),
			TEST(nearer_owners_win),
			TEST(an_indexed_job_is_a_gang_unless_it_says_no),
			TEST(a_plain_job_is_a_gang_only_when_it_says_so),
			TEST(a_job_set_stands_above_its_jobs),
			TEST(each_replica_of_a_leader_worker_set_is_a_gang),
			TEST(who_says_that_components_end_together),
			TEST(pod_groups_of_both_kinds),
			TEST(kubeflow_roles_are_found_whatever_their_case),
			TEST(workers_may_be_numbered_from_one),
			TEST(the_earliest_deadline_of_the_owners_counts),
			TEST(roles_that_opt_out_or_have_another_scheduler_are_left_out),
			TEST(a_gang_without_end_is_refused),
			TEST(ranks_are_found_by_role_and_index),
			TEST(paths_are_made_of_plain_names_only),
		});
}
