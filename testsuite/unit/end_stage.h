/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * end_stage.h - a World with a gang of two pods and job 7, for ends that are asked for and come
 * late or never.
 */
#ifndef SLURMKUBE_TESTSUITE_UNIT_END_STAGE_H
#define SLURMKUBE_TESTSUITE_UNIT_END_STAGE_H

#include "testsuite/unit/gang_stage.h"

#include <optional>
#include <string>
#include <vector>

namespace slurmkube::check
{

using namespace slurmkube::core;

inline bool says(const std::string &text, const char *word)
{
	return text.find(word) != std::string::npos;
}

using Actions = std::vector<World::PodAction>;

inline const Error k_no_answer{Errc::io, "no answer"};
inline const Error k_refused{Errc::denied, "refused"};

/* Waits for an action of this kind, for at most so many quarters of a second. Look-ups say that the
 * pod is not bound. */
template <class T, class S> std::optional<T> wait_for(S &s, int quarters = 2400)
{
	for (int i = 0; i < quarters; i++) {
		const Actions actions = s.world.take_actions(s.now);
		for (const auto &[uid, action] : actions) {
			if (std::holds_alternative<LookUp>(action))
				s.world.answer(LookUpAnswered{uid, PodLookup::unbound}, s.now);
			if (std::holds_alternative<Report>(action))
				s.world.answer(ReportAnswered{uid, Ok{}}, s.now);
		}
		if (const auto found = only<T>(actions); !found.empty())
			return found.front().second;
		s.pass(k_second / 4);
	}
	return std::nullopt;
}

struct EndStage : GangStage {
	using GangStage::GangStage;

	void node(const char *name, bool ready)
	{
		KubeNode n = kube_node(name, std::string(name) + "-uid", 8000);
		n.ready = ready;
		world.observe(NodeSeen{n}, now);
	}

	void submit(SlurmJob &own)
	{
		all_pods(2);
		(void)take();
		world.answer(SubmitAnswered{{"train-uid"}, Submitted{.job = {7}, .node = ""}}, now);
		own.submit_time = now.wall_s;
		if (!own.nodes.empty())
			own.start_time = now.wall_s;
		world.observe(JobSeen{own}, now);
	}

	void show_bound(const PodUid &uid, const std::string &node, std::uint32_t rank)
	{
		Pod p = *world.state().pod(uid);
		p.node_name = node;
		p.phase = PodPhase::running;
		p.annotations[names::k_allocation_job_id] = "7";
		p.annotations[names::k_allocation_attempt] = "1";
		p.annotations[names::k_allocation_rank] = std::to_string(rank);
		p.annotations[names::k_allocation_gang] = "train-uid";
		world.observe(PodSeen{p}, now);
	}

	/* Carries out what is asked for during so many quarters of a second, as Slurm and
	 * Kubernetes would; returns it. */
	std::string steps(int quarters)
	{
		std::string log;
		for (int i = 0; i < quarters; i++) {
			for (const auto &[uid, action] : take()) {
				const std::string one = carry_out(uid, action);
				if (!one.empty())
					log += (log.empty() ? "" : " ") + one;
			}
			pass(k_second / 4);
		}
		return log;
	}

	/* What its owner does when its pods have failed. */
	void replace_pods(const std::string &life)
	{
		for (std::uint32_t i = 0; i < 2; i++)
			world.observe(PodSeen{pod(i, life)}, now);
	}

	Result<Ok> end_answer = Ok{};

      private:
	std::string carry_out(const PodUid &uid, const Action &action)
	{
		if (std::holds_alternative<LookUp>(action))
			world.answer(LookUpAnswered{uid, PodLookup::unbound}, now);
		if (std::holds_alternative<Report>(action))
			world.answer(ReportAnswered{uid, Ok{}}, now);
		if (const auto *bind = std::get_if<Bind>(&action)) {
			world.answer(BindAnswered{uid, Ok{}}, now);
			show_bound(uid, bind->node, *bind->rank);
			return "bind:" + uid.text;
		}
		if (const auto *end = std::get_if<Complete>(&action)) {
			world.answer(CompleteAnswered{uid, end_answer, false}, now);
			return "end:" + std::to_string(end->job.number);
		}
		if (const auto *cancel = std::get_if<Cancel>(&action)) {
			world.answer(CompleteAnswered{uid, end_answer, true}, now);
			return "cancel:" + std::to_string(cancel->job.number);
		}
		return std::holds_alternative<DeletePod>(action) ? "delete:" + uid.text : "";
	}
};

} // namespace slurmkube::check

#endif
