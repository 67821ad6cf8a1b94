/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/plugins/job_submit/kube/job_walk.h"

#include "src/base/guard.h"

#include <new>

namespace slurmkube::plugin
{

bool JobWalk::visit(Slice &slice, const kube_listed_job &job)
{
	visit_(job);
	met_++;
	last_id_ = job.id;
	return --slice.left != 0;
}

bool JobWalk::take(void *context, const kube_listed_job *job) noexcept
{
	auto &slice = *static_cast<Slice *>(context);
	if (!slice.is_in_place) {
		slice.is_in_place = job->id == slice.walk.last_id_;
		return slice.is_in_place;
	}
	auto failed = [&](const char *) { slice.has_failed = true; };
	return guard(false, failed, [&] { return slice.walk.visit(slice, *job); });
}

void JobWalk::go_on()
{
	Slice slice = {*this, met_ == 0};
	source_(met_ == 0 ? 0 : met_ - 1, take, &slice);
	if (slice.has_failed)
		throw std::bad_alloc(); /* not in visit(), which Slurm's code calls */
	if (!slice.is_in_place)
		met_ = 0;
	else
		is_done_ = slice.left != 0;
}

} // namespace slurmkube::plugin
