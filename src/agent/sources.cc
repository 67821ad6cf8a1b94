/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/sources.h"

#include "src/agent/app.h"
#include "src/base/log.h"
#include "src/codec/claim.h"
#include "src/codec/node.h"
#include "src/codec/pod.h"

namespace slurmkube::agent
{

void PodSource::upserted(json_object *object)
{
	auto pod = codec::pod_from_json(object);
	if (!pod) {
		log_warning("a pod cannot be read: %s", pod.error().what.c_str());
		return;
	}
	world_.pod_seen(std::move(*pod), App::now());
	on_change_();
}

void PodSource::deleted(json_object *last_state)
{
	auto pod = codec::pod_from_json(last_state);
	if (!pod) {
		log_warning("a deleted pod cannot be read: %s", pod.error().what.c_str());
		return;
	}
	const core::PodUid uid = pod->uid;
	world_.pod_gone(uid, std::move(*pod), App::now());
	on_change_();
}

void PodSource::listed(const std::set<std::string> &live_uids)
{
	log_info("pods listed count=%zu", live_uids.size());
	world_.cluster_doubted();
	world_.pods_listed(live_uids, App::now());
	on_change_();
}

void ForeignSource::upserted(json_object *object)
{
	auto pod = codec::pod_from_json(object);
	if (!pod) {
		log_warning("a pod of another scheduler cannot be read: %s", pod.error().what.c_str());
		return;
	}
	world_.foreign_seen(std::move(*pod));
	on_change_();
}

void ForeignSource::deleted(json_object *last_state)
{
	world_.foreign_gone({codec::uid_of(last_state)});
	on_change_();
}

void ForeignSource::listed(const std::set<std::string> &live_uids)
{
	log_info("pods of other schedulers listed count=%zu", live_uids.size());
	world_.foreign_listed(live_uids);
	on_change_();
}

void NodeSource::upserted(json_object *object)
{
	auto node = codec::node_from_json(object);
	if (!node) {
		log_warning("a node cannot be read: %s", node.error().what.c_str());
		return;
	}
	world_.node_seen(std::move(*node), App::now());
	on_change_();
}

void NodeSource::deleted(json_object *last_state)
{
	const auto node = codec::node_from_json(last_state);
	if (!node) {
		log_warning("a deleted node cannot be read: %s", node.error().what.c_str());
		return;
	}
	world_.node_gone(node->name, App::now());
	on_change_();
}

void NodeSource::listed(const std::set<std::string> &live_uids)
{
	log_info("nodes listed count=%zu", live_uids.size());
	world_.nodes_listed(live_uids);
	on_change_();
}

void ClaimSource::upserted(json_object *object)
{
	auto seen = codec::claim_from_json(object);
	if (!seen) {
		log_warning("a volume claim cannot be read: %s", seen.error().what.c_str());
		return;
	}
	world_.claim_seen(std::move(*seen), App::now());
	on_change_();
}

void ClaimSource::deleted(json_object *last_state)
{
	const auto seen = codec::claim_from_json(last_state);
	if (!seen) {
		log_warning("a deleted volume claim cannot be read: %s", seen.error().what.c_str());
		return;
	}
	world_.claim_gone(seen->id);
	on_change_();
}

void ClaimSource::listed(const std::set<std::string> &live_uids)
{
	log_info("volume claim list complete count=%zu", live_uids.size());
	world_.claims_listed(live_uids);
	on_change_();
}

void VolumeSource::upserted(json_object *object)
{
	auto seen = codec::volume_from_json(object);
	if (!seen) {
		log_warning("a volume cannot be read: %s", seen.error().what.c_str());
		return;
	}
	world_.volume_seen(std::move(*seen));
	on_change_();
}

void VolumeSource::deleted(json_object *last_state)
{
	const auto seen = codec::volume_from_json(last_state);
	if (!seen) {
		log_warning("a deleted volume cannot be read: %s", seen.error().what.c_str());
		return;
	}
	world_.volume_gone(seen->name);
	on_change_();
}

void VolumeSource::listed(const std::set<std::string> &live_uids)
{
	log_info("volume list complete count=%zu", live_uids.size());
	world_.volumes_listed(live_uids);
	on_change_();
}

void ClassSource::upserted(json_object *object)
{
	auto seen = codec::storage_class_from_json(object);
	if (!seen) {
		log_warning("a storage class cannot be read: %s", seen.error().what.c_str());
		return;
	}
	world_.class_seen(std::move(*seen));
	on_change_();
}

void ClassSource::deleted(json_object *last_state)
{
	const auto seen = codec::storage_class_from_json(last_state);
	if (!seen) {
		log_warning("a deleted storage class cannot be read: %s", seen.error().what.c_str());
		return;
	}
	world_.class_gone(seen->name);
	on_change_();
}

void ClassSource::listed(const std::set<std::string> &live_uids)
{
	log_info("storage class list complete count=%zu", live_uids.size());
	world_.classes_listed(live_uids);
	on_change_();
}

} // namespace slurmkube::agent
