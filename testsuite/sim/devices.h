/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * devices.h - model devices and claims for them: a driver on each node, the controller of resource
 * claims (kube-controller-manager), and what both keep in the API server.
 *
 * Each pod that needs devices has one claim, made of a template, or shares the one that all pods of
 * its gang name, which a user makes. The controller behaves as that of
 * Kubernetes 1.37 (pkg/controller/resourceclaim/controller.go): it makes the claim anew if it is
 * gone, and gives the devices back when the pod is done. A kubelet starts a pod only when the claim
 * is allocated and reserved for the pod.
 */
#ifndef SLURMKUBE_TESTSUITE_SIM_DEVICES_H
#define SLURMKUBE_TESTSUITE_SIM_DEVICES_H

#include "src/core/device/resource_claim.h"
#include "src/core/device/rule.h"
#include "src/core/placement/claims.h"
#include "testsuite/sim/kube.h"

namespace slurmkube::sim
{

inline constexpr char k_driver[] = "gpu.sim", k_device_class[] = "gpu";

class Devices
{
      public:
	Devices(Stage &stage, Kube &kube, std::uint64_t seed);

	/* Half of all seeds have devices. */
	[[nodiscard]] bool are_there() const { return are_there_; }
	[[nodiscard]] core::DeviceRules rules() const;
	static core::DeviceClass device_class();
	/* 0: the node has none. */
	[[nodiscard]] std::uint32_t count_on(const std::string &node) const;
	[[nodiscard]] bool are_away() const { return slices_.empty(); }
	/* Some pods need devices; number: of the pod's event. */
	void draw(PodTruth &pod, std::uint64_t number) const;
	/* A write of the agent, as the API server carries it out. */
	Status write(const core::ClaimStep &step);
	/* What the pod's claim gives it; nullptr: it has no claim, or none that it may use. */
	[[nodiscard]] const core::ResourceClaim *claim_of(const PodTruth &pod) const;
	/* Whether both pods name the same claim. */
	[[nodiscard]] static bool is_common(const PodTruth &one, const PodTruth &other);

	/* by namespace and name, only what exists */
	std::map<core::ResourceClaimId, core::ResourceClaim> claims;
	Collection<core::ResourceClaim> claim_store;
	Collection<core::ResourceSlice> slice_store;
	/* Called when a kubelet is about to start the pod with these devices. */
	std::function<void(const PodTruth &)> on_prepared;

      private:
	/* ---- drivers ---- */
	void publish(const std::string &node);
	void withdraw(const std::string &node);
	void node_changed(const NodeTruth &node);
	bool prepare(PodTruth &pod);
	/* ---- the controller ---- */
	void controller_later(const std::string &pod);
	void controller_looks(const std::string &pod);
	void make_claim(PodTruth &pod);
	void end_claim(const PodTruth &pod);
	void look_at_shared(PodTruth &pod);
	/* The controller looks at the claim of its owner, or of those that share it. */
	void controller_later(const core::ResourceClaim &claim);
	/* ---- people ---- */
	void make_trouble();

	Status change(const core::ResourceClaimId &id, const std::string &uid,
		const std::string &version,
		const std::function<Status(core::ResourceClaim &)> &body);
	void put(core::ResourceClaim &claim);

	Stage &stage_;
	Kube &kube_;
	const bool are_there_;
	const std::uint64_t seed_;
	std::map<std::string, std::string> slices_; /* uid by node */
	std::int64_t generation_ = 0;
	std::uint64_t version_ = 0, made_ = 0;
};

} // namespace slurmkube::sim

#endif
