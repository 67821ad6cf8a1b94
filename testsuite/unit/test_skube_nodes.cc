/* SPDX-License-Identifier: GPL-2.0-or-later */
/* skube drain and resume: what they would do, by the state of both sides. */
#include "src/skube/node_drain.h"
#include "testsuite/unit/check.h"

using namespace slurmkube;
using namespace slurmkube::skube;

namespace
{

DrainState idle()
{
	return {.node = "n1", .in_kubernetes = true, .in_slurm = true, .reason = "none"};
}

DrainState drained_by_us(const std::string &reason)
{
	DrainState state = idle();
	state.cordoned = state.drained = true;
	state.annotation = reason;
	state.reason = "skube: " + reason;
	return state;
}

std::string text_of(const Result<std::vector<Words>> &commands)
{
	if (!commands)
		return "error: " + commands.error().what;
	std::string all;
	for (const Words &command : *commands)
		all += command_line(command) + "\n";
	return all;
}

bool has(const std::string &text, const std::string &part)
{
	return text.find(part) != std::string::npos;
}

void both_sides_get_the_reason()
{
	CHECK(text_of(drain_commands(idle(), "new disk")) ==
		"scontrol update NodeName=n1 State=DRAIN 'Reason=skube: new disk'\n"
		"kubectl annotate node n1 --overwrite 'slurm-kube.io/drain-reason=new disk'\n"
		"kubectl cordon n1\n");
	CHECK(text_of(resume_commands(drained_by_us("new disk"))) ==
		"kubectl uncordon n1\n"
		"kubectl annotate node n1 slurm-kube.io/drain-reason-\n"
		"scontrol update NodeName=n1 State=RESUME\n");
}

/* Several Kubernetes clusters may have nodes of the same name. */
void slurm_may_have_the_node_under_another_name()
{
	DrainState state = idle();
	state.slurm_name = "alpha-n1";
	CHECK(has(text_of(drain_commands(state, "disk")),
		"scontrol update NodeName=alpha-n1 State=DRAIN"));
	CHECK(has(text_of(drain_commands(state, "disk")), "kubectl cordon n1\n"));
	DrainState drained = drained_by_us("disk");
	drained.slurm_name = "alpha-n1";
	CHECK(has(text_of(resume_commands(drained)),
		"scontrol update NodeName=alpha-n1 State=RESUME"));
}

void a_node_of_another_cluster_is_refused()
{
	DrainState state = idle();
	state.features = "kube,kube-beta";
	CHECK(has(text_of(drain_commands(state, "disk")),
		"error: node n1 in Slurm is of the Kubernetes cluster beta: give the configuration "
		"of its agent with --config"));
	CHECK(has(text_of(resume_commands(state)), "error: "));
	state.cluster = "alpha";
	CHECK(has(text_of(drain_commands(state, "disk")), "error: "));
	state.features = "fast,kube-hybrid";
	CHECK(!has(text_of(drain_commands(state, "disk")), "error: "));
	state.features = "kube,kube-beta";
	state.cluster = "beta";
	CHECK(!has(text_of(drain_commands(state, "disk")), "error: "));
}

void what_is_done_is_not_done_again()
{
	CHECK(text_of(drain_commands(drained_by_us("disk"), "disk")).empty());
	CHECK(text_of(resume_commands(idle())).empty());
	/* another reason replaces ours on both sides */
	CHECK(text_of(drain_commands(drained_by_us("disk"), "fan")) ==
		"scontrol update NodeName=n1 State=DRAIN 'Reason=skube: fan'\n"
		"kubectl annotate node n1 --overwrite slurm-kube.io/drain-reason=fan\n");
}

void an_interrupted_command_goes_on()
{
	DrainState state = idle();
	state.drained = true;
	state.reason = "skube: disk";
	CHECK(text_of(drain_commands(state, "disk")) ==
		"kubectl annotate node n1 --overwrite slurm-kube.io/drain-reason=disk\n"
		"kubectl cordon n1\n");
	CHECK(text_of(resume_commands(state)) == "scontrol update NodeName=n1 State=RESUME\n");
	/* slurmctld has lost our state, and the agent has seen our cordon */
	state = drained_by_us("disk");
	state.reason = "slurm-kube: cordoned";
	CHECK(text_of(resume_commands(state)) ==
		"kubectl uncordon n1\nkubectl annotate node n1 slurm-kube.io/drain-reason-\n");
}

void what_others_did_is_theirs()
{
	DrainState drained = idle(), cordoned = idle(), by_agent = idle();
	drained.drained = by_agent.drained = cordoned.cordoned = true;
	drained.reason = "fan broken";
	by_agent.reason = "slurm-kube: not ready";
	for (const bool resumes : {false, true}) {
		const auto commands = [resumes](const DrainState &state) {
			return text_of(
				resumes ? resume_commands(state) : drain_commands(state, "disk"));
		};
		CHECK(has(commands(drained),
			"error: node n1 is drained in Slurm with the reason "
			"'fan broken', and not by skube drain"));
		CHECK(has(commands(drained), "scontrol update NodeName=n1 State=RESUME undoes it"));
		CHECK(has(
			commands(cordoned), "error: node n1 is cordoned, and not by skube drain"));
		CHECK(has(commands(by_agent),
			"error: slurmkubed has drained node n1: "
			"'slurm-kube: not ready'; skube why node/n1"));
	}
	/* our cordon, and somebody has drained the node in Slurm since */
	DrainState both = drained_by_us("disk");
	both.reason = "fan broken";
	CHECK(has(text_of(resume_commands(both)), "error: node n1 is drained in Slurm"));
}

void a_node_of_one_side_is_refused()
{
	DrainState native = idle(), unknown = idle();
	native.in_kubernetes = unknown.in_slurm = false;
	CHECK(has(text_of(drain_commands(native, "x")), "error: Kubernetes has no node n1"));
	CHECK(has(text_of(drain_commands(unknown, "x")), "error: Slurm has no node n1"));
	CHECK(has(text_of(resume_commands(native)), "error: Kubernetes has no node n1"));
}

void a_reason_is_one_line()
{
	for (const std::string &reason : {std::string(), std::string(201, 'x'), std::string("a\nb"),
		     std::string("a\033[2J")})
		CHECK(has(text_of(drain_commands(idle(), reason)), "error: --reason needs a text"));
	CHECK(drain_commands(idle(), std::string(200, 'x')).ok());
}

} // namespace

int main()
{
	return check::run_tests("skube_nodes",
		{TEST(both_sides_get_the_reason), TEST(slurm_may_have_the_node_under_another_name),
			TEST(a_node_of_another_cluster_is_refused),
			TEST(what_is_done_is_not_done_again), TEST(an_interrupted_command_goes_on),
			TEST(what_others_did_is_theirs), TEST(a_node_of_one_side_is_refused),
			TEST(a_reason_is_one_line)});
}
