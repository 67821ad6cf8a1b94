/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the steps of skube selftest conclude from what the agent, the API server and slurmctld say,
 * and the pod that it creates. */
#include "src/skube/selftest_steps.h"
#include "testsuite/unit/check.h"

using namespace slurmkube;
using namespace slurmkube::skube;
using Is = Finding::Is;

namespace
{

codec::Json json(const std::string &text)
{
	auto value = codec::parse_json(text, 65536);
	CHECK(value.ok());
	return std::move(value).value();
}

const char k_rest[] = ",\"reason\":\"Resources\",\"partition\":\"kube\"}}}";

codec::Json why(const std::string &state, const std::string &node)
{
	return json(R"({"data":{"job":{"id":7,"state":")" + state + R"(","node":")" + node + "\"" +
		k_rest);
}

/* status: members of the pod's status. */
codec::Json pod(const std::string &node, const std::string &status, const std::string &job = "7")
{
	return json(R"({"metadata":{"annotations":{"allocation.slurm-kube.io/job-id":")" + job +
		R"("}},"spec":{"nodeName":")" + node + R"("},"status":{)" + status + "}}");
}

std::string row(const std::string &state, const std::string &code, const std::string &node = "n1")
{
	return "JobId=7 JobName=p UserId=alice(1001) JobState=" + state +
		" Reason=None ExitCode=" + code + " NodeList=" + node + " NumCPUs=1\n";
}

void expect(const Finding &found, Is is, const std::string &part)
{
	CHECK(found.is == is);
	CHECK(found.text.find(part) != std::string::npos);
}

void a_pod_that_is_gone_fails_each_step()
{
	const codec::Json reply = why("running", "n1");
	for (const TestStep step :
		{TestStep::job, TestStep::start, TestStep::bind, TestStep::run, TestStep::agree})
		expect(look_at(step, {.why = reply.get()}), Is::failed, "the pod is gone");
}

void a_refused_pod_does_not_wait_for_a_job()
{
	const codec::Json fresh = pod("", R"("phase":"Pending")"), reply = why("pending", "");
	expect(look_at(TestStep::job, {.pod = fresh.get()}), Is::open, "has no job");
	expect(look_at(TestStep::job, {.why = reply.get(), .pod = fresh.get()}), Is::done,
		"job 7 submitted in partition kube");
	for (const auto &[reason, is] : {std::pair("SlurmRefused", Is::failed),
		     std::pair("SlurmRetrying", Is::open), std::pair("SlurmNoNode", Is::open)}) {
		const codec::Json said = pod("",
			R"("conditions":[{"type":"PodScheduled","reason":")" + std::string(reason) +
				R"(","message":"no such user"}])");
		expect(look_at(TestStep::job, {.pod = said.get()}), is,
			is == Is::failed ? "refuses the pod: no such user" : "");
	}
}

void a_job_starts_on_a_node()
{
	const codec::Json loose = pod("", ""), bound = pod("n1", "");
	for (const auto &[state, node, object, is, part] :
		{std::tuple("pending", "", &loose, Is::open, "job 7 is pending, reason Resources"),
			std::tuple("running", "n1", &loose, Is::done, "started on node n1"),
			std::tuple("running", "", &loose, Is::open, "job 7 is running"),
			/* the pod has ended before skube looked */
			std::tuple("complete", "", &bound, Is::done, "started on node n1"),
			std::tuple("failed", "", &bound, Is::done, "started on node n1"),
			std::tuple("cancelled", "", &loose, Is::failed,
				"ended before it started: cancelled")}) {
		const codec::Json reply = why(state, node);
		expect(look_at(TestStep::start, {.why = reply.get(), .pod = object->get()}), is,
			part);
	}
}

void a_pod_is_bound()
{
	const codec::Json loose = pod("", ""), bound = pod("n1", "");
	expect(look_at(TestStep::bind, {.pod = loose.get()}), Is::open, "not bound");
	expect(look_at(TestStep::bind, {.pod = bound.get()}), Is::done, "bound to node n1");
}

std::string state_of(const std::string &phase, const std::string &state)
{
	return R"("phase":")" + phase + R"(","containerStatuses":[{"state":{)" + state + "}}]";
}

void a_container_runs_to_its_end()
{
	for (const auto &[phase, state, is, part] : {
		     std::tuple("Pending", R"("waiting":{"reason":"ContainerCreating"})", Is::open,
			     "waits: ContainerCreating"),
		     std::tuple("Pending",
			     R"("waiting":{"reason":"ErrImagePull","message":"no route"})",
			     Is::open, "waits: ErrImagePull: no route"),
		     std::tuple("Pending",
			     R"("waiting":{"reason":"ImagePullBackOff","message":"no\u001b[2J"})",
			     Is::failed, "waits: ImagePullBackOff: no?[2J"),
		     std::tuple("Running", R"("running":{})", Is::open, "is Running"),
		     std::tuple("Succeeded", R"("terminated":{"exitCode":0})", Is::done,
			     "exit code 0"),
		     std::tuple("Failed", R"("terminated":{"exitCode":127,"reason":"StartError"})",
			     Is::failed, "exit code 127, StartError"),
	     }) {
		const codec::Json object = pod("n1", state_of(phase, state));
		expect(look_at(TestStep::run, {.pod = object.get()}), is, part);
	}
	const codec::Json evicted = pod("n1",
		R"("phase":"Failed","reason":"Evicted","message":"disk","containerStatuses":[])");
	expect(look_at(TestStep::run, {.pod = evicted.get()}), Is::failed,
		"the pod failed: Evicted: disk");
}

void a_job_ends_completed()
{
	const codec::Json reply = why("running", "n1");
	for (const auto &[state, code, is] :
		{std::tuple("RUNNING", "0:0", Is::open), std::tuple("COMPLETING", "0:0", Is::open),
			std::tuple("COMPLETED", "0:0", Is::done),
			std::tuple("COMPLETED", "1:0", Is::failed),
			std::tuple("CANCELLED", "0:0", Is::failed),
			std::tuple("TIMEOUT", "0:0", Is::failed)})
		expect(look_at(TestStep::end, {.why = reply.get(), .job = row(state, code)}), is,
			std::string("job 7 ") + state + " " + code);
}

void both_sides_agree_or_not()
{
	const codec::Json ended = why("complete", ""), runs = why("running", "n1");
	const codec::Json good = pod("n1", ""), other_node = pod("n2", ""),
			  other_job = pod("n1", "", "8"), no_job = pod("n1", "", "");
	const auto look = [](const codec::Json &reply, const codec::Json &object) {
		return look_at(TestStep::agree,
			{.why = reply.get(), .pod = object.get(), .job = row("COMPLETED", "0:0")});
	};
	expect(look(ended, good), Is::done, "agree: job 7, node n1, user alice(1001)");
	expect(look(runs, good), Is::open, "has not heard of the end");
	expect(look(ended, other_node), Is::failed, "node: Kubernetes 'n2', Slurm 'n1'");
	expect(look(ended, other_job), Is::failed, "job: Kubernetes '8', Slurm '7'");
	expect(look(ended, no_job), Is::failed, "job: Kubernetes '', Slurm '7'");
	expect(look(why("failed", ""), good), Is::failed, "state of the job");
}

void the_first_failed_check_is_named()
{
	CHECK(failed_check(nullptr).empty());
	const codec::Json checks = json(R"({"checks":[{"name":"a","ok":true},)"
					R"({"name":"b","ok":false,"text":"t","remedy":"r"},)"
					R"({"name":"c","ok":false}]})");
	CHECK(failed_check(checks.get()) == "skube check fails: b: t: r");
}

void the_pod_asks_for_little_and_may_do_nothing()
{
	Selftest wanted;
	wanted.scheduler_name = "slurm-b";
	wanted.timeout = "90";
	const codec::Json made = manifest_of(
		wanted, {.name_space = "lab", .name = "p", .image = "example.test/box:1"});
	const std::string text = codec::to_text(made.get());
	for (const char *part : {R"("schedulerName":"slurm-b")", R"("image":"example.test/box:1")",
		     R"("namespace":"lab")", R"("activeDeadlineSeconds":90)",
		     R"("restartPolicy":"Never")", R"("runAsNonRoot":true)", R"("drop":["ALL"])",
		     R"("allowPrivilegeEscalation":false)", R"("type":"RuntimeDefault")"})
		CHECK(text.find(part) != std::string::npos);
}

void a_timeout_is_a_number_of_seconds()
{
	Selftest wanted;
	CHECK(timeout_of(wanted) == 120);
	for (const auto &[text, seconds] :
		{std::pair("1", 1U), std::pair("86400", 86400U), std::pair("86401", 0U),
			std::pair("0", 0U), std::pair("", 0U), std::pair("-1", 0U),
			std::pair("2m", 0U), std::pair("99999999999999999999", 0U)}) {
		wanted.timeout = text;
		CHECK(timeout_of(wanted) == seconds);
	}
}

} // namespace

int main()
{
	return check::run_tests("selftest",
		{TEST(a_pod_that_is_gone_fails_each_step),
			TEST(a_refused_pod_does_not_wait_for_a_job), TEST(a_job_starts_on_a_node),
			TEST(a_pod_is_bound), TEST(a_container_runs_to_its_end),
			TEST(a_job_ends_completed), TEST(both_sides_agree_or_not),
			TEST(the_first_failed_check_is_named),
			TEST(the_pod_asks_for_little_and_may_do_nothing),
			TEST(a_timeout_is_a_number_of_seconds)});
}
