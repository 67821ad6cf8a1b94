/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verdict.h - fills the C struct that a hook returns.
 */
#ifndef SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_VERDICT_H
#define SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_VERDICT_H

#include "src/plugins/job_submit/kube/facts.h"

#include <string_view>

namespace slurmkube::plugin
{

/* Cuts a text that is too long. */
inline void say(kube_verdict &verdict, kube_outcome outcome, std::string_view text)
{
	verdict.outcome = outcome;
	std::size_t length = text.copy(verdict.text, sizeof(verdict.text) - 1);
	verdict.text[length] = '\0';
}

template <std::size_t Size> void put(char (&field)[Size], std::string_view text)
{
	std::size_t length = text.copy(field, Size - 1);
	field[length] = '\0';
}

} // namespace slurmkube::plugin

#endif
