/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * source.h - the text of a selector, and the errors that quote a place in it.
 */
#ifndef SLURMKUBE_CORE_CEL_SOURCE_H
#define SLURMKUBE_CORE_CEL_SOURCE_H

#include "src/base/result.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace slurmkube::core::cel
{

struct Refusal {
	bool is_wrong; /* Kubernetes refuses it, too; false: it is not understood */
	std::string what;
};

struct Source {
	std::string_view text;

	/* Kubernetes refuses this, too. */
	[[nodiscard]] Error wrong(std::size_t at, const std::string &why) const;
	/* CEL may allow this. We do not evaluate it. */
	[[nodiscard]] Error not_understood(std::size_t at, const std::string &what) const;
	[[nodiscard]] Error refuse(std::size_t at, const Refusal &refusal) const;
};

} // namespace slurmkube::core::cel

#endif
