/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of the kinds of Kubernetes objects that are watched. */
#include "src/agent/source_rows.h"

#include "src/base/log.h"
#include "src/codec/claim.h"
#include "src/codec/namespace.h"
#include "src/codec/node.h"
#include "src/codec/pod.h"
#include "src/core/reconcile/node_features.h"

#include <utility>
#include <vector>

namespace slurmkube::agent
{

namespace
{

/* ---- paths and selectors ---- */

Options pods_of(const Config &config)
{
	Options all;
	for (const std::string &name : config.scheduler_names()) {
		kube::WatchOptions &options = all.emplace_back();
		options.path = "/api/v1/pods";
		options.accept = kube::k_protobuf;
		options.field_selector = "spec.schedulerName=" + name;
	}
	return all;
}

/* Pods of other schedulers use resources of nodes too. One watch covers them; pods that have ended
 * leave it by its selector. */
Options foreign_pods_of(const Config &config)
{
	kube::WatchOptions options;
	options.path = "/api/v1/pods";
	options.accept = kube::k_protobuf;
	options.field_selector = "spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed";
	for (const std::string &name : config.scheduler_names())
		options.field_selector += ",spec.schedulerName!=" + name;
	return {options};
}

Options nodes_of(const Config &config)
{
	kube::WatchOptions options;
	options.path = "/api/v1/nodes";
	options.label_selector = config.nodes.selector_key;
	if (config.nodes.selector_value)
		options.label_selector += "=" + *config.nodes.selector_value;
	return {options};
}

/* ---- reports to World ---- */

void pod_gone(World &world, core::Pod pod, Now now)
{
	const core::PodUid uid = pod.uid;
	world.observe(core::PodGone{uid, std::move(pod)}, now);
}

/* Only the uid is decoded, so that a deletion counts even if the rest of the object cannot be
 * decoded. */
Status foreign_gone(World &world, json_object *last_state, Now)
{
	world.observe(core::ForeignGone{{codec::uid_of(last_state)}});
	return Ok{};
}

void pods_listed(World &world, const Uids &live, Now now)
{
	world.observe(core::ClusterDoubted{});
	world.observe(core::PodsListed{live}, now);
}

/* ---- the table; entries with more than one line have a function above ---- */

KindRow pods_row()
{
	return {.kind = Kind::pods,
		.name = "pod",
		.list_text = "pods listed",
		.check_name = "pods",
		.is_listed_again = true,
		.options = pods_of,
		.seen = tell(codec::pod_from_json,
			[](World &w, core::Pod pod, Now now) {
				w.observe(core::PodSeen{std::move(pod)}, now);
			}),
		.gone = tell(codec::pod_from_json, pod_gone),
		.listed = pods_listed};
}

/* Pods that other schedulers have bound. */
KindRow foreign_pods_row()
{
	return {.kind = Kind::foreign_pods,
		.name = "pod of another scheduler",
		.list_text = "pods of other schedulers listed",
		.check_name = "other pods",
		.is_listed_again = true,
		.options = foreign_pods_of,
		.seen = tell(codec::pod_from_json,
			[](World &w, core::Pod pod, Now) {
				w.observe(core::ForeignSeen{std::move(pod)});
			}),
		.gone = foreign_gone,
		.listed = [](World &w, const Uids &live, Now) {
			w.observe(core::ForeignListed{live});
		}};
}

void node_seen(World &world, core::KubeNode node, Now now)
{
	const auto known = world.state().kube_nodes.find(node.name);
	const std::string refused = core::newly_refused_features(
		known == world.state().kube_nodes.end() ? nullptr : &known->second, node,
		world.state().sync.plugin());
	if (!refused.empty())
		log_event(LogLevel::warning, "features in annotations left out",
			{{"node", node.name}, {"features", refused}});
	world.observe(core::NodeSeen{std::move(node)}, now);
}

KindRow nodes_row()
{
	return {.kind = Kind::nodes,
		.name = "node",
		.list_text = "nodes listed",
		.check_name = "nodes watch",
		.is_listed_again = true,
		.options = nodes_of,
		.seen = tell(codec::node_from_json, node_seen),
		.gone = tell(codec::node_from_json,
			[](World &w, core::KubeNode node, Now now) {
				w.observe(core::NodeGone{node.name}, now);
			}),
		.listed = [](World &w, const Uids &live, Now) {
			w.observe(core::NodesListed{live});
		}};
}

KindRow namespaces_row()
{
	return {.kind = Kind::namespaces,
		.name = "namespace",
		.list_text = "namespaces listed",
		.check_name = "namespaces",
		.names_users = true,
		.options = [](const Config &) { return all_of("/api/v1/namespaces"); },
		.seen = tell(codec::namespace_from_json,
			[](World &w, core::Namespace seen, Now) {
				w.observe(core::NamespaceSeen{std::move(seen)});
			}),
		.gone = tell(codec::namespace_from_json,
			[](World &w, core::Namespace seen, Now) {
				w.observe(core::NamespaceGone{seen.name});
			}),
		.listed = [](World &w, const Uids &live,
				  Now) { w.observe(core::NamespacesListed{live}); }};
}

KindRow claims_row()
{
	return {.kind = Kind::claims,
		.name = "volume claim",
		.list_text = "volume claim list complete",
		.check_name = nullptr,
		.wanted = Wanted::for_claims,
		.options = [](const Config &) { return all_of("/api/v1/persistentvolumeclaims"); },
		.seen = tell(codec::claim_from_json,
			[](World &w, core::Claim seen, Now now) {
				w.observe(core::ClaimSeen{std::move(seen)}, now);
			}),
		.gone = tell(codec::claim_from_json,
			[](World &w, core::Claim seen, Now) {
				w.observe(core::ClaimGone{seen.id});
			}),
		.listed = [](World &w, const Uids &live,
				  Now) { w.observe(core::ClaimsListed{live}); }};
}

KindRow volumes_row()
{
	return {.kind = Kind::volumes,
		.name = "volume",
		.list_text = "volume list complete",
		.check_name = nullptr,
		.wanted = Wanted::for_claims,
		.options = [](const Config &) { return all_of("/api/v1/persistentvolumes"); },
		.seen = tell(codec::volume_from_json,
			[](World &w, core::Volume seen, Now) {
				w.observe(core::VolumeSeen{std::move(seen)});
			}),
		.gone = tell(codec::volume_from_json,
			[](World &w, core::Volume seen, Now) {
				w.observe(core::VolumeGone{seen.name});
			}),
		.listed = [](World &w, const Uids &live,
				  Now) { w.observe(core::VolumesListed{live}); }};
}

KindRow classes_row()
{
	return {.kind = Kind::classes,
		.name = "storage class",
		.list_text = "storage class list complete",
		.check_name = nullptr,
		.wanted = Wanted::for_claims,
		.options =
			[](const Config &) {
				return all_of("/apis/storage.k8s.io/v1/storageclasses");
			},
		.seen = tell(codec::storage_class_from_json,
			[](World &w, core::StorageClass seen, Now) {
				w.observe(core::ClassSeen{std::move(seen)});
			}),
		.gone = tell(codec::storage_class_from_json,
			[](World &w, core::StorageClass seen, Now) {
				w.observe(core::ClassGone{seen.name});
			}),
		.listed = [](World &w, const Uids &live,
				  Now) { w.observe(core::ClassesListed{live}); }};
}

} // namespace

const std::vector<KindRow> &kind_rows()
{
	static const std::vector<KindRow> all{pods_row(), foreign_pods_row(), nodes_row(),
		namespaces_row(), claims_row(), volumes_row(), classes_row(), slices_row(),
		device_classes_row(), taint_rules_row(), resource_claims_row()};
	return all;
}

const KindRow &row_of(Kind kind)
{
	return kind_rows().at(static_cast<std::size_t>(kind));
}

} // namespace slurmkube::agent
