/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/device/selectors.h"

namespace slurmkube::core
{

namespace
{

/* Any user may write claims, so the number of texts is limited. */
constexpr std::size_t k_kept_most = 1024;

} // namespace

Result<cel::Selector> Selectors::find(const std::string &text) const
{
	const auto known = compiled_.find(text);
	if (known != compiled_.end())
		return known->second;
	if (compiled_.size() >= k_kept_most)
		compiled_.clear();
	return compiled_.emplace(text, cel::compile(text)).first->second;
}

} // namespace slurmkube::core
