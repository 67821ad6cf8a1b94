/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which rows of `skube show` a client gets. */
#include "src/core/inspect/selection.h"
#include "testsuite/unit/check.h"

using namespace slurmkube::core;

namespace
{

const std::map<std::string, std::string> k_labels = {{"app", "train"}, {"tier", "gold"}};

Selectable row()
{
	return {.name_space = "lab",
		.labels = &k_labels,
		.states = {"RUNNING", "COMPLETING"},
		.user = 1001,
		.nodes = {"n2", "n10"},
		.has_ended = false};
}

void each_criterion_selects_and_leaves_out()
{
	struct {
		SelectionText text;
		bool selected;
	} const rows[] = {
		{{}, true},
		{{.namespaces = "lab"}, true},
		{{.namespaces = "physics,lab"}, true},
		{{.namespaces = "la"}, false},
		{{.labels = "app=train"}, true},
		{{.labels = "app=train,tier!=gold"}, false},
		{{.labels = "tier in (gold, silver)"}, true},
		{{.labels = "missing"}, false},
		{{.states = "RUNNING"}, true},
		{{.states = "running"}, true},
		{{.states = "R"}, true},
		{{.states = "PD,CG"}, true},
		{{.states = "PENDING"}, false},
		{{.users = "1001"}, true},
		{{.users = "0,1001"}, true},
		{{.users = "0"}, false},
		{{.nodes = "n[8-10]"}, true},
		{{.nodes = "n2"}, true},
		{{.nodes = "n[1,3-9]"}, false},
		{{.active = true}, true},
		{{.namespaces = "lab", .states = "PENDING"}, false},
		{{.namespaces = "lab",
			 .labels = "app",
			 .states = "R",
			 .users = "1001",
			 .nodes = "n2",
			 .active = true},
			true},
	};
	for (const auto &one : rows) {
		const auto selection = parse_selection(ListKind::jobs, one.text);
		REQUIRE(selection.ok());
		CHECK_EQUAL(selects(*selection, row()), one.selected);
	}
}

void what_has_ended_is_not_active()
{
	Selectable ended = row();
	ended.has_ended = true;
	const auto active = parse_selection(ListKind::pods, {.active = true});
	REQUIRE(active.ok());
	CHECK(!selects(*active, ended));
}

void a_row_without_the_fact_is_left_out()
{
	for (const SelectionText &text : {SelectionText{.namespaces = "lab"},
		     SelectionText{.labels = "app"}, SelectionText{.states = "IDLE"},
		     SelectionText{.users = "0"}, SelectionText{.nodes = "n1"}}) {
		const auto selection = parse_selection(ListKind::nodes, text);
		REQUIRE(selection.ok());
		CHECK(!selects(*selection, Selectable{}));
	}
	/* not even the user 2^32-1, to which -1 would be cut */
	const auto last = parse_selection(ListKind::pods, {.users = "4294967295"});
	REQUIRE(last.ok());
	CHECK(!selects(*last, Selectable{}));
}

void a_wrong_text_is_quoted()
{
	struct {
		ListKind kind;
		SelectionText text;
		const char *quoted;
	} const rows[] = {
		{ListKind::jobs, {.states = "COMPLETE"}, "no state 'COMPLETE'; there are PENDING"},
		{ListKind::jobs, {.states = "READY"}, "'READY'"},
		{ListKind::nodes, {.states = "PD"}, "no state 'PD'; there are READY"},
		{ListKind::pods, {.states = "R,,PD"}, "empty item in the list of states"},
		{ListKind::pods, {.states = "R,"}, "empty item in the list of states"},
		{ListKind::pods, {.namespaces = ",a"}, "empty item in the list of namespaces"},
		{ListKind::pods, {.users = "root"}, "'root' is not the number of a user"},
		{ListKind::pods, {.users = "4294967296"}, "'4294967296'"},
		{ListKind::pods, {.users = "-1"}, "'-1'"},
		{ListKind::pods, {.labels = "a in ("}, "in ("},
		{ListKind::pods, {.nodes = "n[1-"}, "n[1-"},
	};
	for (const auto &one : rows) {
		const auto selection = parse_selection(one.kind, one.text);
		REQUIRE(!selection.ok());
		CHECK_EQUAL(selection.error().what.find(one.quoted) != std::string::npos, true);
	}
}

void a_pod_answers_to_its_phase_before_its_job()
{
	CHECK(is_phase_name("RUNNING"));
	CHECK(!is_phase_name("COMPLETED"));
	std::set<std::string_view> names;
	for (const std::string_view name : state_names(ListKind::pods))
		CHECK(names.insert(name).second);
	CHECK(names.contains("SUCCEEDED") && names.contains("OUT_OF_MEMORY"));
}

void each_state_has_the_name_that_squeue_prints()
{
	CHECK_EQUAL(std::string(slurm_state_name(JobState::complete)), "COMPLETED");
	CHECK_EQUAL(std::string(slurm_state_name(JobState::oom)), "OUT_OF_MEMORY");
	for (int i = 0; i <= static_cast<int>(JobState::unknown); i++)
		CHECK(parse_selection(
			ListKind::jobs, {.states = slurm_state_name(static_cast<JobState>(i))})
				.ok());
}

} // namespace

int main()
{
	return slurmkube::check::run_tests("selection",
		{
			TEST(each_criterion_selects_and_leaves_out),
			TEST(what_has_ended_is_not_active),
			TEST(a_row_without_the_fact_is_left_out),
			TEST(a_wrong_text_is_quoted),
			TEST(a_pod_answers_to_its_phase_before_its_job),
			TEST(each_state_has_the_name_that_squeue_prints),
		});
}
