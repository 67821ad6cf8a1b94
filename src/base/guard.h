/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guard.h - keeps exceptions from passing into C code.
 *
 * Used at every entry from C: Slurm hooks, libcurl callbacks and thread bodies. slurm-kube throws
 * nothing itself, but the standard library may. After an exception the C caller gets on_bug; report
 * is called with what() and must not throw.
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
