/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of Plugin that sees the containers which run already when it connects. */
#include "src/base/log.h"
#include "src/base/text.h"
#include "src/node/plugin.h"

#include <algorithm>
#include <iterator>

namespace slurmkube::node
{

namespace
{

/* After that no more containers that run are looked at for their devices: one may take a little
 * more than k_answer_limit, and the runtime waits for 2 s. */
constexpr std::chrono::milliseconds k_adoption_limit{500};

} // namespace

/* A container that runs already. If its job has ended, its epilog is waiting for its processes. */
void Plugin::adopt(
	const Pod &pod, const Container &container, std::vector<ContainerUpdate> &updates)
{
	if (container.state != ContainerState::created)
		started({pod, container});
	Result<Confinement> confinement = allowed(pod, container);
	if (!confinement) {
		log_warning("container %s goes on: %s", printable(container.id).c_str(),
			printable(confinement.error().what).c_str());
		return;
	}
	confinement->memory_limit = 0;
	updates.push_back({container.id, *confinement});
	check_adopted({pod, container});
}

/* A container that was created without us may have any devices. It is not ended: what it has used
 * so far, it has. */
void Plugin::check_adopted(const ContainerRequest &request)
{
	if (std::chrono::steady_clock::now() >= check_until_) {
		log_warning("container %s goes on, and its devices are not looked at: the runtime "
			    "waits",
			printable(request.container.id).c_str());
		return;
	}
	if (const Result<Ok> checked = check_devices(request); !checked)
		log_error("container %s goes on: %s", printable(request.container.id).c_str(),
			printable(checked.error().what).c_str());
}

Result<std::string> Plugin::synchronize(Inventory piece)
{
	std::ranges::move(piece.pods, std::back_inserter(inventory_.pods));
	std::ranges::move(piece.containers, std::back_inserter(inventory_.containers));
	if (piece.more)
		return updates({}, true);
	std::vector<ContainerUpdate> all;
	check_until_ = std::chrono::steady_clock::now() + k_adoption_limit;
	for (const Container &container : inventory_.containers) {
		const auto pod = std::ranges::find(inventory_.pods, container.pod_id, &Pod::id);
		if (pod != inventory_.pods.end() && container.state != ContainerState::stopped)
			adopt(*pod, container, all);
	}
	log_info("%zu containers, %zu of them get processors anew", inventory_.containers.size(),
		all.size());
	inventory_ = {};
	has_inventory_ = true;
	return updates(all);
}

} // namespace slurmkube::node
