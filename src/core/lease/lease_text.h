/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lease_text.h - texts for the log, /readyz and `skube check` about the Lease.
 */
#ifndef SLURMKUBE_CORE_LEASE_LEASE_TEXT_H
#define SLURMKUBE_CORE_LEASE_LEASE_TEXT_H

#include "src/core/lease/lease.h"

#include <string>

namespace slurmkube::core
{

/* Why the agent does nothing; empty: the Lease does not hold it up. */
std::string lease_hold_text(const LeaseState &state);
/* Meaningful only with that text. */
std::string lease_hold_remedy(const LeaseState &state);
/* Why another Slurm cluster would not be noticed; empty: it would. */
std::string lease_trouble_text(const LeaseState &state);
std::string lease_trouble_remedy();
/* Who holds it. */
std::string lease_holder_text(const LeaseState &state);

} // namespace slurmkube::core

#endif
