/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/slurm/figures_pages.h"

#include "src/agent/slurm/figures_text.h"

#include <algorithm>
#include <utility>

namespace slurmkube::slurm::figures
{

namespace
{

template <class Value> void take(Answers &out, Kind kind,
	std::shared_ptr<const Value> Answers::*member, Result<std::shared_ptr<const Value>> answer)
{
	if (!answer) {
		out.troubles[kind] = answer.error().what;
		return;
	}
	out.*member = std::move(*answer);
	out.answered.insert(kind);
}

void ask_one(Answers &out, Kind kind)
{
	switch (kind) {
	case Kind::jobs:
		return take(out, kind, &Answers::jobs, load_jobs(out.jobs));
	case Kind::nodes:
		return take(out, kind, &Answers::nodes, load_nodes());
	case Kind::partitions:
		return take(out, kind, &Answers::partitions, load_partitions());
	case Kind::scheduler:
		return take(out, kind, &Answers::scheduler, load_scheduler());
	}
}

std::string text_of(const Answers &answers, Page page)
{
	const Limits limits;
	switch (page) {
	case Page::jobs:
		return jobs_text(*answers.jobs);
	case Page::owners:
		return owners_text(*answers.jobs, limits);
	case Page::nodes:
		return nodes_text(*answers.nodes, limits);
	case Page::partitions:
		return partitions_text(*answers.partitions, *answers.nodes, *answers.jobs, limits);
	case Page::scheduler:
		break;
	}
	return scheduler_text(*answers.scheduler);
}

bool is_there(const Answers &answers, Kind kind)
{
	switch (kind) {
	case Kind::jobs:
		return answers.jobs != nullptr;
	case Kind::nodes:
		return answers.nodes != nullptr;
	case Kind::partitions:
		return answers.partitions != nullptr;
	case Kind::scheduler:
		break;
	}
	return answers.scheduler != nullptr;
}

} // namespace

const char *name_of(Kind kind)
{
	switch (kind) {
	case Kind::jobs:
		return "jobs";
	case Kind::nodes:
		return "nodes";
	case Kind::partitions:
		return "partitions";
	case Kind::scheduler:
		break;
	}
	return "scheduler";
}

const Kinds &kinds_of(Page page)
{
	static const std::map<Page, Kinds> k_kinds = {
		{Page::jobs, {Kind::jobs}},
		{Page::owners, {Kind::jobs}},
		{Page::nodes, {Kind::nodes}},
		{Page::partitions, {Kind::jobs, Kind::nodes, Kind::partitions}},
		{Page::scheduler, {Kind::scheduler}},
	};
	return k_kinds.at(page);
}

Answers ask(Answers before, const Kinds &due)
{
	Answers out = std::move(before);
	out.answered.clear();
	out.troubles.clear();
	for (const Kind kind : due)
		ask_one(out, kind);
	for (const Page page :
		{Page::jobs, Page::owners, Page::nodes, Page::partitions, Page::scheduler}) {
		const Kinds &needed = kinds_of(page);
		const auto is_new = [&](Kind kind) { return out.answered.contains(kind); };
		const auto is_known = [&](Kind kind) { return is_there(out, kind); };
		if (std::ranges::any_of(needed, is_new) && std::ranges::all_of(needed, is_known))
			out.pages[page] = std::make_shared<const std::string>(text_of(out, page));
	}
	return out;
}

} // namespace slurmkube::slurm::figures
