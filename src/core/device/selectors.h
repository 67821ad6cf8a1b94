/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * selectors.h - compiled CEL selectors, kept by their text: classes and claims repeat a few texts.
 */
#ifndef SLURMKUBE_CORE_DEVICE_SELECTORS_H
#define SLURMKUBE_CORE_DEVICE_SELECTORS_H

#include "src/core/cel/selector.h"

#include <map>
#include <string>

namespace slurmkube::core
{

class Selectors
{
      public:
	/* Errors: those of cel::compile(). */
	[[nodiscard]] Result<cel::Selector> find(const std::string &text) const;

      private:
	mutable std::map<std::string, Result<cel::Selector>> compiled_;
};

} // namespace slurmkube::core

#endif
