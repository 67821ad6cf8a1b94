/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * selector.h - CEL selectors of device classes and claims: which devices they match.
 *
 * Pure. A strict subset of what Kubernetes evaluates (k8s.io/dynamic-resource-allocation/cel): what
 * compile() accepts has the same result here and there, errors included; everything else is
 * refused. doc/design/cel.md says what is understood.
 */
#ifndef SLURMKUBE_CORE_CEL_SELECTOR_H
#define SLURMKUBE_CORE_CEL_SELECTOR_H

#include "src/base/result.h"
#include "src/core/cel/device.h"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace slurmkube::core::cel
{

struct Program;

/* A compiled expression. Copies share it. */
class Selector
{
      public:
	[[nodiscard]] const std::string &text() const;

      private:
	explicit Selector(std::shared_ptr<const Program> program);
	friend Result<Selector> compile(std::string_view text);
	friend Result<bool> matches(
		const Selector &selector, const Device &device, std::size_t &cost);

	std::shared_ptr<const Program> program_;
};

/* invalid: Kubernetes refuses the text, too, or we do not understand it; the error says which, and
 * quotes the place. too_large: more than 10 KiB. */
Result<Selector> compile(std::string_view text);

/* invalid: a runtime error, for example an attribute that the device lacks. Then the claim cannot
 * be satisfied at all; it does not mean that another device may match. too_large: the evaluation
 * costs more than Kubernetes allows. */
Result<bool> matches(const Selector &selector, const Device &device);

/* The same. cost grows by what Kubernetes would charge, or by a little more. */
Result<bool> matches(const Selector &selector, const Device &device, std::size_t &cost);

} // namespace slurmkube::core::cel

#endif
