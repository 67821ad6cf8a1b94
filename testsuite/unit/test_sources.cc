/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/sources.h"
#include "testsuite/unit/check.h"

using namespace slurmkube;
using namespace slurmkube::agent;

namespace
{

constexpr Kind k_all[] = {Kind::pods, Kind::foreign_pods, Kind::nodes, Kind::namespaces,
	Kind::claims, Kind::volumes, Kind::classes, Kind::slices, Kind::device_classes,
	Kind::taint_rules};

codec::Json parsed(const char *text)
{
	auto json = codec::parse_json(text, 10'000);
	return json ? std::move(*json) : codec::Json();
}

void each_kind_has_its_row()
{
	for (const Kind kind : k_all)
		CHECK(row_of(kind).kind == kind);
}

void pods_are_ours_or_others()
{
	Config config;
	config.scheduler_name = "mine";
	const kube::WatchOptions ours = row_of(Kind::pods).options(config).at(0);
	const kube::WatchOptions others = row_of(Kind::foreign_pods).options(config).at(0);
	CHECK_EQUAL(ours.path, "/api/v1/pods");
	CHECK_EQUAL(others.path, ours.path);
	CHECK_EQUAL(ours.field_selector, "spec.schedulerName=mine");
	CHECK_EQUAL(others.field_selector,
		"spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed,"
		"spec.schedulerName!=mine");
	CHECK(ours.accept == kube::k_protobuf && others.accept == kube::k_protobuf);
}

void pods_may_have_other_names()
{
	Config config;
	config.scheduler_name = "mine";
	config.scheduler_aliases = {"a", "b"};
	std::string ours;
	for (const kube::WatchOptions &one : row_of(Kind::pods).options(config))
		ours += one.path + " " + one.field_selector + ";";
	CHECK_EQUAL(ours,
		"/api/v1/pods spec.schedulerName=mine;/api/v1/pods spec.schedulerName=a;"
		"/api/v1/pods spec.schedulerName=b;");
	const auto others = row_of(Kind::foreign_pods).options(config);
	CHECK_EQUAL(others.size(), 1U);
	CHECK(others.at(0).field_selector.ends_with(
		",spec.schedulerName!=mine,spec.schedulerName!=a,spec.schedulerName!=b"));
}

void nodes_are_those_with_the_label()
{
	Config config;
	config.nodes.selector_key = "a/b";
	config.nodes.selector_value = std::nullopt;
	CHECK_EQUAL(row_of(Kind::nodes).options(config).at(0).label_selector, "a/b");
	config.nodes.selector_value = "c";
	CHECK_EQUAL(row_of(Kind::nodes).options(config).at(0).label_selector, "a/b=c");
}

/* Because World trusts pods and nodes again only after a complete new list. */
void lists_of_pods_and_nodes_are_made_again()
{
	std::string again;
	for (const Kind kind : k_all)
		again += row_of(kind).is_listed_again ? row_of(kind).name + std::string(",") : "";
	CHECK_EQUAL(again, "pod,pod of another scheduler,node,");
}

void claims_are_watched_when_wanted()
{
	for (const Kind kind : k_all) {
		const bool is_for_claims =
			kind == Kind::claims || kind == Kind::volumes || kind == Kind::classes;
		CHECK((row_of(kind).wanted == Wanted::for_claims) == is_for_claims);
		const bool is_for_devices = kind == Kind::slices || kind == Kind::device_classes ||
			kind == Kind::taint_rules;
		CHECK((row_of(kind).wanted == Wanted::for_devices) == is_for_devices);
		CHECK((row_of(kind).check_name == nullptr) == (is_for_claims || is_for_devices));
	}
}

void world_is_told()
{
	core::World world{core::Settings()};
	const auto node = parsed(R"({"metadata":{"name":"n1","uid":"u1"},"status":{}})");
	CHECK(row_of(Kind::nodes).seen(world, node.get(), {}).ok());
	CHECK(world.state().kube_nodes.contains("n1"));
	CHECK(row_of(Kind::nodes).gone(world, node.get(), {}).ok());
	CHECK(!world.state().kube_nodes.contains("n1"));
}

void what_cannot_be_read_is_an_error()
{
	core::World world{core::Settings()};
	const auto nothing = parsed("{}");
	for (const Kind kind : k_all) {
		CHECK(!row_of(kind).seen(world, nothing.get(), {}).ok());
		CHECK(row_of(kind).gone(world, nothing.get(), {}).ok() ==
			(kind == Kind::foreign_pods));
	}
}

} // namespace

int main()
{
	return check::run_tests("sources",
		{
			TEST(each_kind_has_its_row),
			TEST(pods_are_ours_or_others),
			TEST(pods_may_have_other_names),
			TEST(nodes_are_those_with_the_label),
			TEST(lists_of_pods_and_nodes_are_made_again),
			TEST(claims_are_watched_when_wanted),
			TEST(world_is_told),
			TEST(what_cannot_be_read_is_an_error),
		});
}
