/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Devices and claims for them: resource.k8s.io/v1. */
#include "src/agent/source_rows.h"
#include "src/codec/resource_claim.h"
#include "src/codec/resource_slice.h"

namespace slurmkube::agent
{

KindRow slices_row()
{
	return {.kind = Kind::slices,
		.name = "resource slice",
		.list_text = "resource slice list complete",
		.check_name = nullptr,
		.wanted = Wanted::for_devices,
		.options =
			[](const Config &) {
				return all_of("/apis/resource.k8s.io/v1/resourceslices");
			},
		.seen = tell(codec::resource_slice_from_json,
			[](World &w, core::ResourceSlice seen, Now now) {
				w.observe(core::SliceSeen{std::move(seen)}, now);
			}),
		.gone = tell(codec::resource_slice_from_json,
			[](World &w, core::ResourceSlice seen, Now now) {
				w.observe(core::SliceGone{seen.name}, now);
			}),
		.listed = [](World &w, const Uids &live,
				  Now now) { w.observe(core::SlicesListed{live}, now); }};
}

KindRow device_classes_row()
{
	return {.kind = Kind::device_classes,
		.name = "device class",
		.list_text = "device class list complete",
		.check_name = nullptr,
		.wanted = Wanted::for_devices,
		.options =
			[](const Config &) {
				return all_of("/apis/resource.k8s.io/v1/deviceclasses");
			},
		.seen = tell(codec::device_class_from_json,
			[](World &w, core::DeviceClass seen, Now now) {
				w.observe(core::DeviceClassSeen{std::move(seen)}, now);
			}),
		.gone = tell(codec::device_class_from_json,
			[](World &w, core::DeviceClass seen, Now now) {
				w.observe(core::DeviceClassGone{seen.name}, now);
			}),
		.listed = [](World &w, const Uids &live,
				  Now now) { w.observe(core::DeviceClassesListed{live}, now); }};
}

/* Served by Kubernetes 1.37 and later. Where they are not, there are none. */
KindRow taint_rules_row()
{
	return {.kind = Kind::taint_rules,
		.name = "device taint rule",
		.list_text = "device taint rule list complete",
		.check_name = nullptr,
		.wanted = Wanted::for_devices,
		.options =
			[](const Config &) {
				Options all = all_of("/apis/resource.k8s.io/v1/devicetaintrules");
				all.front().may_be_unserved = true;
				return all;
			},
		.seen = tell(codec::taint_rule_from_json,
			[](World &w, core::DeviceTaintRule seen, Now now) {
				w.observe(core::TaintRuleSeen{std::move(seen)}, now);
			}),
		.gone = tell(codec::taint_rule_from_json,
			[](World &w, core::DeviceTaintRule seen, Now now) {
				w.observe(core::TaintRuleGone{seen.name}, now);
			}),
		.listed = [](World &w, const Uids &live,
				  Now now) { w.observe(core::TaintRulesListed{live}, now); }};
}

KindRow resource_claims_row()
{
	return {.kind = Kind::resource_claims,
		.name = "resource claim",
		.list_text = "resource claim list complete",
		.check_name = nullptr,
		.wanted = Wanted::for_resource_claims,
		.is_listed_again = true,
		.options =
			[](const Config &) {
				return all_of("/apis/resource.k8s.io/v1/resourceclaims");
			},
		.seen = tell(codec::resource_claim_from_json,
			[](World &w, core::ResourceClaim seen, Now) {
				w.observe(core::ResourceClaimSeen{std::move(seen)});
			}),
		.gone = tell(codec::resource_claim_from_json,
			[](World &w, core::ResourceClaim seen, Now) {
				w.observe(core::ResourceClaimGone{seen.id});
			}),
		.listed = [](World &w, const Uids &live,
				  Now) { w.observe(core::ResourceClaimsListed{live}); }};
}

} // namespace slurmkube::agent
