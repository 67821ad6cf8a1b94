/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which native job may take a pod, and when a bound pod has to end. */
#include "src/core/reconcile/native_pods.h"
#include "src/core/translate/translate.h"
#include "testsuite/unit/world_facts.h"

using namespace slurmkube;
using namespace slurmkube::core;
using namespace slurmkube::check;

namespace
{

constexpr std::int64_t k_native_mib = std::int64_t{1} << 20;

NativeJob running_job()
{
	NativeJob job;
	job.mark = {{7}, 1, 0, 1'790'000'000, "main"};
	job.state = JobState::running;
	job.partition = "shared";
	job.nodes = {"n1"};
	job.cpus = 2;
	job.memory_mib = 200;
	return job;
}

JobSpec spec_for(std::uint32_t job)
{
	JobSpec spec;
	spec.user_id = 1;
	spec.as_whom = "user phys (uid 1)";
	spec.options.native_job = job;
	return spec;
}

Pod pod_of(std::int64_t milli_cpu, std::int64_t mib)
{
	Pod pod = make_pod("default", "a", "u");
	pod.requests = make_requests(milli_cpu, mib * k_native_mib);
	return pod;
}

struct Place {
	KubeNode kube = kube_node("n1", "uid-n1", 4000);
	SlurmNode record = slurm_node("n1", 4);
	PlaceFacts place;
	NativeUse others;
	NativeJob job = running_job();
	Pod pod = pod_of(1000, 64);
	Place()
	{
		record.is_hybrid = true;
		place.name = "n1";
		place.is_usable = place.has_room = true;
	}
};

/* "": it may run; "refused: TEXT" or "waits: TEXT" */
template <class T> std::string verdict(const Result<T> &result)
{
	if (result)
		return "";
	return (result.error().code == Errc::again ? "waits: " : "refused: ") + result.error().what;
}

void a_mark_is_read_as_it_is_written()
{
	const NativeMark mark{{7}, 1000, 2, 1'790'000'000, "main"};
	CHECK_EQUAL(text_of(mark), "7:1000:2:1790000000:main");
	CHECK(mark_from_text(text_of(mark)) == mark);
	for (const char *wrong : {"", "7", "7:1000:2", "7:1000:2:", "7:1000:2:3", ":1:2:3:c",
		     "0:1:2:3:c", "7:1:2:0:c", "7:1:2:3:4:5", "-7:1:2:3:c", "7:-1:2:3:c",
		     " 7:1:2:3:c", "7:1:2:3:c ", "4294967296:1:2:3:c", "7:4294967296:2:3:c",
		     "7:1:2:99999999999999999999:c", "a:b:c:d:e"})
		CHECK(!mark_from_text(wrong));
}

void a_pod_asks_for_nothing_that_the_job_cannot_give()
{
	const struct {
		void (*spoil)(Pod &pod);
		const char *text;
	} rows[] = {
		{[](Pod &p) { p.requests.memory_bytes = 0; }, "must request memory"},
		{[](Pod &p) { p.requests.extended["nvidia.com/gpu"] = 1; }, "cannot have devices"},
		{[](Pod &p) { p.requests.extended["hugepages-2Mi"] = 1; }, "cannot have devices"},
		{[](Pod &p) { p.resource_claims.push_back({}); }, "cannot have devices"},
		{[](Pod &p) { p.has_memory_volume = true; }, "cannot have volumes in memory"},
		{[](Pod &p) { p.termination_grace_seconds = 31; }, "can be at most 30"},
		{[](Pod &p) { p.annotations["slurm-kube.io/nice"] = "1"; },
			"option nice cannot be given beside option job"},
	};
	Settings settings = plain_settings();
	settings.policy.pods_in_native_jobs = true;
	settings.policy.has_device_rules = true;
	for (const auto &row : rows) {
		Pod pod = pod_of(1000, 64);
		pod.annotations = {{"slurm-kube.io/job", "7"}, {"slurm-kube.io/gang", "false"}};
		pod.requests.extended["ephemeral-storage"] = 1;
		auto spec = translate(pod, settings.policy, 1);
		REQUIRE(spec.ok());
		CHECK(check_native_pod(pod, *spec).ok());
		row.spoil(pod);
		if (const auto again = translate(pod, settings.policy, 1); again.ok())
			spec = again;
		const Status checked = check_native_pod(pod, *spec);
		CHECK(!checked.ok() && checked.error().code == Errc::invalid &&
			checked.error().what.find(row.text) != std::string::npos);
	}
	Pod pod = pod_of(1000, 64);
	pod.annotations = {{"slurm-kube.io/job", "7"}};
	settings.policy.pods_in_native_jobs = false;
	CHECK(verdict(translate(pod, settings.policy, 1)).find("are off in this cluster") !=
		std::string::npos);
	settings.policy.pods_in_native_jobs = true;
	CHECK(verdict(translate(pod, settings.policy, 1, Pods::gang))
			.find("pods that start alone") != std::string::npos);
}

/* ---- the job ---- */

void only_a_running_job_of_the_same_user_takes_pods()
{
	const struct {
		void (*spoil)(NativeJob &job);
		const char *verdict;
	} rows[] = {
		{[](NativeJob &) {}, ""},
		{[](NativeJob &j) { j.state = JobState::pending; }, "waits: "},
		{[](NativeJob &j) { j.state = JobState::suspended; }, "waits: "},
		{[](NativeJob &j) { j.state = JobState::unknown; }, "waits: "},
		{[](NativeJob &j) { j.configuring = true; }, "waits: "},
		{[](NativeJob &j) { j.completing = true; }, "refused: "},
		{[](NativeJob &j) { j.state = JobState::complete; }, "refused: "},
		{[](NativeJob &j) { j.state = JobState::cancelled; }, "refused: "},
		{[](NativeJob &j) { j.state = JobState::timeout; }, "refused: "},
		{[](NativeJob &j) { j.is_of_pod = true; }, "refused: "},
		{[](NativeJob &j) { j.is_het = true; }, "refused: "},
		{[](NativeJob &j) { j.is_shared = true; }, "refused: "},
		{[](NativeJob &j) { j.described = 101; }, "refused: "},
		{[](NativeJob &j) { j.unsuitable = "because"; }, "refused: "},
		{[](NativeJob &j) {
			 j.nodes = {"n1", "n2"};
		 },
			"refused: "},
		{[](NativeJob &j) { j.nodes.clear(); }, "refused: "},
		{[](NativeJob &j) { j.mark.user_id = 2; }, "refused: there is no Slurm job 7 of"},
	};
	for (const auto &row : rows) {
		NativeJob job = running_job();
		row.spoil(job);
		const NativeAnswer answer(job);
		const std::string said = verdict(native_job_for(spec_for(7), &answer));
		CHECK(*row.verdict ? said.starts_with(row.verdict) : said.empty());
	}
	CHECK(verdict(native_job_for(spec_for(7), nullptr)).starts_with("waits: "));
}

/* Otherwise a user could find out which numbers other users have, and in which state. */
void of_another_users_job_nothing_is_told()
{
	const NativeAnswer none = Error{Errc::not_found, "Invalid job id specified"};
	const std::string said = verdict(native_job_for(spec_for(7), &none));
	CHECK(said.starts_with("refused: there is no Slurm job 7 of user phys (uid 1)"));
	for (const JobState state :
		{JobState::pending, JobState::running, JobState::suspended, JobState::failed}) {
		NativeJob job = running_job();
		job.state = state;
		job.mark.user_id = 2;
		job.is_of_pod = job.is_het = state == JobState::failed;
		const NativeAnswer answer(job);
		CHECK_EQUAL(verdict(native_job_for(spec_for(7), &answer)), said);
	}
}

void a_job_takes_as_many_pods_as_it_has_room_for()
{
	const struct {
		void (*spoil)(Place &p);
		const char *verdict;
	} rows[] = {
		{[](Place &) {}, ""},
		{[](Place &p) {
			 p.others = {1, 1000, 136};
		 },
			""},
		{[](Place &p) {
			 p.others = {1, 1001, 0};
		 },
			"waits: "},
		{[](Place &p) {
			 p.others = {1, 0, 137};
		 },
			"waits: "},
		{[](Place &p) { p.pod = pod_of(2001, 64); }, "refused: "},
		{[](Place &p) { p.pod = pod_of(1000, 201); }, "refused: "},
		{[](Place &p) { p.job.memory_mib = 0; }, "refused: "},
		{[](Place &p) { p.record.is_hybrid = false; }, "refused: "},
		{[](Place &p) { p.kube.ready = false; }, "waits: "},
		{[](Place &p) { p.kube.unschedulable = true; }, "waits: "},
		{[](Place &p) { p.place.is_usable = false; }, "waits: "},
		{[](Place &p) { p.place.forbidden = "has a taint"; }, "waits: "},
		{[](Place &p) { p.place.has_room = false; }, "waits: "},
		{[](Place &p) { p.place.claim_step = SelectNode{}; }, "refused: "},
		{[](Place &p) { p.place.claim_wait = "a claim"; }, "waits: a claim"},
		/* 2 of 4 CPUs, and the kubelet admits 4 pods */
		{[](Place &p) { p.kube.allocatable.pods = 4, p.others.pods = 1; }, ""},
		{[](Place &p) { p.kube.allocatable.pods = 4, p.others.pods = 2; }, "waits: "},
		{[](Place &p) { p.kube.allocatable.pods = 1; }, ""},
		{[](Place &p) { p.kube.allocatable.pods = 1000, p.others.pods = 63; }, ""},
		{[](Place &p) { p.kube.allocatable.pods = 1000, p.others.pods = 64; }, "waits: "},
	};
	for (const auto &row : rows) {
		Place p;
		row.spoil(p);
		const auto place = place_in(p.job, p.pod, p.others, {&p.kube, &p.record, p.place});
		const std::string said = verdict(place);
		CHECK(*row.verdict ? said.starts_with(row.verdict) : said.empty());
		if (place.ok())
			CHECK(place->mark == p.job.mark && place->node == "n1" &&
				place->memory_mib == 64);
	}
	Place p;
	CHECK(verdict(place_in(p.job, p.pod, p.others, {nullptr, &p.record, p.place}))
			.starts_with("waits: "));
	CHECK(verdict(place_in(p.job, p.pod, p.others, {&p.kube, nullptr, p.place}))
			.starts_with("refused: "));
}

/* ---- bound pods ---- */

void only_slurmctlds_word_ends_a_bound_pod()
{
	const struct {
		void (*change)(NativeJob &job);
		NativeEnd end;
	} rows[] = {
		{[](NativeJob &) {}, NativeEnd::none},
		{[](NativeJob &j) {
			 j.nodes = {"n1", "n2"};
		 },
			NativeEnd::none},
		{[](NativeJob &j) { j.is_shared = true, j.unsuitable = "x"; }, NativeEnd::none},
		{[](NativeJob &j) { j.state = JobState::unknown; }, NativeEnd::none},
		{[](NativeJob &j) { j.state = JobState::complete; }, NativeEnd::certain},
		{[](NativeJob &j) { j.state = JobState::cancelled; }, NativeEnd::certain},
		{[](NativeJob &j) { j.state = JobState::suspended; }, NativeEnd::certain},
		{[](NativeJob &j) { j.completing = true; }, NativeEnd::certain},
		{[](NativeJob &j) { j.state = JobState::pending; }, NativeEnd::doubted},
		{[](NativeJob &j) { j.nodes = {"n2"}; }, NativeEnd::left_node},
		{[](NativeJob &j) { j.mark.restarts++; }, NativeEnd::doubted},
		{[](NativeJob &j) { j.mark.start++; }, NativeEnd::doubted},
		{[](NativeJob &j) { j.mark.user_id = 2; }, NativeEnd::doubted},
		/* another life of the number has ended, not this one */
		{[](NativeJob &j) { j.mark.start++, j.state = JobState::failed; },
			NativeEnd::doubted},
	};
	const NativeMark mark = running_job().mark;
	for (const auto &row : rows) {
		NativeJob job = running_job();
		row.change(job);
		const NativeAnswer answer(job);
		const NativeVerdict said = judge_bound(mark, "n1", &answer, "main");
		CHECK(said.end == row.end);
		CHECK(said.why.empty() == (row.end == NativeEnd::none));
	}
	const NativeAnswer none = Error{Errc::not_found, "no such job"},
			   silence = Error{Errc::again, "no answer"};
	CHECK(judge_bound(mark, "n1", nullptr, "main").end == NativeEnd::none);
	CHECK(judge_bound(mark, "n1", &silence, "main").end == NativeEnd::none);
	CHECK(judge_bound(mark, "n1", &none, "main").end == NativeEnd::doubted);
	/* of another Slurm cluster, whose agent has led before */
	CHECK(judge_bound(mark, "n1", &none, "other").end == NativeEnd::none);
}

} // namespace

int main()
{
	return check::run_tests("native_pods",
		{
			TEST(a_mark_is_read_as_it_is_written),
			TEST(a_pod_asks_for_nothing_that_the_job_cannot_give),
			TEST(only_a_running_job_of_the_same_user_takes_pods),
			TEST(of_another_users_job_nothing_is_told),
			TEST(a_job_takes_as_many_pods_as_it_has_room_for),
			TEST(only_slurmctlds_word_ends_a_bound_pod),
		});
}
