/* SPDX-License-Identifier: GPL-2.0-or-later */
/* If libcurl hides the ends of answers (curl_versions.h), a request with a short answer makes it
 * notice them. */
#include "src/agent/kube/curl_versions.h"
#include "src/agent/kube/requests.h"

#include <algorithm>

namespace slurmkube::kube
{

namespace
{

constexpr std::chrono::milliseconds k_stalled{100}, k_between_stirs{300};

} // namespace

void Requests::look_after()
{
	if (stir_timer_ != 0 || !curl_hides_ends())
		return;
	stir_timer_ = session_.loop.after(k_stalled, [this] {
		stir_timer_ = 0;
		stir_if_stalled();
	});
}

void Requests::stir_if_stalled()
{
	if (flying_.empty())
		return;
	const Clock::time_point now = Clock::now();
	const bool is_stalled = std::any_of(flying_.begin(), flying_.end(), [now](const auto &one) {
		const Clock::time_point last = one.second.transfer->last_byte();
		return last != Clock::time_point{} && now - last >= k_stalled;
	});
	if (is_stalled && !stirring_ && now - stirred_ >= k_between_stirs)
		stir();
	look_after();
}

/* Not subject to the limit, because stalled requests may have used it up. */
void Requests::stir()
{
	Pending pending;
	pending.request.path = "/version";
	pending.request.any_status = true;
	pending.request.deadline = std::chrono::seconds(5);
	pending.on_response = [this](const Result<Response> &) { stirring_ = false; };
	stirred_ = Clock::now();
	stirring_ = fly(std::move(pending)).ok();
}

} // namespace slurmkube::kube
