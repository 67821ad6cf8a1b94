/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/cel/apply.h"

#include <algorithm>

namespace slurmkube::core::cel
{

namespace
{

/* The costs of cel-go (interpreter/runtimecost.go) and of Kubernetes' own functions
 * (k8s.io/apiserver/pkg/cel/library/cost.go). */

std::size_t traversal(std::size_t size)
{
	return (size + 9) / 10;
}

std::size_t smaller_traversal(const std::vector<Value> &arguments)
{
	return traversal(std::min(size_of(arguments[0]), size_of(arguments[1])));
}

std::size_t search(const std::vector<Value> &arguments)
{
	return traversal(size_of(arguments[0])) * traversal(size_of(arguments[1]));
}

std::size_t match(const std::vector<Value> &arguments)
{
	return traversal(size_of(arguments[0]) + 1) * ((size_of(arguments[1]) + 3) / 4);
}

std::size_t join(const std::vector<Value> &arguments)
{
	return traversal(size_of(arguments[0]) + size_of(arguments[1]));
}

std::size_t price(Function function, const std::vector<Value> &arguments)
{
	switch (function) {
	case Function::equal:
	case Function::different:
	case Function::less:
	case Function::less_or_equal:
	case Function::greater:
	case Function::greater_or_equal:
		return smaller_traversal(arguments);
	case Function::add:
		return join(arguments);
	case Function::in:
		return size_of(arguments[1]);
	case Function::starts_with:
	case Function::ends_with:
		return traversal(size_of(arguments[1]));
	case Function::contains:
		return search(arguments);
	case Function::matches:
		return match(arguments);
	case Function::lower_ascii:
	case Function::upper_ascii:
	case Function::quantity:
	case Function::is_quantity:
	case Function::semver:
	case Function::is_semver:
		return traversal(size_of(arguments[0]));
	default:
		return 1;
	}
}

} // namespace

std::size_t cost_of(Function function, const std::vector<Value> &arguments)
{
	return std::max<std::size_t>(price(function, arguments), 1);
}

} // namespace slurmkube::core::cel
