/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * figures_pages.h - answers of slurmctld for Slurm's own metrics, and the pages made of them.
 *
 * ask() blocks, so it is for a worker thread. It also writes the pages there: on a large cluster a
 * page has megabytes, and the loop must not stand still that long.
 */
#ifndef SLURMKUBE_AGENT_SLURM_FIGURES_PAGES_H
#define SLURMKUBE_AGENT_SLURM_FIGURES_PAGES_H

#include "src/agent/slurm/figures.h"

#include <map>
#include <memory>
#include <set>
#include <string>

namespace slurmkube::slurm::figures
{

/* The kinds of RPCs. */
enum class Kind { jobs, nodes, partitions, scheduler };
using Kinds = std::set<Kind>;
const char *name_of(Kind kind);

enum class Page { jobs, owners, nodes, partitions, scheduler };
/* Which answers a page is made of. */
const Kinds &kinds_of(Page page);

struct Answers {
	std::shared_ptr<const Jobs> jobs; /* each is null before the first answer */
	std::shared_ptr<const Nodes> nodes;
	std::shared_ptr<const Partitions> partitions;
	std::shared_ptr<const Scheduler> scheduler;
	/* those of which all answers are there; shared, because they may have megabytes */
	std::map<Page, std::shared_ptr<const std::string>> pages;
	Kinds answered;                       /* by the last ask() */
	std::map<Kind, std::string> troubles; /* why others of the last ask() were not */
};

/* One RPC of each kind in due; jobs take two, because PrivateData is part of slurm.conf. What is
 * not answered stays as it was before. */
Answers ask(Answers before, const Kinds &due);

} // namespace slurmkube::slurm::figures

#endif
