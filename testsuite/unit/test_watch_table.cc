/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which lines a watcher gets: of what it may see and wants, the newest row of each object once. */
#include "src/agent/watch/table.h"
#include "testsuite/unit/check.h"

using namespace slurmkube;
using namespace slurmkube::watch;

namespace
{

constexpr std::size_t k_enough = 1000;

ObjectId pod_id(const std::string &uid)
{
	return {.kind = core::ListKind::pods, .number = 0, .name = uid};
}

/* Pods by uid, each with a row, a user and labels. */
class Pods : public Objects
{
      public:
	struct Pod {
		std::string row;
		std::int64_t user = -1;
		std::map<std::string, std::string> labels = {};
	};
	std::optional<Sight> look(const ObjectId &id) override
	{
		looks++;
		const auto found = pods.find(id.name);
		if (found == pods.end())
			return std::nullopt;
		return Sight{.row = found->second.row,
			.identity = "\"" + id.name + "\"",
			.facts = {.labels = &found->second.labels, .user = found->second.user}};
	}
	[[nodiscard]] std::optional<ObjectId> after(const ObjectId &id) const override
	{
		const auto found = pods.upper_bound(id.name);
		return found == pods.end() ? std::nullopt : std::optional(pod_id(found->first));
	}

	std::map<std::string, Pod> pods;
	std::size_t looks = 0;
};

Wish all_of(ctl::Peer peer = {.user = 0, .is_operator = true})
{
	Wish wish{.peer = peer, .selections = {}};
	for (auto &selection : wish.selections)
		selection = core::Selection{};
	return wish;
}

struct Stage {
	Pods pods;
	Table table{pods};

	void set(const std::string &uid, const std::string &row, std::int64_t user = 1)
	{
		pods.pods[uid].row = row;
		pods.pods[uid].user = user;
		table.look(pod_id(uid));
	}
	void remove(const std::string &uid)
	{
		pods.pods.erase(uid);
		table.look(pod_id(uid));
	}
	/* Joins, and compares all objects once. */
	std::size_t join(const Wish &wish = all_of())
	{
		const auto watcher = table.join(wish);
		table.walk(k_enough);
		return watcher.value_or(k_watchers_max);
	}
	/* The events for the watcher in short: "+a=1 a=2 -"a" ." for added, changed, gone,
	 * synced. */
	std::string events(std::size_t watcher, std::size_t most = k_enough)
	{
		std::string all;
		for (std::string line; most > 0 && table.next(watcher, most, line); line.clear())
			all += (all.empty() ? "" : " ") + brief(line);
		return all;
	}
	static std::string brief(const std::string &line)
	{
		if (line == "{\"type\":\"synced\"}\n")
			return ".";
		const std::size_t at = line.find("\"object\":") + 9;
		const std::string object = line.substr(at, line.size() - 2 - at);
		const char *sign = line.find("\"added\"") != std::string::npos ? "+"
			: line.find("\"gone\"") != std::string::npos           ? "-"
									       : "";
		return sign + object;
	}
};

void what_is_there_comes_first_and_then_the_changes()
{
	Stage s;
	s.pods.pods = {{"a", {"1"}}, {"b", {"2"}}};
	const std::size_t watcher = s.join();
	CHECK_EQUAL(s.events(watcher), "+1 +2 .");
	s.set("b", "3");
	s.set("c", "4");
	CHECK_EQUAL(s.events(watcher), "3 +4");
	s.remove("a");
	CHECK_EQUAL(s.events(watcher), "-\"a\"");
	CHECK_EQUAL(s.events(watcher), "");
	CHECK(!s.table.has_more(watcher));
}

void an_event_is_one_line()
{
	Stage s;
	s.pods.pods = {{"a", {"{\"x\":1}"}}};
	const std::size_t watcher = s.join();
	std::string lines;
	std::size_t most = k_enough;
	CHECK(s.table.next(watcher, most, lines));
	CHECK_EQUAL(lines, "{\"type\":\"added\",\"kind\":\"pod\",\"object\":{\"x\":1}}\n");
}

/* A look at an object that has not changed, even at one that does not exist, is no event. */
void only_changes_are_told()
{
	Stage s;
	const std::size_t watcher = s.join();
	CHECK_EQUAL(s.events(watcher), ".");
	s.set("a", "1");
	s.set("a", "1");
	CHECK_EQUAL(s.events(watcher), "+1");
	s.set("a", "1");
	s.remove("b");
	CHECK_EQUAL(s.events(watcher), "");
}

void a_slow_watcher_gets_the_newest_row_only()
{
	Stage s;
	const std::size_t slow = s.join(), quick = s.join();
	CHECK_EQUAL(s.events(quick), ".");
	for (int i = 0; i < 100; i++) {
		s.set("a", std::to_string(i));
		s.set("short-lived", "x");
		s.remove("short-lived");
		(void)s.events(quick);
	}
	CHECK_EQUAL(s.events(slow), ". +99");
	s.remove("a");
	s.set("a", "back");
	CHECK_EQUAL(s.events(slow), "back");
}

void a_watcher_that_joins_later_gets_all()
{
	Stage s;
	const std::size_t first = s.join();
	s.set("a", "1");
	s.set("b", "2");
	const std::size_t second = s.join();
	CHECK_EQUAL(s.events(second), "+1 +2 .");
	CHECK_EQUAL(s.events(first), ". +1 +2");
	s.set("a", "3");
	CHECK_EQUAL(s.events(first) + "|" + s.events(second), "3|3");
}

/* The mark comes after all that the walk finds, however many pieces it has. */
void the_first_walk_may_take_several_pieces()
{
	Stage s;
	for (int i = 0; i < 10; i++)
		s.pods.pods["p" + std::to_string(i)] = {std::to_string(i)};
	const auto watcher = s.table.join(all_of());
	REQUIRE(watcher.has_value());
	std::string all;
	for (int i = 0; i < 6; i++) {
		CHECK(s.table.is_complete() == (i > 5));
		s.table.walk(2);
		all += s.events(*watcher) + ";";
	}
	CHECK_EQUAL(all, "+0 +1;+2 +3;+4 +5;+6 +7;+8 +9;.;");
}

/* Whoever asks for a walk during a walk gets another one, and the first one comes to its end. */
void a_walk_is_not_begun_anew_for_ever()
{
	Stage s;
	for (int i = 0; i < 10; i++)
		s.pods.pods["p" + std::to_string(i)] = {std::to_string(i)};
	const auto watcher = s.table.join(all_of());
	REQUIRE(watcher.has_value());
	for (int i = 0; i < 6; i++) {
		s.table.begin_walk();
		s.table.walk(2);
	}
	CHECK(s.table.is_complete());
	CHECK(s.table.is_walking());
	s.table.walk(k_enough);
	CHECK(!s.table.is_walking());
}

/* What the log of changes has missed. */
void a_walk_finds_what_has_changed()
{
	Stage s;
	s.pods.pods = {{"a", {"1"}}, {"b", {"2"}}};
	const std::size_t watcher = s.join();
	(void)s.events(watcher);
	s.pods.pods = {{"b", {"3"}}, {"c", {"4"}}};
	s.table.begin_walk();
	s.table.walk(k_enough);
	CHECK_EQUAL(s.events(watcher), "-\"a\" 3 +4");
}

void users_see_their_own_only()
{
	Stage s;
	const std::size_t user = s.join(all_of({.user = 7, .is_operator = false}));
	s.set("mine", "1", 7);
	s.set("hers", "2", 8);
	s.set("unknown", "3", -1);
	CHECK_EQUAL(s.events(user), ". +1");
	s.set("hers", "4", 8);
	s.remove("hers");
	CHECK_EQUAL(s.events(user), "");
	s.set("mine", "secret", 8);
	CHECK_EQUAL(s.events(user), "-\"mine\"");
	s.set("mine", "secret too", 8);
	CHECK_EQUAL(s.events(user), "");
	s.set("mine", "1", 7);
	CHECK_EQUAL(s.events(user), "+1");
}

/* The rows of others are not even made for the user. */
void what_a_user_may_not_see_costs_no_look()
{
	Stage s;
	(void)s.join();
	for (int i = 0; i < 100; i++)
		s.set("p" + std::to_string(i), "x", 8);
	const std::size_t before = s.pods.looks;
	const std::size_t user = s.join(all_of({.user = 7, .is_operator = false}));
	CHECK_EQUAL(s.events(user), ".");
	CHECK_EQUAL(s.pods.looks, before);
}

void a_selection_is_judged_at_each_change()
{
	Stage s;
	Wish wish = all_of();
	auto &labels = wish.selections[static_cast<std::size_t>(core::ListKind::pods)];
	const auto selection = core::parse_selection(core::ListKind::pods, {.labels = "app=web"});
	REQUIRE(selection.ok());
	labels = *selection;
	const std::size_t watcher = s.join(wish);
	s.set("a", "1");
	CHECK_EQUAL(s.events(watcher), ".");
	/* labels are not in the row */
	s.pods.pods["a"].labels = {{"app", "web"}};
	s.set("a", "1");
	CHECK_EQUAL(s.events(watcher), "+1");
	s.pods.pods["a"].labels.clear();
	s.set("a", "1");
	CHECK_EQUAL(s.events(watcher), "-\"a\"");
	Wish no_pods = all_of();
	no_pods.selections[static_cast<std::size_t>(core::ListKind::pods)].reset();
	CHECK_EQUAL(s.events(s.join(no_pods)), ".");
}

/* Numbers of watchers are used again, and the next one begins with nothing. */
void a_watcher_that_leaves_leaves_nothing()
{
	Stage s;
	const std::size_t first = s.join();
	s.set("a", "1");
	(void)s.events(first);
	s.set("b", "2");
	s.table.leave(first);
	const std::size_t second = s.join();
	CHECK_EQUAL(first, second);
	CHECK_EQUAL(s.events(second), "+1 +2 .");
}

void there_are_so_many_places()
{
	Stage s;
	for (std::size_t i = 0; i < k_watchers_max; i++)
		CHECK_EQUAL(s.join(), i);
	CHECK(!s.table.join(all_of()).has_value());
	s.table.leave(3);
	CHECK_EQUAL(s.join(), std::size_t{3});
}

/* So one watcher delays no other. */
void the_work_for_one_watcher_is_bounded()
{
	Stage s;
	const std::size_t user = s.join(all_of({.user = 7, .is_operator = false}));
	for (int i = 0; i < 10; i++)
		s.set("p" + std::to_string(i), "x", 8);
	const std::size_t late = s.join(all_of({.user = 9, .is_operator = false}));
	CHECK_EQUAL(s.events(user), ".");
	std::string lines;
	std::size_t most = 4;
	CHECK(!s.table.next(late, most, lines));
	CHECK_EQUAL(most, std::size_t{0});
	CHECK(s.table.has_more(late));
	CHECK_EQUAL(s.events(late), ".");
}

} // namespace

int main()
{
	return check::run_tests("watch_table",
		{
			TEST(what_is_there_comes_first_and_then_the_changes),
			TEST(an_event_is_one_line),
			TEST(only_changes_are_told),
			TEST(a_slow_watcher_gets_the_newest_row_only),
			TEST(a_watcher_that_joins_later_gets_all),
			TEST(the_first_walk_may_take_several_pieces),
			TEST(a_walk_is_not_begun_anew_for_ever),
			TEST(a_walk_finds_what_has_changed),
			TEST(users_see_their_own_only),
			TEST(what_a_user_may_not_see_costs_no_look),
			TEST(a_selection_is_judged_at_each_change),
			TEST(a_watcher_that_leaves_leaves_nothing),
			TEST(there_are_so_many_places),
			TEST(the_work_for_one_watcher_is_bounded),
		});
}
