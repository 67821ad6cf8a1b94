/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Claims for devices: read from the API server, and written back. */
#include "src/codec/resource_claim.h"
#include "testsuite/unit/check.h"

using namespace slurmkube;
using namespace slurmkube::codec;
using namespace slurmkube::core;

namespace
{

Result<ResourceClaim> read(const std::string &text)
{
	const auto json = parse_json(text, 1 << 20);
	return json ? resource_claim_from_json(json->get()) : Result<ResourceClaim>(json.error());
}

std::string claim_text(const std::string &devices, const std::string &status = "{}")
{
	return R"({"metadata":{"name":"c","namespace":"n","uid":"u","resourceVersion":"7",
		"finalizers":["f"],"ownerReferences":[{"kind":"Pod","name":"p","uid":"pu",
		"apiVersion":"v1","controller":true}]},"spec":{"devices":)" +
		devices + R"(},"status":)" + status + "}";
}

std::string request_text(const std::string &more)
{
	return R"({"requests":[{"name":"r","exactly":{"deviceClassName":"gpu",
		"allocationMode":"ExactCount","count":2)" +
		more + "}}]}";
}

void a_claim_is_read()
{
	const auto claim = read(claim_text(
		R"({"requests":[{"name":"r","exactly":{"deviceClassName":"gpu","count":2,
		"allocationMode":"ExactCount","selectors":[{"cel":{"expression":"true"}}],
		"tolerations":[{"key":"k","operator":"Exists","effect":"NoSchedule"}]}}],
		"constraints":[{"requests":["r"],"matchAttribute":"d/a"},
		{"distinctAttribute":"d/b"}],
		"config":[{"requests":["r"],"opaque":{"driver":"d","parameters":{"x":1}}}]})",
		R"({"allocation":{"devices":{"results":[{"request":"r","driver":"d","pool":"p",
		"device":"x"}]}},"reservedFor":[{"resource":"pods","name":"p","uid":"pu"}]})"));
	CHECK(claim.ok());
	CHECK(claim->id == (ResourceClaimId{"n", "c"}));
	CHECK_EQUAL(claim->owner_uid, "pu");
	CHECK_EQUAL(claim->unsupported, "");
	CHECK(claim->finalizers == std::vector<std::string>{"f"});
	const DeviceRequest &request = claim->requests.front();
	CHECK_EQUAL(request.device_class, "gpu");
	CHECK_EQUAL(request.count, std::int64_t{2});
	CHECK(request.selectors == std::vector<std::string>{"true"});
	CHECK(request.tolerations ==
		(std::vector<Toleration>{{"k", TolerationOp::exists, "", "NoSchedule"}}));
	CHECK(claim->constraints ==
		(std::vector<DeviceConstraint>{{{"r"}, "d/a", false}, {{}, "d/b", true}}));
	CHECK_EQUAL(claim->configs.front().parameters,
		R"({"opaque":{"driver":"d","parameters":{"x":1}}})");
	CHECK(claim->allocation->results == (std::vector<DeviceResult>{{"r", {{"d", "p"}, "x"}}}));
	CHECK(claim->reserved_for == std::vector<std::string>{"pu"});
}

void what_slurm_cannot_honour_is_noted()
{
	const std::pair<std::string, const char *> rows[] = {
		{request_text(""), ""},
		{request_text(R"(,"adminAccess":false)"), ""},
		{request_text(R"(,"adminAccess":true)"), ""},
		{request_text(R"(,"capacity":{"requests":{"m":"1"}})"),
			"spec.devices.requests[r].exactly.capacity"},
		{request_text(R"(,"selectors":[{}])"),
			"spec.devices.requests[r].exactly.selectors without cel"},
		{R"({"requests":[{"name":"r","exactly":{"deviceClassName":"g",
			"allocationMode":"Some"}}]})",
			"spec.devices.requests[r].exactly.allocationMode Some"},
		{R"({"requests":[{"name":"r","firstAvailable":[{"name":"s","deviceClassName":"g",
			"allocationMode":"Some"}]}]})",
			"spec.devices.requests[r].firstAvailable.allocationMode Some"},
		{R"({"requests":[{"name":"r","firstAvailable":[]}]})",
			"spec.devices.requests[r].(no firstAvailable)"},
		{R"({"requests":[{"name":"r"}]})", "spec.devices.requests[r].(no exactly)"},
		{R"({"requests":[{"name":"r","exactly":{"deviceClassName":"g","count":0}}]})",
			"spec.devices.requests[r].exactly.count that is not positive"},
		{R"({"requests":[],"constraints":[{"requests":["r"]}]})",
			"spec.devices.constraints without matchAttribute"},
	};
	for (const auto &[devices, wanted] : rows)
		CHECK_EQUAL(read(claim_text(devices))->unsupported, wanted);
	std::string many = R"({"requests":[)";
	for (int i = 0; i < 33; i++)
		many += std::string(i > 0 ? "," : "") +
			R"({"name":"r","exactly":{"deviceClassName":"g"}})";
	CHECK_EQUAL(read(claim_text(many + "]}"))->unsupported, "spec.devices of this length");
}

void modes_are_read()
{
	const auto plain = read(claim_text(request_text("")));
	CHECK(!plain->requests.front().is_all && !plain->requests.front().is_for_admin);
	const auto all = read(claim_text(request_text(R"(,"allocationMode":"All")")));
	CHECK(all->requests.front().is_all);
	const auto admin = read(claim_text(request_text(R"(,"adminAccess":true)")));
	CHECK(admin->requests.front().is_for_admin);
}

void alternatives_are_read_in_order()
{
	const auto claim = read(claim_text(R"({"requests":[{"name":"r","firstAvailable":[
		{"name":"big","deviceClassName":"g","count":2,"capacity":{"requests":{"m":"1"}}},
		{"name":"two","deviceClassName":"g","count":2,"tolerations":[{"key":"k"}]},
		{"name":"one","deviceClassName":"h",
			"selectors":[{"cel":{"expression":"x"}}]}]}]})"));
	CHECK_EQUAL(claim->unsupported, "");
	const std::vector<DeviceRequest> &read = claim->requests.front().alternatives;
	CHECK_EQUAL(claim->requests.front().name, "r");
	CHECK_EQUAL(read.size(), std::size_t{2}); /* of the first one a part cannot be honoured */
	CHECK_EQUAL(read[0].name, "r/two");
	CHECK_EQUAL(read[0].count, 2);
	CHECK_EQUAL(read[0].tolerations.size(), std::size_t{1});
	CHECK_EQUAL(read[1].name, "r/one");
	CHECK_EQUAL(read[1].device_class, "h");
	CHECK(read[1].selectors == std::vector<std::string>{"x"});
}

void what_is_no_claim()
{
	CHECK(!read("{}").ok());
	CHECK(!read(R"({"metadata":{"name":"c","namespace":"n"}})").ok());
	CHECK(read(R"({"metadata":{"name":"c","namespace":"n","uid":"u"},"spec":5})").ok());
}

AllocateDevices allocation()
{
	AllocateDevices step;
	step.claim = {"n", "c"};
	step.uid = "u";
	step.version = "7";
	step.node = "n1";
	step.devices = {{{"r", {{"d", "p"}, "x"}}, R"([{"key":"k"}])"},
		{{"s", {{"d", "p"}, "y"}, true}, ""}};
	step.configs = {{true, {"r"}, R"({"opaque":{"driver":"d"}})"}};
	step.users = {{"pod", "pu"}};
	return step;
}

void writes()
{
	CHECK_EQUAL(protect_patch({{"n", "c"}, "u", "7", {"f", k_claim_finalizer}}),
		R"({"metadata":{"uid":"u","resourceVersion":"7","finalizers":["f",)"
		R"("resource.kubernetes.io/delete-protection"]}})");
	CHECK_EQUAL(allocation_patch(allocation()),
		R"({"metadata":{"uid":"u","resourceVersion":"7"},"status":{"allocation":)"
		R"({"devices":{"results":[{"request":"r","driver":"d","pool":"p","device":"x",)"
		R"("tolerations":[{"key":"k"}]},{"request":"s","driver":"d","pool":"p",)"
		R"("device":"y","adminAccess":true}],"config":[{"opaque":{"driver":"d"},)"
		R"("source":"FromClass","requests":["r"]}]},"nodeSelector":{"nodeSelectorTerms":)"
		R"([{"matchFields":[{"key":"metadata.name","operator":"In","values":["n1"]}]}]}},)"
		R"("reservedFor":[{"resource":"pods","name":"pod","uid":"pu"}]}})");
	CHECK_EQUAL(release_patch({{"n", "c"}, "u", "7"}),
		R"({"metadata":{"uid":"u","resourceVersion":"7"},)"
		R"("status":{"allocation":null,"reservedFor":null}})");
}

/* Strategic merge patches: other reservations stay. */
void writes_for_pods_that_share_a_claim()
{
	CHECK_EQUAL(reservation_patch({{"n", "c"}, "u", "7", {{"p", "pu"}, {"q", "qu"}}}),
		R"({"metadata":{"uid":"u","resourceVersion":"7"},"status":{"reservedFor":)"
		R"([{"resource":"pods","name":"p","uid":"pu"},)"
		R"({"resource":"pods","name":"q","uid":"qu"}]}})");
	CHECK_EQUAL(leaving_patch({{"n", "c"}, "u", "7", "pu"}),
		R"({"metadata":{"uid":"u","resourceVersion":"7"},"status":{"reservedFor":)"
		R"([{"$patch":"delete","uid":"pu"}]}})");
}

} // namespace

int main()
{
	return check::run_tests("resource_claim",
		{TEST(a_claim_is_read), TEST(alternatives_are_read_in_order), TEST(modes_are_read),
			TEST(what_slurm_cannot_honour_is_noted), TEST(what_is_no_claim),
			TEST(writes), TEST(writes_for_pods_that_share_a_claim)});
}
