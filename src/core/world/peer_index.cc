/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/world/peer_index.h"

#include "src/core/placement/surroundings.h"

namespace slurmkube::core
{

void PeerIndex::note(const Pod &pod)
{
	if (minds_others(pod))
		choosy_.insert(pod.uid);
	if (!pod.demands.anti_affinity.empty())
		averse_.insert(pod.uid);
	if (minds_afar(pod))
		far_minded_.insert(pod.uid);
}

void PeerIndex::forget(const PodUid &uid)
{
	for (auto *list : {&choosy_, &averse_, &far_minded_})
		list->erase(uid);
}

} // namespace slurmkube::core
