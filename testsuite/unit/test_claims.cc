/* SPDX-License-Identifier: GPL-2.0-or-later */
/* claims.h rule by rule; testsuite/component/oracle compares the whole with kube-scheduler's own
 * code. */
#include "src/core/placement/claims.h"
#include "testsuite/unit/world_facts.h"

using namespace slurmkube;
using namespace slurmkube::check;

namespace
{

KubeNode node(const std::string &name, std::map<std::string, std::string> labels = {})
{
	KubeNode n;
	n.name = name;
	n.labels = std::move(labels);
	n.labels["kubernetes.io/hostname"] = name;
	return n;
}

Pod pod_with(std::vector<PodClaim> claims)
{
	Pod p = make_pod("default", "p", "u");
	p.constraints.claims = std::move(claims);
	return p;
}

Claim claim(const std::string &name, const std::string &storage_class, std::int64_t bytes = 10)
{
	Claim c = unbound_claim(name, storage_class);
	c.bytes = bytes;
	return c;
}

Volume volume(const std::string &name, const std::string &on, std::int64_t bytes = 10)
{
	Volume v = free_volume(name, on);
	v.bytes = bytes;
	return v;
}

StorageClass storage_class(const std::string &name, const std::string &provisioner, bool waits)
{
	return {name, "uid-" + name, provisioner, waits, {}};
}

Claims with_classes()
{
	Claims c;
	(void)c.seen(storage_class("local", "kubernetes.io/no-provisioner", true));
	(void)c.seen(storage_class("late", "csi.example.com", true));
	(void)c.seen(storage_class("now", "csi.example.com", false));
	return c;
}

Claim bound_to(Claim c, const std::string &name)
{
	c.volume = name;
	c.is_bound = true;
	return c;
}

/* "give:v1", "select:n1", "await:c", or the reason for a refusal */
std::string plan_text(const Claims &claims, const Pod &pod, const KubeNode &n)
{
	if (const auto refusal = claims.refuses(pod, n))
		return refusal->why;
	const ClaimPlan plan = claims.plan(pod, n);
	std::string out;
	for (const ClaimStep &step : plan.steps) {
		const auto *give = std::get_if<GiveVolume>(&step);
		out += (out.empty() ? "" : " ") + claim_name_of(step) +
			(give ? " gets " + give->volume
			      : " selects " + std::get_if<SelectNode>(&step)->node);
	}
	for (const ClaimId &id : plan.awaited)
		out += (out.empty() ? "" : " ") + id.name + " waits";
	return out;
}

void what_no_node_can_help_is_said()
{
	Claims claims = with_classes();
	const Pod one = pod_with({{"c", false}});
	CHECK_EQUAL(claims.trouble_of(one), "volume claim c does not exist");
	CHECK_EQUAL(claims.trouble_of(pod_with({{"p-v", true}})),
		"volume claim p-v of its ephemeral volume has not been made yet");
	(void)claims.seen(claim("c", "now"));
	CHECK_EQUAL(claims.trouble_of(one),
		"volume claim c is not bound to a volume yet (storage class 'now')");
	(void)claims.seen(claim("c", "unknown"));
	CHECK(!claims.trouble_of(one).empty());
	(void)claims.seen(claim("c", "late"));
	CHECK_EQUAL(claims.trouble_of(one), "");
	Claim named = claim("c", "late");
	named.volume = "v"; /* by its author: nobody else chooses */
	(void)claims.seen(named);
	CHECK(!claims.trouble_of(one).empty());
	(void)claims.seen(bound_to(claim("c", "now"), "v"));
	CHECK_EQUAL(claims.trouble_of(one), "");
	Claim lost = bound_to(claim("c", "now"), "v");
	lost.is_lost = true;
	(void)claims.seen(lost);
	CHECK_EQUAL(claims.trouble_of(one), "volume claim c has lost its volume v");
	Claim going = bound_to(claim("c", "now"), "v");
	going.deleting = true;
	(void)claims.seen(going);
	CHECK_EQUAL(claims.trouble_of(one), "volume claim c is being deleted");
}

/* Otherwise the author of a pod could reach the data of another pod's claim by the name of a
 * volume. */
void an_ephemeral_claim_is_its_own_pods()
{
	Claims claims = with_classes();
	const Pod own = pod_with({{"p-v", true}});
	Claim c = claim("p-v", "late");
	c.owner_uid = "other";
	(void)claims.seen(c);
	CHECK(claims.trouble_of(own).find("was not made for this pod") != std::string::npos);
	c.owner_uid = "u";
	(void)claims.seen(c);
	CHECK_EQUAL(claims.trouble_of(own), "");
}

void a_bound_volume_says_where()
{
	Claims claims = with_classes();
	const Pod one = pod_with({{"c", false}});
	(void)claims.seen(bound_to(claim("c", "now"), "v"));
	CHECK(plan_text(claims, one, node("n1")).find("does not exist") != std::string::npos);
	(void)claims.seen(volume("v", "n2"));
	CHECK_EQUAL(plan_text(claims, one, node("n1")), "cannot reach volume v of volume claim c");
	CHECK_EQUAL(plan_text(claims, one, node("n2")), "");
}

void a_volume_in_a_zone_is_reached_from_it()
{
	Claims claims = with_classes();
	const Pod one = pod_with({{"c", false}});
	(void)claims.seen(bound_to(claim("c", "now"), "v"));
	Volume v = volume("v", "");
	v.labels = {{"failure-domain.beta.kubernetes.io/zone", "za__zb"}};
	(void)claims.seen(v);
	CHECK_EQUAL(plan_text(claims, one, node("n1")), ""); /* in no zone */
	CHECK_EQUAL(
		plan_text(claims, one, node("n1", {{"topology.kubernetes.io/zone", "zb"}})), "");
	CHECK_EQUAL(plan_text(claims, one, node("n1", {{"topology.kubernetes.io/zone", "zc"}})),
		"cannot reach volume v of volume claim c");
	CHECK_EQUAL(plan_text(claims, one, node("n1", {{"topology.kubernetes.io/region", "r"}})),
		"cannot reach volume v of volume claim c");
}

void the_smallest_volume_that_will_do_is_given()
{
	Claims claims = with_classes();
	const Pod one = pod_with({{"c", false}});
	(void)claims.seen(claim("c", "local", 10));
	CHECK_EQUAL(plan_text(claims, one, node("n1")),
		"has no volume for volume claim c and none can be made there");
	(void)claims.seen(volume("small", "n1", 9));
	(void)claims.seen(volume("large", "n1", 30));
	(void)claims.seen(volume("medium", "n1", 20));
	(void)claims.seen(volume("other", "n2", 10));
	CHECK_EQUAL(plan_text(claims, one, node("n1")), "c gets medium");
	for (const auto &spoil : std::initializer_list<void (*)(Volume &)>{
		     [](Volume &v) { v.is_available = false; },
		     [](Volume &v) { v.deleting = true; }, [](Volume &v) { v.storage_class = "x"; },
		     [](Volume &v) { v.volume_mode = "Block"; },
		     [](Volume &v) { v.access_modes = {"ReadOnlyMany"}; },
		     [](Volume &v) {
			     v.claim = ClaimId{"default", "d"};
		     }}) {
		Volume v = volume("medium", "n1", 20);
		spoil(v);
		(void)claims.seen(v);
		CHECK_EQUAL(plan_text(claims, one, node("n1")), "c gets large");
	}
	Claim constrained = claim("c", "local", 10);
	constrained.selector = PodSelector{{{"tier", "a"}}, {}};
	(void)claims.seen(constrained);
	CHECK_EQUAL(plan_text(claims, one, node("n2")),
		"has no volume for volume claim c and none can be made there");
}

void a_volume_that_is_the_claims_is_waited_for()
{
	Claims claims = with_classes();
	const Pod one = pod_with({{"c", false}});
	(void)claims.seen(claim("c", "local", 10));
	Volume v = volume("v", "n1", 30);
	v.claim = ClaimId{"default", "c"};
	(void)claims.seen(v);
	(void)claims.seen(volume("smaller", "n1", 20));
	/* an administrator reserved the volume; the claim's uid is not written yet */
	CHECK_EQUAL(plan_text(claims, one, node("n1")), "c gets v");
	v.claim_uid = "uid-c";
	(void)claims.seen(v);
	CHECK_EQUAL(plan_text(claims, one, node("n1")), "c waits");
	CHECK_EQUAL(plan_text(claims, one, node("n2")),
		"has no volume for volume claim c and none can be made there");
}

void two_claims_never_get_one_volume()
{
	Claims claims = with_classes();
	const Pod two = pod_with({{"large", false}, {"small", false}});
	(void)claims.seen(claim("large", "local", 20));
	(void)claims.seen(claim("small", "local", 10));
	(void)claims.seen(volume("v", "n1", 40));
	CHECK_EQUAL(plan_text(claims, two, node("n1")),
		"has no volume for volume claim large and none can be made there");
	(void)claims.seen(volume("w", "n1", 15));
	CHECK_EQUAL(plan_text(claims, two, node("n1")), "small gets w large gets v");
}

void a_provisioner_is_told_the_node()
{
	Claims claims = with_classes();
	const Pod one = pod_with({{"c", false}});
	(void)claims.seen(claim("c", "late"));
	CHECK_EQUAL(plan_text(claims, one, node("n1")), "c selects n1");
	StorageClass zoned = storage_class("late", "csi.example.com", true);
	zoned.topologies = {NodeTerm{{{"zone", SelectorOp::in, {"a"}}}, {}}};
	(void)claims.seen(zoned);
	CHECK_EQUAL(plan_text(claims, one, node("n1")),
		"has no volume for volume claim c and none can be made there");
	CHECK_EQUAL(plan_text(claims, one, node("n1", {{"zone", "a"}})), "c selects n1");
	Claim told = claim("c", "late");
	told.selected_node = "n1";
	(void)claims.seen(told);
	CHECK_EQUAL(plan_text(claims, one, node("n1", {{"zone", "a"}})), "c waits");
	CHECK_EQUAL(plan_text(claims, one, node("n2", {{"zone", "a"}})),
		"is not the node for which volume claim c is being provisioned, n1");
}

void a_list_takes_away_what_it_does_not_name()
{
	Claims claims = with_classes();
	(void)claims.seen(claim("c", "late"));
	CHECK(!claims.is_listed());
	claims.volumes_listed({});
	claims.classes_listed({"uid-late"});
	claims.claims_listed({"uid-c"});
	CHECK(claims.is_listed());
	CHECK(claims.find({"default", "c"}) != nullptr);
	claims.claims_listed({});
	CHECK(claims.find({"default", "c"}) == nullptr);
	CHECK(!claims.seen(storage_class("late", "csi.example.com", true)));
	CHECK(claims.seen(storage_class("now", "csi.example.com", false)));
}

} // namespace

int main()
{
	return check::run_tests("claims",
		{TEST(what_no_node_can_help_is_said), TEST(an_ephemeral_claim_is_its_own_pods),
			TEST(a_bound_volume_says_where),
			TEST(a_volume_in_a_zone_is_reached_from_it),
			TEST(the_smallest_volume_that_will_do_is_given),
			TEST(a_volume_that_is_the_claims_is_waited_for),
			TEST(two_claims_never_get_one_volume), TEST(a_provisioner_is_told_the_node),
			TEST(a_list_takes_away_what_it_does_not_name)});
}
