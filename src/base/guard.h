/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guard.h - the border that no exception passes.
 *
 * Used at every entry from C (Slurm hooks, libcurl and thread bodies). We throw nothing ourselves,
 * the standard library may. on_bug is what the C caller gets then; report is called with what() and
 * must not throw.
 */
#ifndef SLURMKUBE_BASE_GUARD_H
#define SLURMKUBE_BASE_GUARD_H

#include <exception>

namespace slurmkube
{

template <class R, class F, class Report> R guard(R on_bug, Report &&report, F &&body) noexcept
{
	try {
		return body();
	} catch (const std::exception &e) {
		report(e.what());
	} catch (...) {
		report("exception of unknown type");
	}
	return on_bug;
}

} // namespace slurmkube

#endif
