/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which agent may act, by the Lease: each decision, and several agents that share one Lease. */
#include "src/core/lease/lease.h"
#include "src/core/lease/lease_text.h"
#include "testsuite/unit/check.h"

using namespace slurmkube;
using namespace slurmkube::core;

namespace
{

constexpr std::int64_t k_second = 1'000'000;

/* ---- single decisions ---- */

LeaseHolder holder(const char *cluster, const char *host = "ctl", std::int64_t since = 1)
{
	return {cluster, host, since};
}

/* a leader of cluster "a" that has read a Lease of its own */
LeaseFacts leader()
{
	LeaseFacts f;
	f.cluster = "a";
	f.self = f.held = holder("a");
	f.is_read = f.was_ours = true;
	return f;
}

const char *name_of(LeaseStanding standing)
{
	switch (standing) {
	case LeaseStanding::undecided:
		return "undecided";
	case LeaseStanding::free:
		return "free";
	case LeaseStanding::other_cluster:
		return "other";
	case LeaseStanding::contested:
		return "contested";
	}
	return "?";
}

std::string verdict(const LeaseFacts &facts)
{
	const LeaseVerdict v = judge_lease(facts);
	return std::string(name_of(v.standing)) + (v.writes ? " writes" : "");
}

void each_decision()
{
	const struct {
		const char *what, *verdict;
		void (*change)(LeaseFacts &f);
	} rows[] = {
		{"not read", "undecided", [](LeaseFacts &f) { f.is_read = false; }},
		{"not allowed to read", "free",
			[](LeaseFacts &f) {
				f.is_read = false;
				f.is_refused = true;
			}},
		{"ours", "free", [](LeaseFacts &) {}},
		{"ours, to be renewed", "free writes", [](LeaseFacts &f) { f.is_due = true; }},
		{"ours, expired while the API server was away", "free writes",
			[](LeaseFacts &f) { f.is_due = f.is_expired = true; }},
		{"ours, not allowed to write", "free", [](LeaseFacts &f) { f.is_refused = true; }},
		{"none", "undecided writes",
			[](LeaseFacts &f) {
				f.held = {};
				f.was_ours = false;
			}},
		{"none, not allowed to write", "free",
			[](LeaseFacts &f) {
				f.held = {};
				f.is_refused = true;
			}},
		{"none, not allowed to write, some time later", "free writes",
			[](LeaseFacts &f) {
				f.held = {};
				f.is_refused = f.is_due = true;
			}},
		{"ours, and deleted", "free writes", [](LeaseFacts &f) { f.held = {}; }},
		{"standby, none", "free",
			[](LeaseFacts &f) {
				f.self = f.held = {};
				f.is_due = true;
			}},
		{"another cluster's", "other", [](LeaseFacts &f) { f.held = holder("b"); }},
		{"another cluster's, standby", "other",
			[](LeaseFacts &f) {
				f.self = {};
				f.held = holder("b");
			}},
		{"another cluster's, expired", "undecided writes",
			[](LeaseFacts &f) {
				f.held = holder("b");
				f.was_ours = false;
				f.is_expired = true;
			}},
		{"another cluster's, not allowed to write", "other",
			[](LeaseFacts &f) {
				f.held = holder("b");
				f.is_refused = true;
			}},
		{"another host's of our cluster", "free writes",
			[](LeaseFacts &f) { f.held = holder("a", "ctl2"); }},
		{"ours before a restart of slurmctld", "free writes",
			[](LeaseFacts &f) { f.held = holder("a", "ctl", 0); }},
		{"the same, expired", "free writes",
			[](LeaseFacts &f) {
				f.held = holder("a", "ctl", 0);
				f.is_expired = true;
				f.was_ours = false;
			}},
		{"another host's, taken from it before", "free writes",
			[](LeaseFacts &f) {
				f.held = holder("a", "ctl2");
				f.takings = 4;
				f.first_takings = 1;
			}},
		{"another host's, taken from it twice", "contested",
			[](LeaseFacts &f) {
				f.held = holder("a", "ctl2");
				f.takings = f.first_takings = 2;
			}},
		{"another host's, taken by both again and again", "contested",
			[](LeaseFacts &f) {
				f.held = holder("a", "ctl2");
				f.takings = 5;
			}},
		{"ours, taken twice", "free", [](LeaseFacts &f) { f.first_takings = 2; }},
		{"contested before", "contested",
			[](LeaseFacts &f) {
				f.held = holder("a", "ctl2");
				f.is_contested = true;
			}},
		{"contested before, slurmctld hangs", "contested",
			[](LeaseFacts &f) {
				f.self = {};
				f.held = holder("a", "ctl2");
				f.is_contested = true;
			}},
		{"standby, its cluster's", "free",
			[](LeaseFacts &f) {
				f.self = {};
				f.is_due = true;
			}},
	};
	for (const auto &row : rows) {
		LeaseFacts facts = leader();
		row.change(facts);
		CHECK_EQUAL(std::string(row.what) + ": " + verdict(facts),
			std::string(row.what) + ": " + row.verdict);
	}
}

/* ---- several agents ---- */

struct Server {
	std::optional<LeaseRecord> lease;
	int version = 0, writes = 0;

	/* nullopt: a conflict */
	std::optional<LeaseRecord> write(LeaseRecord record)
	{
		if (record.resource_version != (lease ? lease->resource_version : ""))
			return std::nullopt;
		writes++;
		record.resource_version = std::to_string(++version);
		return lease = std::move(record);
	}
};

struct Agent {
	LeaseJudge judge;
	PluginHello hello;
	bool has_link = false;

	Agent(const char *cluster, const char *host, std::int64_t since)
	    : judge("ns/lease", cluster)
	{
		hello.cluster_name = cluster;
		hello.host = host;
		hello.control_since_us = since;
	}
	void open(Now now)
	{
		has_link = true;
		judge.link_opened(hello, now);
		(void)judge.decide(now);
	}
	void close()
	{
		has_link = false;
		judge.link_closed();
	}
	std::string standing() const { return name_of(judge.state().standing); }
	/* reads the Lease, and writes it if it wants to */
	void look(Server &server, Now now)
	{
		if (has_link)
			judge.link_heard(now);
		judge.seen(server.lease, now);
		const auto wanted = judge.decide(now);
		if (!wanted)
			return;
		if (const auto written = server.write(*wanted)) {
			judge.written(*written, now);
			(void)judge.decide(now);
		}
	}
};

struct Stage {
	Server server;
	Now now{100 * k_second, 1'795'230'537};

	void pass(int seconds, std::initializer_list<Agent *> agents)
	{
		for (int i = 0; i < seconds; i++) {
			now.mono_us += k_second;
			now.wall_s++;
			if (i % 2)
				continue;
			for (Agent *agent : agents)
				agent->look(server, now);
		}
	}
};

void one_agent_writes_each_ten_seconds()
{
	Stage s;
	Agent a("a", "ctl1", 1);
	a.open(s.now);
	CHECK_EQUAL(a.standing(), "undecided");
	s.pass(2, {&a});
	CHECK_EQUAL(a.standing(), "free");
	CHECK_EQUAL(s.server.lease->holder, "a@ctl1_1");
	s.pass(600, {&a});
	CHECK(s.server.writes >= 50 && s.server.writes <= 61);
	CHECK_EQUAL(s.server.lease->transitions, 0);
	CHECK_EQUAL(s.server.lease->duration_seconds, 40);
}

void another_cluster_waits_until_the_lease_expires()
{
	Stage s;
	Agent a("a", "ctl1", 1), b("b", "ctl1", 2);
	a.open(s.now);
	s.pass(2, {&a});
	b.open(s.now);
	CHECK_EQUAL(b.standing(), "undecided");
	s.pass(600, {&a, &b});
	CHECK_EQUAL(a.standing() + " " + b.standing(), "free other");
	CHECK(lease_hold_text(b.judge.state())
			.find("Slurm cluster a, slurmctld on ctl1, and this") != std::string::npos);
	CHECK(lease_hold_text(b.judge.state())
			.find("that of Slurm cluster b, slurmctld on ctl1:") != std::string::npos);
	s.pass(30, {&b});
	CHECK_EQUAL(b.standing(), "other");
	s.pass(30, {&b});
	CHECK_EQUAL(b.standing(), "free");
	CHECK_EQUAL(s.server.lease->holder, "b@ctl1_2");
	CHECK_EQUAL(s.server.lease->transitions, 1);
	s.pass(60, {&a, &b}); /* the first one comes back */
	CHECK_EQUAL(a.standing() + " " + b.standing(), "other free");
}

void a_lease_that_was_deleted_is_free()
{
	Stage s;
	Agent a("a", "ctl1", 1), b("b", "ctl2", 2);
	a.open(s.now);
	b.open(s.now);
	s.pass(10, {&a, &b});
	CHECK_EQUAL(a.standing() + " " + b.standing(), "free other");
	s.server.lease.reset();
	s.pass(2, {&b});
	CHECK_EQUAL(b.standing(), "free");
	s.server.lease->holder.clear(); /* given up */
	s.server.lease->resource_version = "x";
	s.pass(2, {&a});
	CHECK_EQUAL(a.standing(), "free");
}

/* Both have the Lease read as absent; one is quicker. */
void only_one_of_two_that_begin_at_once_acts()
{
	Stage s;
	Agent a("a", "ctl1", 1), b("b", "ctl2", 2);
	for (Agent *one : {&a, &b}) {
		one->open(s.now);
		one->judge.seen(std::nullopt, s.now);
	}
	const auto of_a = a.judge.decide(s.now), of_b = b.judge.decide(s.now);
	REQUIRE(of_a && of_b);
	CHECK_EQUAL(a.standing() + " " + b.standing(), "undecided undecided");
	const auto written = s.server.write(*of_a);
	CHECK(!s.server.write(*of_b));
	a.judge.written(*written, s.now);
	(void)a.judge.decide(s.now);
	b.look(s.server, s.now);
	CHECK_EQUAL(a.standing() + " " + b.standing(), "free other");
}

void time_without_an_answer_does_not_count()
{
	Stage s;
	Agent a("a", "ctl1", 1), b("b", "ctl2", 2);
	a.open(s.now);
	b.open(s.now);
	s.pass(10, {&a, &b});
	s.pass(600, {}); /* the API server is away, for both */
	CHECK_EQUAL(a.standing() + " " + b.standing(), "free other");
	s.pass(2, {&b});
	CHECK_EQUAL(b.standing(), "other");
	s.pass(60, {&b, &a});
	CHECK_EQUAL(a.standing() + " " + b.standing(), "free other");
}

void a_failover_does_not_wait()
{
	Stage s;
	Agent a("a", "ctl1", 1), b("a", "ctl2", 2);
	a.open(s.now);
	s.pass(60, {&a, &b});
	CHECK_EQUAL(a.standing() + " " + b.standing(), "free free");
	for (int i = 0; i < 10; i++) {
		Agent &from = i % 2 ? b : a, &to = i % 2 ? a : b;
		from.close();
		to.hello.control_since_us += 100;
		to.open(s.now);
		CHECK_EQUAL(to.standing(), "free"); /* before anything is read or written */
		s.pass(4, {&a, &b});
		CHECK_EQUAL(a.standing() + " " + b.standing(), "free free");
		CHECK(s.server.lease->holder == text_of(to.judge.state().self));
	}
	b.hello.control_since_us += 1000; /* a restart, after a long time */
	a.close();
	s.pass(600, {&a, &b});
	b.open(s.now);
	CHECK_EQUAL(b.standing(), "free");
}

/* slurmctld on ctl1 hangs, and its link is still open. */
void a_hung_controller_does_not_take_the_lease_back()
{
	Stage s;
	Agent a("a", "ctl1", 1), b("a", "ctl2", 2);
	a.open(s.now);
	s.pass(60, {&a});
	a.has_link = false;
	s.pass(8, {&a});
	b.open(s.now);
	s.pass(60, {&a, &b});
	CHECK_EQUAL(b.standing(), "free");
	CHECK_EQUAL(s.server.lease->holder, "a@ctl2_2");
	CHECK_EQUAL(s.server.lease->transitions, 1);
}

void of_a_controller_and_its_copy_the_second_stops()
{
	Stage s;
	Agent a("a", "ctl1", 1), copy("a", "ctl1", 2);
	a.open(s.now);
	s.pass(60, {&a});
	copy.open(s.now);
	s.pass(10, {&copy, &a});
	CHECK_EQUAL(a.standing() + " " + copy.standing(), "free contested");
	s.pass(3600, {&a, &copy});
	CHECK_EQUAL(a.standing() + " " + copy.standing(), "free contested");
	CHECK_EQUAL(s.server.lease->holder, "a@ctl1_1");
	CHECK(s.server.lease->transitions <= 4);
	CHECK(lease_hold_text(copy.judge.state()).starts_with("two controllers of one Slurm cl"));
	/* restarts of the first one's slurmctld, and of the second's */
	a.close();
	s.pass(20, {&a, &copy});
	a.hello.control_since_us = 3;
	a.open(s.now);
	copy.close();
	copy.hello.control_since_us = 4;
	copy.open(s.now);
	s.pass(20, {&a, &copy});
	CHECK_EQUAL(a.standing() + " " + copy.standing(), "free contested");
	a.close(); /* a person has decided for the copy */
	s.pass(60, {&a, &copy});
	CHECK_EQUAL(copy.standing(), "free");
	CHECK_EQUAL(s.server.lease->holder, "a@ctl1_4");
}

/* A moment ago, slurmctld and the agent of the first controller were restarted. */
void a_restart_just_before_does_not_make_the_first_one_second()
{
	for (const bool is_new_agent : {false, true}) {
		Stage s;
		Agent old("a", "ctl1", 1);
		old.open(s.now);
		s.pass(60, {&old});
		old.close();
		Agent fresh("a", "ctl1", 3), copy("a", "ctl1", 4);
		Agent &a = is_new_agent ? fresh : old;
		a.hello.control_since_us = 3;
		a.open(s.now);
		s.pass(4, {&a});
		copy.open(s.now);
		s.pass(30, {&a, &copy});
		CHECK_EQUAL(a.standing() + " " + copy.standing(), "free contested");
		CHECK_EQUAL(s.server.lease->holder, "a@ctl1_3");
	}
}

/* In the midst of the contest, the first slurmctld is restarted. */
void a_contest_ends_although_a_controller_is_restarted()
{
	Stage s;
	Agent a("a", "ctl1", 1), copy("a", "ctl1", 2);
	a.open(s.now);
	s.pass(60, {&a});
	copy.open(s.now);
	s.pass(2, {&copy, &a});
	for (int i = 0; i < 3; i++) {
		Agent &one = i % 2 ? copy : a;
		one.close();
		one.hello.control_since_us += 10;
		one.open(s.now);
		s.pass(2, {&one, i % 2 ? &a : &copy});
	}
	s.pass(60, {&copy, &a});
	const std::string both = a.standing() + " " + copy.standing();
	CHECK(both == "free contested" || both == "contested free");
	const std::int64_t transitions = s.server.lease->transitions;
	s.pass(600, {&copy, &a});
	CHECK_EQUAL(s.server.lease->transitions, transitions);
}

/* The agent of the first controller is restarted meanwhile and remembers nothing. */
void the_second_stops_although_the_first_agent_is_new()
{
	for (const bool is_copy_first : {false, true}) {
		Stage s;
		Agent a("a", "ctl1", 1), copy("a", "ctl2", 2);
		a.open(s.now);
		s.pass(60, {&a});
		copy.open(s.now);
		s.pass(1, {&copy});
		Agent restarted("a", "ctl1", 1);
		restarted.open(s.now);
		for (int i = 0; i < 30; i++) {
			if (is_copy_first)
				s.pass(2, {&copy, &restarted});
			else
				s.pass(2, {&restarted, &copy});
		}
		const std::string both = restarted.standing() + " " + copy.standing();
		CHECK(both == "free contested" || both == "contested free");
		CHECK(s.server.lease->transitions <= 5);
	}
}

/* Reads succeed and renewals do not: another agent counts from the last renewal. */
void a_lease_that_is_not_renewed_is_not_fresh()
{
	Stage s;
	Agent a("a", "ctl1", 1);
	a.open(s.now);
	s.pass(2, {&a});
	CHECK_EQUAL(s.server.writes, 1);
	const std::int64_t renewed_us = s.now.mono_us;
	for (const std::int64_t seconds : {10, 20, 30, 40}) {
		s.now.mono_us = renewed_us + seconds * k_second;
		a.judge.link_heard(s.now);
		a.judge.not_written("may not update", true, s.now);
		a.judge.seen(s.server.lease, s.now);
		(void)a.judge.decide(s.now);
		CHECK_EQUAL(core::is_fresh(a.judge.state(), s.now), seconds < 34);
	}
}

void a_lease_that_was_not_there_is_told()
{
	Stage s;
	Agent first("a", "ctl1", 1), second("a", "ctl1", 1), standby("a", "ctl2", 0);
	first.open(s.now);
	standby.judge.seen(std::nullopt, s.now);
	s.pass(4, {&first});
	CHECK(first.judge.state().is_new);
	/* it has seen who led */
	standby.judge.seen(s.server.lease, s.now);
	standby.open(s.now);
	s.pass(4, {&standby});
	CHECK(!standby.judge.state().is_new);
	second.judge.seen(s.server.lease, s.now);
	second.judge.seen(std::nullopt, s.now);
	CHECK(!second.judge.state().is_new);
}

void without_rights_the_agent_goes_on()
{
	Stage s;
	Agent a("a", "ctl1", 1);
	a.open(s.now);
	a.judge.not_read("no answer", false, s.now);
	(void)a.judge.decide(s.now);
	CHECK_EQUAL(a.standing(), "undecided");
	/* an API server that has just started refuses everything for a moment */
	a.judge.not_read("leases is forbidden", true, s.now);
	CHECK(!a.judge.decide(s.now));
	CHECK_EQUAL(a.standing(), "undecided");
	s.now.mono_us += 9 * k_second;
	a.judge.not_read("no answer", false, s.now);
	s.now.mono_us += k_second;
	a.judge.not_read("leases is forbidden", true, s.now);
	(void)a.judge.decide(s.now);
	CHECK_EQUAL(a.standing(), "undecided");
	s.now.mono_us += 10 * k_second;
	a.judge.link_heard(s.now);
	a.judge.not_read("leases is forbidden", true, s.now);
	CHECK(!a.judge.decide(s.now));
	CHECK_EQUAL(a.standing(), "free");
	CHECK(lease_trouble_text(a.judge.state()).starts_with("leases is forbidden; a second"));
	a.judge.not_read("no answer", false, s.now);
	CHECK(!a.judge.decide(s.now));
	CHECK_EQUAL(a.standing(), "free");
	a.judge.seen(std::nullopt, s.now);
	CHECK(a.judge.decide(s.now).has_value());
	a.judge.not_written("may not create", true, s.now);
	CHECK(!a.judge.decide(s.now));
	CHECK_EQUAL(a.standing(), "free");
	s.pass(4, {&a}); /* nothing is written for a while */
	CHECK_EQUAL(s.server.writes, 0);
	s.pass(8, {&a}); /* the rights have been granted */
	CHECK_EQUAL(s.server.writes, 1);
	CHECK_EQUAL(lease_trouble_text(a.judge.state()), "");
}

/* Rights that are lost do not let a second Slurm cluster act. */
void without_rights_the_agent_of_another_cluster_waits_on()
{
	Stage s;
	Agent a("a", "ctl1", 1), b("b", "ctl2", 2);
	a.open(s.now);
	b.open(s.now);
	s.pass(10, {&a, &b});
	b.judge.not_read("leases is forbidden", true, s.now);
	s.now.mono_us += 3600 * k_second;
	b.judge.link_heard(s.now);
	CHECK(!b.judge.decide(s.now));
	CHECK_EQUAL(b.standing(), "other");
}

/* ---- texts ---- */

void a_holder_is_written_and_read()
{
	for (const LeaseHolder &one : {holder("prod", "ctl-1", 1'795'230'537'000'007),
		     holder("a@b_c", "h_1", 0), holder("", "", 5)})
		CHECK(lease_holder_of(text_of(one)) == one);
	CHECK_EQUAL(text_of(holder("prod", "ctl1", 7)), "prod@ctl1_7");
	for (const char *other : {"kube-scheduler_3b2", "x@y", "x_1@y", "x@y_", "x@y_1z", ""})
		CHECK_EQUAL(lease_holder_of(other).cluster, other);
}

void each_scheduler_name_has_its_own_lease()
{
	CHECK_EQUAL(lease_name("slurm"), "slurmkubed-slurm");
	CHECK(lease_name("a_b") != lease_name("a.b"));
	CHECK(lease_name("Slurm") != lease_name("slurm"));
	for (const std::string name : {"a_b", "Slurm", "a.b", "a-", "-", ""}) {
		CHECK_EQUAL(lease_name(name).size(), std::string("slurmkubed-x.").size() + 16);
		CHECK_EQUAL(lease_name(name).find_first_not_of(
				    "abcdefghijklmnopqrstuvwxyz0123456789-."),
			std::string::npos);
	}
	CHECK(lease_name(std::string(300, 'a')).size() < 253);
}

} // namespace

int main()
{
	return check::run_tests("lease",
		{
			TEST(each_decision),
			TEST(one_agent_writes_each_ten_seconds),
			TEST(another_cluster_waits_until_the_lease_expires),
			TEST(a_lease_that_was_deleted_is_free),
			TEST(only_one_of_two_that_begin_at_once_acts),
			TEST(time_without_an_answer_does_not_count),
			TEST(a_failover_does_not_wait),
			TEST(a_hung_controller_does_not_take_the_lease_back),
			TEST(of_a_controller_and_its_copy_the_second_stops),
			TEST(a_restart_just_before_does_not_make_the_first_one_second),
			TEST(a_contest_ends_although_a_controller_is_restarted),
			TEST(the_second_stops_although_the_first_agent_is_new),
			TEST(a_lease_that_is_not_renewed_is_not_fresh),
			TEST(a_lease_that_was_not_there_is_told),
			TEST(without_rights_the_agent_goes_on),
			TEST(without_rights_the_agent_of_another_cluster_waits_on),
			TEST(a_holder_is_written_and_read),
			TEST(each_scheduler_name_has_its_own_lease),
		});
}
