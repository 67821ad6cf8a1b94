/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Model controllers: a Job replaces a failed or deleted pod under a new name, a StatefulSet
 * replaces any pod that is gone under the same name. */
#include "src/core/model/outcome.h"
#include "testsuite/sim/kube.h"

namespace slurmkube::sim
{

namespace
{

constexpr int k_most_pods = 12; /* per owner, in total */

} // namespace

void Kube::create_owner(Owner owner)
{
	const std::string key = owner.name_space + "/" + owner.name;
	owners_[key] = std::move(owner);
	owner_looks(key);
}

void Kube::owner_looks(const std::string &key)
{
	const auto found = owners_.find(key);
	if (found == owners_.end())
		return;
	stage_.line.after(stage_.dice.between(Topic::controller, hash_of(key), k_ms, 5 * k_second),
		[this, key] {
			Owner &owner = owners_.at(key);
			int live = 0, succeeded = 0;
			for (const auto &[uid, pod] : pods) {
				if (pod.owner != key)
					continue;
				live += sim::is_live(pod) || (owner.keeps_name && pod.exists) ? 1
											      : 0;
				succeeded += pod.end && pod.end->phase == core::PodPhase::succeeded
					? 1
					: 0;
			}
			const int wanted =
				owner.keeps_name ? owner.wanted : owner.wanted - succeeded;
			for (; live < wanted && owner.made < k_most_pods && !stage_.calm; live++)
				make_pod(owner);
		});
}

std::optional<core::Owner> Kube::owner(const core::OwnerId &id) const
{
	const auto found = owners_.find(id.name_space + "/" + id.name);
	if (found == owners_.end())
		return ask_gangs(id);
	core::Owner out;
	out.id = id;
	out.uid = found->second.name;
	return out;
}

void Kube::make_pod(Owner &owner)
{
	PodTruth pod = owner.mould;
	const std::string number = std::to_string(owner.made++);
	pod.owner = owner.name_space + "/" + owner.name;
	pod.api.uid.text = owner.mould.api.uid.text + "." + number;
	pod.api.name_space = owner.name_space;
	pod.api.name = owner.name;
	for (int i = 0; !owner.keeps_name || find(owner.name_space, pod.api.name); i++) {
		pod.api.name = owner.name + "-" + (owner.keeps_name ? std::to_string(i) : number);
		if (!owner.keeps_name)
			break;
	}
	pod.api.controller =
		core::OwnerRef{.api_version = owner.keeps_name ? "apps/v1" : "batch/v1",
			.kind = owner.keeps_name ? "StatefulSet" : "Job",
			.name = owner.name,
			.uid = owner.name};
	create(std::move(pod));
}

} // namespace slurmkube::sim
