/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/model/names.h"
#include "src/core/policy/identity_rules.h"
#include "src/core/translate/translate.h"
#include "src/core/world/world.h"
#include "testsuite/unit/builders.h"
#include "testsuite/unit/check.h"

using namespace slurmkube;
using namespace slurmkube::core;
using namespace slurmkube::check;

namespace
{

NamespaceRule rule(const char *name_space, std::uint32_t user_id)
{
	NamespaceRule r{.name_space = name_space,
		.user_id = user_id,
		.group_id = user_id,
		.accounts = {},
		.partitions = {},
		.qos = {}};
	return r;
}

NamespaceRule selecting(const char *selector, std::uint32_t user_id)
{
	NamespaceRule r = rule("", user_id);
	r.selector = parse_label_selector(selector).value();
	r.selector_text = selector;
	return r;
}

NamespaceRule annotated()
{
	NamespaceRule r = rule("", 0);
	r.user_from = "id/user";
	r.accounts_from = "id/accounts";
	r.qos_from = "id/qos";
	r.accounts = {"fallback"};
	return r;
}

Namespace seen(const char *name, std::map<std::string, std::string> labels,
	std::map<std::string, std::string> annotations = {})
{
	return {.name = name,
		.uid = std::string("uid-") + name,
		.labels = std::move(labels),
		.annotations = std::move(annotations)};
}

struct Case {
	std::vector<NamespaceRule> rules;
	IdentityFacts facts;
	[[nodiscard]] Result<NamespaceRule> of(const char *name) const
	{
		return rule_of({rules, 1000, facts}, name);
	}
	[[nodiscard]] std::string error(const char *name) const
	{
		return of(name) ? "" : of(name).error().what;
	}
	void add(const Namespace &one) { facts.namespaces[one.name] = one; }
};

void selectors_match_as_kubectl_does()
{
	const std::map<std::string, std::string> labels = {
		{"team", "physics"}, {"tier", "a"}, {"empty", ""}};
	const struct {
		const char *text;
		bool fits;
	} rows[] = {
		{"team=physics", true},
		{"team==physics", true},
		{" team = physics , tier in (b, a) ", true},
		{"team=chemistry", false},
		{"team!=chemistry", true},
		{"team!=physics", false},
		{"absent!=x", true},
		{"tier notin (a,b)", false},
		{"absent notin (a)", true},
		{"tier in (b)", false},
		{"team", true},
		{"!team", false},
		{"!absent", true},
		{"empty=", true},
		{"team=physics,!tier", false},
	};
	for (const auto &row : rows) {
		const auto selector = parse_label_selector(row.text);
		(void)check::record(selector && matches(*selector, labels) == row.fits, row.text,
			__FILE__, __LINE__);
	}
	for (const char *wrong : {"", ",", "a,", "=b", "a in b", "a in (b", "a b", "in (a)",
		     "a/b/c", "a=b c", "a=(b)", "!", "a>3", "a like (b)"})
		(void)check::record(!parse_label_selector(wrong).ok(), wrong, __FILE__, __LINE__);
	CHECK(parse_label_selector(std::string(5000, 'a')).error().code == Errc::too_large);
}

void the_first_rule_that_matches_holds()
{
	const Case c{{rule("a", 1001), rule("b", 1002), rule("*", 1003)}, {}};
	CHECK_EQUAL(c.of("a")->user_id, 1001U);
	CHECK_EQUAL(c.of("b")->user_id, 1002U);
	CHECK_EQUAL(c.of("c")->user_id, 1003U);
	const Case none{{rule("a", 1001)}, {}};
	CHECK(none.of("c").error().code == Errc::denied);
	CHECK(none.error("c").find("namespace c may not use Slurm") == 0);
}

void labels_decide_once_the_namespace_is_known()
{
	Case c{{rule("named", 1001), selecting("team=physics", 1002), rule("*", 1003)}, {}};
	CHECK_EQUAL(c.of("named")->user_id, 1001U);
	CHECK(!c.of("lab") && c.of("lab").error().code == Errc::again);
	CHECK(c.error("lab").find("namespace lab has not been seen yet") == 0);
	c.add(seen("lab", {{"team", "physics"}}));
	c.add(seen("other", {}));
	CHECK_EQUAL(c.of("lab")->user_id, 1002U);
	CHECK_EQUAL(c.of("other")->user_id, 1003U);
	/* the next namespace of that name may have other labels */
	c.facts.namespaces["lab"].deleting = true;
	CHECK(!c.of("lab") && c.of("lab").error().code == Errc::again);
}

void all_that_a_rule_asks_for_must_hold()
{
	NamespaceRule both = selecting("team=physics", 1001);
	both.name_space = "lab";
	both.annotation_key = "pays";
	both.annotation_value = "yes";
	Case c{{both}, {}};
	c.add(seen("lab", {{"team", "physics"}}, {{"pays", "yes"}}));
	CHECK(c.of("lab").ok());
	c.add(seen("lab", {{"team", "physics"}}, {{"pays", "no"}}));
	CHECK(!c.of("lab").ok());
	c.add(seen("lab", {}, {{"pays", "yes"}}));
	CHECK(!c.of("lab").ok());
	c.add(seen("elsewhere", {{"team", "physics"}}, {{"pays", "yes"}}));
	CHECK(!c.of("elsewhere").ok());
}

void annotations_name_the_user()
{
	Case c{{annotated(), rule("*", 65534)}, {}};
	c.add(seen("lab", {}, {{"id/user", "phys"}, {"id/accounts", "one, two"}}));
	CHECK(c.of("lab").error().code == Errc::again);
	CHECK(person_wanted({c.rules, 1000, c.facts}, "lab") == "phys");
	c.facts.users.insert_or_assign("phys", Result<SlurmUser>(SlurmUser{1001, 100}));
	REQUIRE(c.of("lab").ok());
	CHECK_EQUAL(c.of("lab")->user_id, 1001U);
	CHECK_EQUAL(c.of("lab")->group_id, 100U);
	CHECK((c.of("lab")->accounts == std::vector<std::string>{"one", "two"}));
	CHECK(!person_wanted({c.rules, 1000, c.facts}, "lab"));
	c.add(seen("guest", {}));
	CHECK_EQUAL(c.of("guest")->user_id, 65534U);
	c.add(seen("plain", {}, {{"id/user", "phys"}}));
	CHECK((c.of("plain")->accounts == std::vector<std::string>{"fallback"}));
	c.rules[0].has_group = true;
	c.rules[0].group_id = 7;
	CHECK_EQUAL(c.of("lab")->group_id, 7U);
}

void annotations_that_name_what_they_may_not_are_refused()
{
	const struct {
		const char *key, *value, *part;
	} rows[] = {
		{"id/user", "root", "is uid 0, below identity.min_uid (1000)"},
		{"id/user", "daemon", "below identity.min_uid"},
		{"id/user", "ghost",
			"its annotation id/user='ghost' names no user: no user on this machine is "
			"called 'ghost'"},
		{"id/user", "", "is no user's name"},
		{"id/user", "a b", "is no user's name"},
		{"id/user", "x\ny", "is no user's name"},
		{"id/accounts", "", "is no list of names"},
		{"id/accounts", "a,,b", "is no list of names"},
		{"id/accounts", "a,", "is no list of names"},
		{"id/qos", "high low", "is no list of names"},
	};
	for (const auto &row : rows) {
		Case c{{annotated(), rule("*", 65534)}, {}};
		for (const auto &[name, uid] : {std::pair("root", 0U), std::pair("daemon", 999U),
			     std::pair("phys", 1001U)})
			c.facts.users.insert_or_assign(
				name, Result<SlurmUser>(SlurmUser{uid, uid}));
		c.facts.users.insert_or_assign("ghost",
			Result<SlurmUser>(Error{
				Errc::not_found, "no user on this machine is called 'ghost'"}));
		Namespace lab = seen("lab", {}, {{"id/user", "phys"}});
		lab.annotations[row.key] = row.value;
		c.add(lab);
		const auto got = c.of("lab");
		const bool refused = !got && got.error().code == Errc::denied &&
			got.error().what.find(row.part) != std::string::npos &&
			got.error().what.find(row.key) != std::string::npos;
		(void)check::record(refused, row.value, __FILE__, __LINE__,
			got ? "accepted" : got.error().what);
	}
	Case c{{annotated()}, {}};
	std::string many = "a";
	for (int i = 0; i < 64; i++)
		many += ",a";
	c.add(seen("lab", {}, {{"id/user", "phys"}, {"id/accounts", many}}));
	CHECK(c.error("lab").find("more than 64 names") != std::string::npos);
}

void texts_name_the_rule()
{
	Case c{{rule("lab", 1001), selecting("team=physics", 1002)}, {}};
	c.rules[0].user = "phys";
	c.add(seen("x", {{"team", "physics"}}));
	CHECK_EQUAL(
		as_whom(*c.of("lab")), "user phys (uid 1001) by identity rule 1 (namespace lab)");
	CHECK_EQUAL(
		as_whom(*c.of("x")), "user uid 1002 by identity rule 2 (selector team=physics)");
}

void permissions_are_listed()
{
	NamespaceRule r = rule("a", 1);
	CHECK(!may(r, "may_set_priority"));
	r.permissions = {"may_set_priority"};
	CHECK(may(r, "may_set_priority") && !may(r, "may_fly"));
}

/* ---- in World: waiting pods are reconsidered ---- */

constexpr Now at(std::int64_t seconds)
{
	return {.mono_us = seconds * 1'000'000, .wall_s = 1'700'000'000 + seconds};
}

World world_with(std::vector<NamespaceRule> rules)
{
	Settings settings;
	settings.policy.cluster = "main";
	settings.policy.namespaces = std::move(rules);
	World world(settings);
	Pod pod = make_pod("lab", "p", "u");
	world.observe(PodSeen{pod}, at(1));
	world.observe(PodsListed{{"u"}}, at(1));
	world.observe(NodesListed{{}});
	world.observe(LinkOpened{{}});
	world.observe(SnapshotEnded{}, at(1));
	return world;
}

const JobSpec *submitted(const std::vector<World::PodAction> &actions)
{
	const auto *submit =
		actions.size() == 1 ? std::get_if<Submit>(&actions.front().action) : nullptr;
	return submit ? &submit->spec : nullptr;
}

void a_pod_waits_for_its_namespace()
{
	World world = world_with({selecting("team=physics", 1002), rule("*", 65534)});
	CHECK(world.take_actions(at(1)).empty()); /* a wait this short is not reported */
	const auto late = world.take_actions(at(3));
	REQUIRE(late.size() == 1 && std::holds_alternative<Report>(late.front().action));
	CHECK_EQUAL(std::get<Report>(late.front().action).not_scheduled.reason,
		names::k_reason_retrying);
	world.observe(NamespaceSeen{seen("elsewhere", {{"team", "physics"}})});
	CHECK(world.take_actions(at(4)).empty());
	world.observe(NamespaceSeen{seen("lab", {{"team", "physics"}})});
	const auto then = world.take_actions(at(5));
	REQUIRE(submitted(then));
	CHECK_EQUAL(submitted(then)->user_id, 1002U);
	CHECK_EQUAL(submitted(then)->as_whom,
		"user uid 1002 by identity rule 1 (selector team=physics)");
}

void a_pod_waits_for_its_user()
{
	World world = world_with({annotated()});
	world.observe(NamespaceSeen{seen("lab", {}, {{"id/user", "phys"}, {"unread", "x"}})});
	CHECK(world.take_actions(at(1)).empty());
	CHECK(world.users_wanted() == std::set<std::string>{"phys"});
	CHECK(!world.state()
			.settings.policy.identity_facts.namespaces.at("lab")
			.annotations.contains("unread"));
	world.observe(UserFound{
		"phys", Error{Errc::not_found, "no user on this machine is called 'phys'"}});
	const auto refused = world.take_actions(at(2));
	REQUIRE(refused.size() == 1 && std::holds_alternative<Report>(refused.front().action));
	CHECK_EQUAL(std::get<Report>(refused.front().action).not_scheduled.reason,
		names::k_reason_refused);
	CHECK(world.users_wanted() == std::set<std::string>{"phys"}); /* he may come into being */
	world.observe(UserFound{"phys", SlurmUser{1001, 100}});
	const auto then = world.take_actions(at(3));
	REQUIRE(submitted(then));
	CHECK_EQUAL(submitted(then)->user_id, 1001U);
}

void a_namespace_that_is_gone_is_forgotten()
{
	World world = world_with({selecting("team=physics", 1002)});
	world.observe(NamespaceSeen{seen("lab", {{"team", "physics"}})});
	world.observe(NamespaceSeen{seen("other", {})});
	world.observe(NamespacesListed{{"uid-other"}});
	CHECK(!world.state().settings.policy.identity_facts.namespaces.contains("lab"));
	CHECK(world.take_actions(at(1)).empty());
	world.observe(NamespaceGone{"other"});
	CHECK(world.state().settings.policy.identity_facts.namespaces.empty());
}

void other_rules_hold_once_the_namespaces_are_told_anew()
{
	World world = world_with({rule("lab", 1001)});
	world.observe(NamespaceSeen{seen("lab", {}, {{"id/user", "phys"}})});
	world.observe(IdentityRulesSet{{annotated()}, 1000});
	CHECK(world.take_actions(at(1)).empty()); /* annotations that no rule used were not kept */
	world.observe(NamespaceSeen{seen("lab", {}, {{"id/user", "phys"}})});
	world.observe(UserFound{"phys", SlurmUser{1002, 100}});
	const auto then = world.take_actions(at(2));
	REQUIRE(submitted(then));
	CHECK_EQUAL(submitted(then)->user_id, 1002U);
}

} // namespace

int main()
{
	return check::run_tests("identity_rules",
		{
			TEST(selectors_match_as_kubectl_does),
			TEST(the_first_rule_that_matches_holds),
			TEST(labels_decide_once_the_namespace_is_known),
			TEST(all_that_a_rule_asks_for_must_hold),
			TEST(annotations_name_the_user),
			TEST(annotations_that_name_what_they_may_not_are_refused),
			TEST(texts_name_the_rule),
			TEST(permissions_are_listed),
			TEST(a_pod_waits_for_its_namespace),
			TEST(a_pod_waits_for_its_user),
			TEST(a_namespace_that_is_gone_is_forgotten),
			TEST(other_rules_hold_once_the_namespaces_are_told_anew),
		});
}
