/* SPDX-License-Identifier: GPL-2.0-or-later */
/* World and options that change while a job waits. */
#include "src/core/model/outcome.h"
#include "src/core/options/change.h"
#include "testsuite/unit/world_stage.h"

using namespace slurmkube;
using namespace slurmkube::core;
using namespace slurmkube::check;

namespace
{

/* A waiting pod with these options, whose job was submitted with those of told. */
struct Waiting : Stage {
	using Annotations = std::map<std::string, std::string>;

	Waiting(const Annotations &options, const Annotations &told)
	{
		SlurmJob waits = job(7, "u1", JobState::pending);
		waits.marker.options = spec_of(told).marker.options;
		see(options);
		world.observe(JobSeen{waits}, now);
		pass(2 * k_second);
	}
	JobSpec spec_of(const Annotations &options) const
	{
		return translate(with(options), world.state().settings.policy, 1).value();
	}
	Pod with(const Annotations &options) const
	{
		Pod p = pod("u1");
		p.annotations = options;
		return p;
	}
	void see(const Annotations &options) { world.observe(PodSeen{with(options)}, now); }
	std::string mark(const Annotations &options) const
	{
		return spec_of(options).marker.options;
	}
};

void a_waiting_job_follows_the_options_of_its_pod()
{
	const Waiting::Annotations ten = {{"slurm-kube.io/timelimit", "10"}},
				   twenty = {{"slurm-kube.io/timelimit", "20"}},
				   held = {{"slurm-kube.io/hold", "true"}};
	Waiting same(ten, ten); /* the same for an agent that has just started */
	CHECK_EQUAL(same.act(), "report:u1:SlurmPending");
	same.see(twenty);
	CHECK_EQUAL(same.act(), "update:7+1-0");
	CHECK_EQUAL(same.act(), ""); /* under way */
	same.world.answer(UpdateAnswered{{"u1"}, same.mark(twenty), {7}, Ok{}}, same.now);
	CHECK_EQUAL(same.act(), "");
	/* the plugin has not seen the new marker yet */
	SlurmJob stale = same.job(7, "u1", JobState::pending);
	stale.marker.options = same.mark(ten);
	same.world.observe(JobSeen{stale}, same.now);
	CHECK_EQUAL(same.act(), "");
	same.see(held);
	CHECK_EQUAL(same.act(), "update:7+1-1");

	Waiting missed(twenty, ten); /* changed while no agent ran */
	CHECK_EQUAL(missed.act(), "update:7+1-0");
	missed.world.answer(
		UpdateAnswered{{"u1"}, missed.mark(twenty), {7}, Error{Errc::io, "broken"}},
		missed.now);
	CHECK_EQUAL(missed.act(), "");
	missed.pass(60 * k_second);
	CHECK_EQUAL(missed.act(), "update:7+1-0");
	missed.world.answer(UpdateAnswered{{"u1"}, missed.mark(twenty), {7},
				    Error{Errc::invalid, "Slurm says no"}},
		missed.now);
	CHECK_EQUAL(missed.act(), "report:u1:SlurmPending"); /* said, and not tried again */
	missed.world.answer(ReportAnswered{{"u1"}, Ok{}}, missed.now);
	missed.pass(600 * k_second);
	CHECK_EQUAL(missed.act(), "");
	missed.see(ten);
	CHECK_EQUAL(missed.act(), "report:u1:SlurmPending");

	Waiting unknown(ten, {});
	/* by an agent that did not record options */
	SlurmJob old = unknown.job(7, "u1", JobState::pending);
	unknown.world.observe(JobSeen{old}, unknown.now);
	CHECK_EQUAL(unknown.act(), "report:u1:SlurmPending");
}

void options_that_cannot_be_changed_are_said_not_sent()
{
	const Waiting::Annotations ten = {{"slurm-kube.io/timelimit", "10"}};
	for (const auto &[key, value] : {std::pair("timelimit", "soon"), std::pair("gres", "gpu:1"),
		     std::pair("nonesuch", "1")}) {
		Waiting s({{"slurm-kube.io/" + std::string(key), value}}, ten);
		CHECK_EQUAL(s.act(), "report:u1:SlurmPending");
		CHECK(s.world.state().pods.at({"u1"}).reported.message.find(
			      "it keeps the options that it had") != std::string::npos);
	}
	Waiting running(ten, ten);
	SlurmJob started = running.job(7, "u1", JobState::running);
	started.marker.options = running.mark(ten);
	running.world.observe(JobSeen{started}, running.now);
	running.see({{"slurm-kube.io/timelimit", "20"}});
	CHECK_EQUAL(running.act(), "bind:u1@n1");
}

/* A second node, so that the first can be excluded. */
void add_node(Stage &s, const std::string &name)
{
	s.world.observe(NodeSeen{kube_node(name, name + "-uid", 4000)}, s.now);
	s.world.observe(SlurmNodeSeen{slurm_node(name, 0)});
}

/* What a new agent does within five seconds about a job whose excluded nodes have this digest. */
std::string actions_of_a_new_agent(const std::string &excluded, const std::string &places)
{
	Waiting s({{"slurm-kube.io/excluded-nodes", excluded}},
		{{"slurm-kube.io/excluded-nodes", excluded}});
	SlurmJob job = s.job(7, "u1", JobState::pending);
	job.marker.options = s.mark({{"slurm-kube.io/excluded-nodes", excluded}});
	job.marker.exclusions = places;
	s.world.observe(JobSeen{job}, s.now);
	add_node(s, "n2");
	std::string out;
	for (int i = 0; i < 5; i++) {
		out += s.act();
		s.pass(k_second);
	}
	return out;
}

void a_new_agent_tells_no_nodes_again()
{
	CHECK_EQUAL(
		actions_of_a_new_agent("n1", exclusions_digest({"n1"})), "report:u1:SlurmPending");
	/* by an agent that did not record exclusions */
	CHECK_EQUAL(actions_of_a_new_agent("n1", ""), "update:7+0-1");
	CHECK_EQUAL(actions_of_a_new_agent("n1", exclusions_digest({"n2"})), "update:7+0-1");
	CHECK_EQUAL(exclusions_digest({}), "");
	CHECK(exclusions_digest({"n1", "n2"}) != exclusions_digest({"n1n2"}));
}

void a_job_notes_the_nodes_that_it_is_kept_off()
{
	Stage s;
	add_node(s, "n2");
	Pod pod = s.pod("u1");
	pod.annotations = {{"slurm-kube.io/excluded-nodes", "n1"}};
	s.world.observe(PodSeen{pod}, s.now);
	const auto actions = s.world.take_actions(s.now);
	REQUIRE(actions.size() == 1 && std::holds_alternative<Submit>(actions.front().action));
	const JobSpec &spec = std::get<Submit>(actions.front().action).spec;
	CHECK_EQUAL(spec.marker.exclusions, exclusions_digest({"n1"}));
}

} // namespace

int main()
{
	return check::run_tests("world options",
		{
			TEST(a_waiting_job_follows_the_options_of_its_pod),
			TEST(a_new_agent_tells_no_nodes_again),
			TEST(a_job_notes_the_nodes_that_it_is_kept_off),
			TEST(options_that_cannot_be_changed_are_said_not_sent),
		});
}
