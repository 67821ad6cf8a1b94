/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * binding.cc - one binding and its fate.
 *
 * If the answer to the POST is lost, a conflict or a failure of the server, BindAttempt reads the
 * pod to find out what happened. The answer itself is not enough: a conflict has three causes, and
 * only its text differs.
 */
#include "src/agent/kube/binding.h"

#include "src/core/model/names.h"

#include <chrono>
#include <memory>

namespace slurmkube::kube
{

namespace
{

constexpr unsigned k_most_tries = 3; /* one attempt and two repeats */
constexpr std::chrono::milliseconds k_pause{100};

std::string annotation(const std::map<std::string, std::string> &annotations, const char *key)
{
	const auto found = annotations.find(key);
	return found == annotations.end() ? std::string() : found->second;
}

Status judge_bound(const core::Pod &pod, const BindPod &bind)
{
	if (pod.node_name != bind.node)
		return Error{Errc::conflict,
			"it is bound to node '" + pod.node_name + "', not to '" + bind.node + "'"};
	for (const char *key : {names::k_allocation_job_id, names::k_allocation_native_job}) {
		const std::string theirs = annotation(pod.annotations, key);
		const std::string ours = annotation(bind.annotations, key);
		if (theirs != ours)
			return Error{Errc::conflict,
				"it is bound to that node already, by job '" + theirs +
					"', not by job '" + ours + "'"};
	}
	return Ok{};
}

/* Kept alive by its callbacks alone. */
class BindAttempt : public std::enable_shared_from_this<BindAttempt>
{
      public:
	BindAttempt(BindWays ways, BindPod bind, Done done)
	    : ways_(std::move(ways)), bind_(std::move(bind)), done_(std::move(done))
	{
	}
	void post();

      private:
	void posted(const Status &answer);
	void look();
	void looked(const Result<core::Pod> &pod);
	void repeat_or_give_up(const Error &why);
	void finish(const Status &status) const;

	const BindWays ways_;
	const BindPod bind_;
	const Done done_;
	unsigned tries_ = 0;
};

void BindAttempt::finish(const Status &status) const
{
	done_(status ? status
		     : in_context(
			       "bind pod " + bind_.name_space + "/" + bind_.name, status.error()));
}

void BindAttempt::post()
{
	tries_++;
	ways_.post(
		bind_, [self = shared_from_this()](const Status &answer) { self->posted(answer); });
}

void BindAttempt::posted(const Status &answer)
{
	if (answer) {
		finish(Ok{});
		return;
	}
	switch (answer.error().code) {
	case Errc::conflict:
	case Errc::io:
		look();
		return;
	case Errc::again:
		repeat_or_give_up(answer.error());
		return;
	default:
		finish(answer.error());
	}
}

void BindAttempt::look()
{
	ways_.get(bind_,
		[self = shared_from_this()](const Result<core::Pod> &pod) { self->looked(pod); });
}

void BindAttempt::looked(const Result<core::Pod> &pod)
{
	if (!pod && (pod.error().code == Errc::again || pod.error().code == Errc::io)) {
		/* Post again instead of reading again: if an earlier POST has taken effect, this
		 * one gets a conflict, and the pod is read then. */
		repeat_or_give_up(pod.error());
		return;
	}
	const Status status = pod ? judge_binding(*pod, bind_) : Status(pod.error());
	if (!status && status.error().code == Errc::again)
		repeat_or_give_up(status.error());
	else
		finish(status);
}

void BindAttempt::repeat_or_give_up(const Error &why)
{
	if (tries_ >= k_most_tries) {
		finish(Error{Errc::again, why.what});
		return;
	}
	ways_.after(k_pause * tries_, [self = shared_from_this()] { self->post(); });
}

} // namespace

Status judge_binding(const core::Pod &pod, const BindPod &bind)
{
	if (pod.uid.text != bind.uid)
		return Error{Errc::not_found, "another pod has the name"};
	if (!pod.node_name.empty())
		return judge_bound(pod, bind);
	if (pod.deleting)
		return Error{Errc::conflict, "it is being deleted"};
	if (pod.gated)
		return Error{Errc::conflict, "it has scheduling gates"};
	return Error{Errc::again, "it is not bound yet"};
}

void bind_pod(BindWays ways, BindPod bind, Done done)
{
	std::make_shared<BindAttempt>(std::move(ways), std::move(bind), std::move(done))->post();
}

} // namespace slurmkube::kube
