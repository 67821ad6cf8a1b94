/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The condition SlurmDrain of Kubernetes nodes: what it says, and when it is written. */
#include "src/core/model/names.h"
#include "src/core/reconcile/drain_report.h"
#include "testsuite/unit/world_stage.h"

using namespace slurmkube;
using namespace slurmkube::check;
using namespace slurmkube::core;

namespace
{

constexpr NodeBase k_idle = NodeBase::idle, k_mixed = NodeBase::mixed, k_down = NodeBase::down;

std::string text_of(const std::optional<DrainCondition> &condition)
{
	return condition ? condition->status + " " + condition->reason + ": " + condition->message
			 : "";
}

void the_condition_follows_slurms_state()
{
	const std::string in_service = "False InService: Slurm uses the node";
	const struct {
		NodeBase base;
		bool drain, completing;
		const char *reason;
		std::string condition;
	} rows[] = {
		{k_idle, false, false, "", in_service},
		{k_mixed, false, false, "old words", in_service},
		{NodeBase::allocated, false, false, "", in_service},
		{k_idle, true, false, "bad disk", "True Drained: bad disk"},
		{k_idle, true, true, "bad disk", "True Draining: bad disk"},
		{k_mixed, true, false, "bad disk", "True Draining: bad disk"},
		{NodeBase::allocated, true, false, "", "True Draining: Slurm has no reason for it"},
		{k_idle, true, false, "slurm-kube: cordoned", "True Drained: slurm-kube: cordoned"},
		{k_down, false, false, "no power", "True Down: no power"},
		{k_down, true, false, "no power", "True Down: no power"},
		{NodeBase::unknown, true, false, "x", "True Drained: x"},
		{NodeBase::unknown, false, false, "", ""},
		{NodeBase::error, false, false, "y", "Unknown NotInService: y"},
		{NodeBase::future, false, false, "z", "Unknown NotInService: z"},
		{k_idle, true, false, "a\nb\033[2J\xff", "True Drained: a?b?[2J?"},
	};
	for (const auto &row : rows) {
		SlurmNode node = slurm_node("n1", 4);
		node.base = row.base;
		node.drain = row.drain;
		node.completing = row.completing;
		node.reason = row.reason;
		CHECK_EQUAL(text_of(drain_condition(node)), row.condition);
	}
}

void a_long_reason_is_cut_between_characters()
{
	SlurmNode node = slurm_node("n1", 4);
	node.drain = true;
	for (std::size_t i = 0; i < 2000; i++)
		node.reason += "\xc3\xa4";
	const auto condition = drain_condition(node);
	REQUIRE(condition.has_value());
	CHECK_EQUAL(condition->message, node.reason.substr(0, 1024));
	node.reason.insert(0, "x");
	CHECK_EQUAL(drain_condition(node)->message, node.reason.substr(0, 1023));
}

NodePolicy policy()
{
	NodePolicy p;
	p.label_key = names::k_managed_label;
	p.report_drains = true;
	return p;
}

std::string text_of(const std::optional<ReportDrain> &action)
{
	return action ? action->name + " " + action->uid + " " + action->condition.status +
			(action->changes_status ? " changed" : "")
		      : "";
}

void a_condition_is_written_only_if_it_differs()
{
	const DrainCondition drained{"True", "Drained", "bad disk"},
		draining{"True", "Draining", "bad disk"}, strange{"Unknown", "X", ""},
		in_service{"False", "InService", "Slurm uses the node"};
	using Seen = std::optional<DrainCondition>;
	const struct {
		Seen seen;
		bool drain;
		const char *action;
	} rows[] = {
		{Seen(), false, "n1 u False changed"},
		{Seen(), true, "n1 u True changed"},
		{Seen(in_service), false, ""},
		{Seen(drained), true, ""},
		{Seen(drained), false, "n1 u False changed"},
		{Seen(in_service), true, "n1 u True changed"},
		{Seen(draining), true, "n1 u True"},
		{Seen(strange), true, "n1 u True changed"},
		{Seen(strange), false, "n1 u False changed"},
	};
	SlurmNode slurm = slurm_node("n1", 4);
	slurm.reason = "bad disk";
	const PluginHello plugin;
	for (const auto &row : rows) {
		KubeNode node = check::kube_node("n1", "u", 4000);
		node.slurm_drain = row.seen;
		slurm.drain = row.drain;
		CHECK_EQUAL(text_of(report_drain(node, &slurm, plugin, policy())), row.action);
		CHECK_EQUAL(text_of(report_drain(node, &slurm, plugin, NodePolicy{})), "");
		node.labels.clear();
		CHECK_EQUAL(text_of(report_drain(node, &slurm, plugin, policy())), "");
	}
}

void without_a_record_an_old_condition_is_unknown()
{
	KubeNode node = check::kube_node("n1", "u", 4000);
	PluginHello old, dynamic;
	old.slurm_version_number = 22U << 16;
	dynamic.slurm_version_number = (24U << 16) | (11U << 8);
	CHECK_EQUAL(text_of(report_drain(node, nullptr, old, policy())), "");
	node.slurm_drain = {"True", "Drained", "bad disk"};
	CHECK_EQUAL(text_of(report_drain(node, nullptr, old, policy())), "n1 u Unknown changed");
	CHECK_EQUAL(text_of(report_drain(node, nullptr, dynamic, policy())), "");
	NodePolicy by_hand = policy();
	by_hand.manage = false;
	CHECK_EQUAL(text_of(report_drain(node, nullptr, dynamic, by_hand)), "n1 u Unknown changed");
}

/* ---- in World ---- */

constexpr std::int64_t k_interval_us = 30 * k_second;

struct Site {
	World world;
	Now now = k_start;

	explicit Site(int nodes, bool has_link = true) : world(settings())
	{
		std::set<std::string> uids;
		for (int i = 0; i < nodes; i++) {
			show(i, {});
			uids.insert("u" + std::to_string(i));
		}
		world.observe(NodesListed{uids});
		world.observe(PodsListed{{}}, now);
		if (!has_link)
			return;
		world.observe(LinkOpened{PluginHello{}});
		for (int i = 0; i < nodes; i++)
			drain(i, false);
		world.observe(SnapshotEnded{}, now);
	}
	static Settings settings()
	{
		Settings s = plain_settings();
		s.nodes.report_drains = true;
		s.report_interval_us = k_interval_us;
		return s;
	}
	static std::string name_of(int i) { return "n" + std::to_string(i); }
	void show(int i, std::optional<DrainCondition> condition)
	{
		KubeNode node = check::kube_node(name_of(i), "u" + std::to_string(i), 4000);
		node.slurm_drain = std::move(condition);
		world.observe(NodeSeen{node}, now);
	}
	void drain(int i, bool is_drained)
	{
		SlurmNode node = slurm_node(name_of(i), 4);
		node.drain = is_drained;
		node.reason = "bad disk";
		world.observe(SlurmNodeSeen{node});
	}
	/* What is written now, as "n0:True"; anything else by its kind. */
	std::string written()
	{
		std::string out;
		for (const NodeAction &action : world.take_node_actions(now)) {
			const auto *report = std::get_if<ReportDrain>(&action);
			out += (out.empty() ? "" : " ") +
				(report ? report->name + ":" + report->condition.status : "other");
		}
		return out;
	}
	void answer(int i, const Status &status)
	{
		world.answer(DrainReportAnswered{name_of(i), status}, now);
	}
};

const DrainCondition k_in_service{"False", "InService", "Slurm uses the node"},
	k_drained{"True", "Drained", "bad disk"};

void each_node_gets_its_condition_once()
{
	Site s(2);
	CHECK_EQUAL(s.written(), "n0:False n1:False");
	CHECK_EQUAL(s.written(), ""); /* no answer yet */
	s.answer(0, Ok{});
	s.answer(1, Ok{});
	CHECK_EQUAL(s.written(), ""); /* the watch is late */
	s.show(0, k_in_service);
	s.show(1, k_in_service);
	s.now.mono_us += 1000 * k_second;
	CHECK_EQUAL(s.written(), "");
}

void a_drain_is_reported_and_changes_nothing_else()
{
	Site s(2);
	(void)s.written();
	for (int i = 0; i < 2; i++) {
		s.answer(i, Ok{});
		s.show(i, k_in_service);
	}
	s.now.mono_us += k_interval_us;
	s.drain(1, true);
	CHECK_EQUAL(s.written(), "n1:True");
	s.answer(1, Ok{});
	s.show(1, k_drained);
	CHECK_EQUAL(s.written(), "");
	s.drain(1, false); /* too soon after the write before */
	CHECK_EQUAL(s.written(), "");
	s.now.mono_us += k_interval_us;
	CHECK_EQUAL(s.written(), "n1:False");
	s.answer(1, Ok{});
	s.show(1, k_in_service);
	CHECK_EQUAL(s.written(), "");
	s.now.mono_us += k_interval_us;
	s.show(1, k_drained); /* another program has written it */
	CHECK_EQUAL(s.written(), "n1:False");
}

void a_write_that_no_watch_shows_is_repeated()
{
	Site s(1);
	CHECK_EQUAL(s.written(), "n0:False");
	s.answer(0, Ok{});
	s.now.mono_us += k_interval_us;
	CHECK_EQUAL(s.written(), "");
	s.now.mono_us += k_interval_us;
	CHECK_EQUAL(s.written(), "n0:False");
}

void a_refused_write_pauses_all_of_them()
{
	Site s(20);
	CHECK_EQUAL(s.written(),
		"n0:False n1:False n10:False n11:False n12:False n13:False n14:False n15:False");
	for (const int i : {0, 1, 10, 11, 12, 13, 14, 15})
		s.answer(i, Error{Errc::denied, "forbidden"});
	CHECK_EQUAL(s.written(), "");
	s.now.mono_us += k_interval_us - 1;
	CHECK_EQUAL(s.written(), "");
	s.now.mono_us += 1;
	CHECK_EQUAL(s.written(),
		"n0:False n1:False n10:False n11:False n12:False n13:False n14:False n15:False");
	s.answer(0, Ok{});
	CHECK_EQUAL(s.written(), "n16:False");
	s.answer(16, Error{Errc::conflict, "another uid"}); /* about this node alone */
	CHECK_EQUAL(s.written(), "n17:False");
}

void at_most_fifty_are_begun_in_a_second()
{
	Site s(60);
	std::size_t count = 0;
	const auto run = [&] {
		for (int turn = 0; turn < 100; turn++) {
			for (const NodeAction &action : s.world.take_node_actions(s.now)) {
				const auto *report = std::get_if<ReportDrain>(&action);
				REQUIRE(report != nullptr);
				count++;
				s.world.answer(DrainReportAnswered{report->name, Ok{}}, s.now);
			}
		}
	};
	run();
	CHECK_EQUAL(count, 50U);
	s.now.mono_us += k_second;
	run();
	CHECK_EQUAL(count, 60U);
}

void a_standby_writes_nothing()
{
	Site s(2, false);
	s.now.mono_us += 100 * k_second;
	CHECK_EQUAL(s.written(), "");
}

} // namespace

int main()
{
	return check::run_tests("drain_report",
		{
			TEST(the_condition_follows_slurms_state),
			TEST(a_long_reason_is_cut_between_characters),
			TEST(a_condition_is_written_only_if_it_differs),
			TEST(without_a_record_an_old_condition_is_unknown),
			TEST(each_node_gets_its_condition_once),
			TEST(a_drain_is_reported_and_changes_nothing_else),
			TEST(a_write_that_no_watch_shows_is_repeated),
			TEST(a_refused_write_pauses_all_of_them),
			TEST(at_most_fifty_are_begun_in_a_second),
			TEST(a_standby_writes_nothing),
		});
}
