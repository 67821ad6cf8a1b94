/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/device/alternatives.h"

#include "src/core/device/fit.h"

#include <algorithm>
#include <utility>

namespace slurmkube::core
{

namespace
{

constexpr std::size_t k_ways_most = 64;

/* As in kube-scheduler, which copies only what concerns the alternative that it took. */
bool is_for_a_request(const ClaimConfig &config, const std::vector<DeviceRequest> &requests)
{
	return config.requests.empty() ||
		std::ranges::any_of(requests, [&](const DeviceRequest &request) {
			return names(config.requests, request.name);
		});
}

} // namespace

Alternatives::Alternatives(std::vector<const ResourceClaim *> claims) : asked_(std::move(claims))
{
	for (std::size_t claim = 0; claim < asked_.size(); claim++) {
		const std::vector<DeviceRequest> &requests = asked_[claim]->requests;
		for (std::size_t request = 0; request < requests.size(); request++) {
			if (!requests[request].alternatives.empty())
				choices_.push_back({claim, request, 0});
		}
	}
	make();
}

const std::vector<DeviceRequest> &Alternatives::of(const Choice &choice) const
{
	return asked_[choice.claim]->requests[choice.request].alternatives;
}

bool Alternatives::next()
{
	if (seen_ >= k_ways_most)
		return false;
	for (auto choice = choices_.rbegin(); choice != choices_.rend(); choice++) {
		if (++choice->chosen < of(*choice).size()) {
			seen_++;
			make();
			return true;
		}
		choice->chosen = 0;
	}
	return false;
}

void Alternatives::make()
{
	claims_ = asked_;
	if (choices_.empty())
		return;
	made_.clear();
	for (const ResourceClaim *claim : asked_)
		made_.push_back(*claim);
	for (const Choice &choice : choices_)
		made_[choice.claim].requests[choice.request] = of(choice)[choice.chosen];
	for (std::size_t i = 0; i < made_.size(); i++) {
		std::erase_if(made_[i].configs, [&](const ClaimConfig &config) {
			return !is_for_a_request(config, made_[i].requests);
		});
		claims_[i] = &made_[i];
	}
}

} // namespace slurmkube::core
