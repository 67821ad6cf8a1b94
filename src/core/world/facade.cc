/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Maps each observation and answer to the function of World that handles it. */
#include "src/core/world/extended_resources.h"
#include "src/core/world/world.h"

#include <type_traits>

namespace slurmkube::core
{

struct World::Observer {
	World &world;
	Now now;

	void operator()(PodSeen &seen) const { world.pod_seen(std::move(seen.pod), now); }
	void operator()(PodGone &seen) const
	{
		world.pod_gone(seen.uid, std::move(seen.last), now);
	}
	void operator()(PodsListed &seen) const { world.pods_listed(seen.live_uids, now); }
	void operator()(NodeSeen &seen) const { world.node_seen(std::move(seen.node), now); }
	void operator()(NodeGone &seen) const { world.node_gone(seen.name, now); }
	void operator()(NodesListed &seen) const { world.nodes_listed(seen.live_uids); }
	void operator()(ClusterSeen &seen) const { world.cluster_seen(std::move(seen.uid)); }
	void operator()(ClusterDoubted &) const { world.state_.clusters.doubt(); }
	void operator()(LeaseSeen &seen) const { world.lease_seen(std::move(seen.state)); }
	void operator()(NamespaceSeen &seen) const { world.namespace_seen(std::move(seen.seen)); }
	void operator()(NamespaceGone &seen) const { world.namespace_gone(seen.name); }
	void operator()(NamespacesListed &seen) const { world.namespaces_listed(seen.live_uids); }
	void operator()(IdentityRulesSet &seen) const
	{
		world.set_identity_rules(std::move(seen.rules), seen.min_uid);
	}
	void operator()(SettingsSet &seen) const { world.set_settings(std::move(seen.settings)); }
	void operator()(UserFound &seen) const { world.user_found(seen.name, seen.user); }
	void operator()(OwnerSeen &seen) const
	{
		world.owner_seen(seen.id, std::move(seen.answer), now);
	}
	void operator()(ForeignSeen &seen) const { world.foreign_seen(std::move(seen.pod)); }
	void operator()(ForeignGone &seen) const { world.foreign_gone(seen.uid); }
	void operator()(ForeignListed &seen) const { world.foreign_listed(seen.live_uids); }
	void operator()(ClaimsUnreadable &seen) const
	{
		world.state_.claims.set_unreadable(std::move(seen.why));
	}
	void operator()(ClaimSeen &seen) const { world.claim_seen(std::move(seen.claim), now); }
	void operator()(ClaimGone &seen) const { world.claim_gone(seen.id); }
	void operator()(VolumeSeen &seen) const { world.volume_seen(std::move(seen.volume)); }
	void operator()(VolumeGone &seen) const { world.volume_gone(seen.name); }
	void operator()(ClassSeen &seen) const { world.class_seen(std::move(seen.storage_class)); }
	void operator()(ClassGone &seen) const { world.class_gone(seen.name); }
	void operator()(PartitionsRefused &seen) const
	{
		world.partitions_refused(std::move(seen.refused));
	}
	void operator()(ClaimsListed &seen) const
	{
		world.state_.claims.claims_listed(seen.live_uids);
		world.wake_all_claimants();
	}
	void operator()(VolumesListed &seen) const
	{
		world.state_.claims.volumes_listed(seen.live_uids);
		world.wake_all_claimants();
	}
	void operator()(ClassesListed &seen) const
	{
		world.state_.claims.classes_listed(seen.live_uids);
		world.wake_all_claimants();
	}
	void operator()(DevicesUnreadable &seen) const
	{
		world.state_.devices.set_unreadable(std::move(seen.why));
	}
	void operator()(SliceSeen &seen) const
	{
		devices_changed(world.state_.devices.seen(std::move(seen.slice), now));
	}
	void operator()(SliceGone &seen) const
	{
		devices_changed(world.state_.devices.gone(seen.name, now));
	}
	void operator()(SlicesListed &seen) const
	{
		const bool is_first = !world.state_.devices.inventory().is_listed();
		devices_changed(world.state_.devices.listed(seen.live_uids, now));
		if (!is_first)
			return;
		/* nodes without devices have waited for the list, too */
		for (const auto &[name, node] : world.state_.kube_nodes)
			world.nodes_.mark(name);
		demands_changed();
	}
	void operator()(DeviceClassSeen &seen) const
	{
		world.state_.devices.seen(std::move(seen.device_class));
		classes_changed();
	}
	void operator()(DeviceClassGone &seen) const
	{
		world.state_.devices.class_gone(seen.name);
		classes_changed();
	}
	void operator()(DeviceClassesListed &seen) const
	{
		world.state_.devices.classes_listed(seen.live_uids);
		classes_changed();
	}
	void operator()(TaintRuleSeen &seen) const
	{
		devices_changed(world.state_.devices.seen(std::move(seen.rule)));
	}
	void operator()(TaintRuleGone &seen) const
	{
		devices_changed(world.state_.devices.taint_rule_gone(seen.name));
	}
	void operator()(TaintRulesListed &seen) const
	{
		const bool is_first = !world.state_.devices.are_taint_rules_listed();
		devices_changed(world.state_.devices.taint_rules_listed(seen.live_uids));
		if (is_first)
			demands_changed();
	}
	void operator()(ResourceClaimsUnreadable &seen) const
	{
		world.state_.resource_claims.set_unreadable(std::move(seen.why));
	}
	void operator()(ResourceClaimSeen &seen) const
	{
		world.queue_.mark(world.state_.resource_claims.seen(std::move(seen.claim)));
	}
	void operator()(ResourceClaimGone &seen) const
	{
		claims_gone(world.state_.resource_claims.gone(seen.id));
	}
	void operator()(ResourceClaimsListed &seen) const
	{
		claims_gone(world.state_.resource_claims.listed(seen.live_uids));
	}
	void operator()(LinkOpened &seen) const { world.link_opened(std::move(seen.hello)); }
	void operator()(LinkLost &) const { world.state_.sync.lost(); }
	void operator()(JobSeen &seen) const { world.job_seen(std::move(seen.job), now); }
	void operator()(JobGone &seen) const { world.job_gone(seen.id, now); }
	void operator()(SlurmNodeSeen &seen) const { world.slurm_node_seen(std::move(seen.node)); }
	void operator()(SlurmNodeGone &seen) const { world.slurm_node_gone(seen.name); }
	void operator()(NativeJobAnswered &seen) const
	{
		world.queue_.mark(world.state_.native_jobs.answered(
			seen.job, std::move(seen.answer), now, seen.described));
	}
	void operator()(SnapshotEnded &) const { world.snapshot_ended(now); }
	void operator()(SlurmAnswered &) const { world.unanswered_.slurm_answered(now); }

      private:
	/* Their records may have to change. */
	void devices_changed(const std::set<std::string> &nodes) const
	{
		for (const std::string &node : nodes) {
			world.nodes_.mark(node);
			world.changes_.note(node);
		}
		if (!nodes.empty())
			demands_changed();
	}
	void claims_gone(const std::set<PodUid> &users) const
	{
		forget_creations(world.state_, users);
		world.queue_.mark(users);
	}
	void classes_changed() const
	{
		world.queue_.mark(renew_backed(world.state_));
		demands_changed();
	}
	/* What claims ask for may mean other devices now. */
	void demands_changed() const
	{
		world.state_.resource_claims.forget_demands();
		world.queue_.mark(world.state_.resource_claims.users());
		world.place_changed();
	}
};

struct World::Answerer {
	World &world;
	Now now;

	void operator()(SubmitAnswered &told) const { world.submitted(told.pod, told.answer, now); }
	void operator()(UpdateAnswered &told) const
	{
		world.updated(told.pod, told.mark, told.job, told.answer, now);
	}
	void operator()(CompleteAnswered &told) const
	{
		world.completed(told.pod, told.answer, told.was_cancel, now);
	}
	void operator()(BindAnswered &told) const { world.bound(told.pod, told.answer, now); }
	void operator()(WriteClaimAnswered &told) const
	{
		world.claim_written(told.pod, told.answer, now);
	}
	void operator()(DeletePodAnswered &told) const
	{
		world.pod_deleted(told.pod, told.answer, told.cause, now);
	}
	void operator()(ReportAnswered &told) const { world.reported(told.pod, told.answer, now); }
	void operator()(LookUpAnswered &told) const { world.looked_up(told.pod, told.sight, now); }
	void operator()(NodeChangeAnswered &told) const
	{
		world.node_changed(told.name, told.answer, now);
	}
	void operator()(DrainReportAnswered &told) const
	{
		world.nodes_.reported(told.node, told.answer, now);
	}
	void operator()(NodeLookUpAnswered &told) const
	{
		world.node_looked_up(told.name, told.sight, now);
	}
};

/* What concerns any object, or the state that objects have while they are not known. */
template <class Seen> constexpr bool is_about_all()
{
	return (std::is_same_v<Seen, PodsListed> || std::is_same_v<Seen, NodesListed> ||
		std::is_same_v<Seen, ForeignListed> || std::is_same_v<Seen, NamespaceGone> ||
		std::is_same_v<Seen, NamespacesListed> || std::is_same_v<Seen, IdentityRulesSet> ||
		std::is_same_v<Seen, SettingsSet> || std::is_same_v<Seen, UserFound> ||
		std::is_same_v<Seen, SnapshotEnded>);
}

void World::observe(Observation seen, Now now)
{
	std::visit(
		[this](const auto &one) {
			if (is_about_all<std::decay_t<decltype(one)>>())
				changes_.note_all();
		},
		seen);
	std::visit(Observer{*this, now}, seen);
}

void World::answer(Answer answer, Now now)
{
	std::visit(Answerer{*this, now}, answer);
}

} // namespace slurmkube::core
