/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/codec/resource_slice.h"
#include "src/core/cel/selector.h"
#include "testsuite/unit/check.h"

#include <utility>

using namespace slurmkube;
using namespace slurmkube::codec;

namespace
{

Json parsed(const std::string &text)
{
	auto json = parse_json(text, 1'000'000);
	return json ? std::move(*json) : Json();
}

Result<core::ResourceSlice> slice_of(const std::string &spec)
{
	return resource_slice_from_json(
		parsed(R"({"metadata":{"name":"s","uid":"u"},"spec":{"driver":"gpu.example.com",)"
		       R"("pool":{"name":"p","generation":3,"resourceSliceCount":2},)" +
			spec + "}}")
			.get());
}

/* Why the only device cannot be given to jobs. */
std::string trouble_of(const std::string &members)
{
	const auto slice =
		slice_of(R"("nodeName":"n1","devices":[{"name":"gpu-0",)" + members + "}]");
	return slice.ok() && slice->devices.size() == 1 ? slice->devices[0].unsupported : "none";
}

bool matches(const core::SliceDevice &device, const std::string &selector)
{
	const auto compiled = core::cel::compile(selector);
	const auto verdict = compiled ? core::cel::matches(*compiled, device.properties)
				      : Result<bool>(compiled.error());
	return verdict && *verdict;
}

void a_slice_is_read()
{
	const auto slice = slice_of(
		R"("nodeName":"n1","devices":[{"name":"gpu-0","attributes":{)"
		R"("model":{"string":"A100"},"index":{"int":4},"fast":{"bool":true},)"
		R"("other.example.com/driver":{"version":"1.2.3"}},)"
		R"("capacity":{"memory":{"value":"80Gi"}},)"
		R"("taints":[{"key":"k","value":"v","effect":"NoExecute"}]},{"name":"gpu-1"}])");
	REQUIRE(slice.ok());
	CHECK(slice->name == "s" && slice->uid == "u" && slice->node == "n1");
	CHECK(slice->pool == (core::PoolId{"gpu.example.com", "p"}));
	CHECK(slice->generation == 3 && slice->slice_count == 2);
	CHECK_EQUAL(slice->unsupported, "");
	REQUIRE(slice->devices.size() == 2);
	const core::SliceDevice &device = slice->devices[0];
	CHECK(device.name == "gpu-0" && device.unsupported.empty());
	CHECK(device.taints == (std::vector<core::Taint>{{"k", "v", "NoExecute"}}));
	const std::string own = "device.attributes['gpu.example.com'].";
	CHECK(matches(device, "device.driver == 'gpu.example.com'"));
	CHECK(matches(device, own + "model == 'A100' && " + own + "index == 4 && " + own + "fast"));
	CHECK(matches(device,
		"device.attributes['other.example.com'].driver.isGreaterThan(semver('1.0.0'))"));
	CHECK(matches(device,
		"device.capacity['gpu.example.com'].memory.compareTo(quantity('80Gi')) == 0"));
	CHECK_EQUAL(slice->devices[1].name, "gpu-1");
}

void what_is_no_slice_is_an_error()
{
	for (const char *text : {"{}", "3", R"({"metadata":{"name":"s","uid":"u"}})",
		     R"({"metadata":{"name":"s"},"spec":{"driver":"d","pool":{"name":"p"}}})",
		     R"({"metadata":{"name":"s","uid":"u"},"spec":{"driver":"d"}})",
		     R"({"metadata":{"name":"s","uid":"u"},"spec":{"pool":{"name":"p"}}})",
		     R"({"metadata":{"name":"s","uid":"u"},)"
		     R"("spec":{"driver":"d;e","pool":{"name":"p"}}})"})
		CHECK(!resource_slice_from_json(parsed(text).get()).ok());
}

void slices_that_are_not_of_one_node_are_marked()
{
	const std::pair<const char *, const char *> cases[] = {{R"("allNodes":true)", "allNodes"},
		{R"("allNodes":false)", ""},
		{R"("nodeSelector":{"nodeSelectorTerms":[]})", "nodeSelector"},
		{R"("perDeviceNodeSelection":true)", "perDeviceNodeSelection"},
		{R"("nodeName":"n","skipNodeOperations":["*"])", "skipNodeOperations"},
		{R"("nodeName":"n","skipNodeOperations":[])", ""},
		{R"("nodeName":"n","sharedCounters":[{"name":"c"}])", ""},
		{R"("nodeName":"n","somethingNew":1)", "somethingNew"},
		{R"("nodeName":"n","somethingNew":null)", ""}};
	for (const auto &[spec, field] : cases) {
		const auto slice = slice_of(spec);
		REQUIRE(slice.ok());
		CHECK_EQUAL(slice->unsupported, field);
	}
	std::string many = R"("nodeName":"n","devices":[{"name":"d"})";
	for (int i = 0; i < 128; i++)
		many += ",{}";
	const auto slice = slice_of(many + "]");
	REQUIRE(slice.ok());
	CHECK(slice->unsupported == "too many devices" && slice->devices.empty());
}

void devices_that_slurm_cannot_give_are_marked()
{
	const std::pair<const char *, const char *> cases[] = {
		{R"("consumesCounters":[{"counterSet":"c"}])", "consumesCounters"},
		{R"("consumesCounters":[])", ""},
		{R"("allowMultipleAllocations":true)", "allowMultipleAllocations"},
		{R"("allowMultipleAllocations":false)", ""},
		{R"("bindsToNode":true)", "bindsToNode"},
		{R"("bindingConditions":["a"])", "bindingConditions"},
		{R"("bindingFailureConditions":["a"])", "bindingFailureConditions"},
		{R"("nodeAllocatableResources":{"cpu":{}})", "nodeAllocatableResources"},
		{R"("nodeName":"n1")", "nodeName"}, {R"("somethingNew":{"a":1})", "somethingNew"},
		{R"("attributes":{"a":{"ints":[1,2]}})", "attributes[a].ints"},
		{R"("attributes":{"a":{"int":"1"}})", "attributes[a].int"},
		{R"("attributes":{"a":{"version":"x"}})", "attributes[a].version"},
		{R"("attributes":{"a":{"int":1,"ints":[1]}})", "attributes[a].int"},
		{R"("attributes":{"a":{}})", "attributes[a]"},
		{R"("capacity":{"a":{"value":"x"}})", "capacity[a]"}};
	for (const auto &[members, field] : cases)
		CHECK_EQUAL(trouble_of(members), field);
	std::string attributes;
	for (int i = 0; i < 65; i++)
		attributes += (i > 0 ? ",\"a" : "\"a") + std::to_string(i) + R"(":{"int":1})";
	CHECK_EQUAL(trouble_of(R"("attributes":{)" + attributes + "}"), "too many attributes");
	CHECK_EQUAL(trouble_of(R"("attributes":{"a":{"string":")" + std::string(257, 'x') + "\"}}"),
		"attributes[a].string");
}

void a_class_is_read()
{
	const auto read = device_class_from_json(
		parsed(R"({"metadata":{"name":"gpu","uid":"u"},"spec":{"selectors":[)"
		       R"({"cel":{"expression":"device.driver == 'd'"}},{"other":{}}],"config":[)"
		       R"({"opaque":{"driver":"d","parameters":{"kind":"K"}}}],)"
		       R"("extendedResourceName":"example.com/gpu"}})")
			.get());
	REQUIRE(read.ok());
	CHECK(read->name == "gpu" && read->uid == "u");
	CHECK(read->selectors == (std::vector<std::string>{"device.driver == 'd'", ""}));
	CHECK(read->configs ==
		(std::vector<std::string>{
			R"({"opaque":{"driver":"d","parameters":{"kind":"K"}}})"}));
	CHECK_EQUAL(read->extended_resource, "example.com/gpu");
	CHECK(!core::cel::compile("").ok()); /* a selector of another kind matches nothing */
	CHECK(device_class_from_json(parsed(R"({"metadata":{"name":"a","uid":"u"}})").get()).ok());
}

void wrong_classes_are_errors()
{
	const std::string start = R"({"metadata":{"name":"gpu","uid":"u"},"spec":)";
	std::string many;
	for (int i = 0; i < 33; i++)
		many += i > 0 ? ",{}" : "{}";
	for (const std::string &text : {std::string("{}"), start + R"({"config":[{"new":{}}]}})",
		     start + R"({"selectors":[)" + many + "]}}",
		     start + R"({"config":[)" + many + "]}}"})
		CHECK(!device_class_from_json(parsed(text).get()).ok());
	CHECK(device_class_from_json(parsed(start + R"({"config":[{"new":{}}]}})").get())
			.error()
			.what.starts_with("device class gpu: config[0] "));
}

void a_taint_rule_is_read()
{
	const auto rule = [](const std::string &spec) {
		return taint_rule_from_json(
			parsed(R"({"metadata":{"name":"r","uid":"u"},"spec":)" + spec + "}").get());
	};
	const auto all = rule(R"({"deviceSelector":{"driver":"d","pool":"p","device":"gpu-1"},)"
			      R"("taint":{"key":"k","value":"v","effect":"NoSchedule"}})");
	REQUIRE(all.ok());
	CHECK(all->name == "r" && all->uid == "u" && all->has_selector);
	CHECK(all->driver == "d" && all->pool == "p" && all->device == "gpu-1");
	CHECK(all->taint == (core::Taint{"k", "v", "NoSchedule"}));
	const auto any = rule(R"({"deviceSelector":{},"taint":{"key":"k","effect":"None"}})");
	CHECK(any.ok() && any->has_selector && !any->driver && !any->pool && !any->device);
	const auto none = rule(R"({"taint":{"key":"k","effect":"NoExecute"}})");
	CHECK(none.ok() && !none->has_selector);
	CHECK(!taint_rule_from_json(parsed(R"({"metadata":{"name":"r"}})").get()).ok());
}

} // namespace

int main()
{
	return check::run_tests("resource_slice",
		{TEST(a_slice_is_read), TEST(what_is_no_slice_is_an_error),
			TEST(slices_that_are_not_of_one_node_are_marked),
			TEST(devices_that_slurm_cannot_give_are_marked), TEST(a_class_is_read),
			TEST(wrong_classes_are_errors), TEST(a_taint_rule_is_read)});
}
