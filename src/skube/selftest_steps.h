/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * selftest_steps.h - what each step of `skube selftest` wants to see, and what helps if it does
 * not. Pure.
 *
 * The agent is asked about the job, because it knows it at once; the API server and slurmctld are
 * asked for what must be true at the end, because the agent could be wrong about both.
 */
#ifndef SLURMKUBE_SKUBE_SELFTEST_STEPS_H
#define SLURMKUBE_SKUBE_SELFTEST_STEPS_H

#include "src/codec/json.h"
#include "src/core/model/node_names.h"
#include "src/skube/selftest.h"

#include <string>
#include <vector>

namespace slurmkube::skube
{

/* In the order in which they are done. */
enum class TestStep { agent, pod, job, start, bind, run, end, agree, clean };

const char *name_of(TestStep step);

struct TestPod {
	std::string name_space, name, image;
	std::string label() const { return name_space + "/" + name; }
};

/* What is known of the test's pod. The objects are borrowed. */
struct Sightings {
	json_object *why = nullptr; /* the agent's reply; null: it has not seen the pod */
	json_object *pod = nullptr; /* as the API server has it; null: it has no such pod */
	std::string job = {};       /* the row that scontrol prints of the job; empty: not asked */
	core::NodeNames names = {}; /* of nodes in Slurm, without labels */
};

struct Finding {
	enum class Is { open, done, failed };
	Is is = Is::open;
	std::string text = {}; /* printable; of an open step: what it waits for */
};

/* Of the steps job to agree. A step is only looked at when those before it are done. */
Finding look_at(TestStep step, const Sightings &seen);

/* The number of the pod's job by the agent's reply; 0: it has none. */
std::int64_t job_number(json_object *why);

/* What helps if the step has failed: a sentence or two for people. */
std::string remedy_of(TestStep step, const TestPod &pod, std::int64_t job);

/* The first check that failed, with its remedy, as one sentence; empty: none. checks: the agent's
 * reply to `check`, or null. */
std::string failed_check(json_object *checks);

/* The manifest: one container that runs /bin/true and may do nothing else, so that namespaces with
 * the Pod Security Standard "restricted" accept it. */
codec::Json manifest_of(const Selftest &wanted, const TestPod &pod);

} // namespace slurmkube::skube

#endif
