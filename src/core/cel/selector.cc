/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/cel/selector.h"

#include "src/core/cel/checker.h"
#include "src/core/cel/evaluator.h"
#include "src/core/cel/parser.h"
#include "src/core/cel/utf8.h"

#include <utility>

namespace slurmkube::core::cel
{

namespace
{

constexpr std::size_t k_longest = 10 * 1024; /* CELSelectorExpressionMaxLength */

} // namespace

Selector::Selector(std::shared_ptr<const Program> program) : program_(std::move(program)) {}

const std::string &Selector::text() const
{
	return program_->text;
}

Result<Selector> compile(std::string_view text)
{
	if (text.size() > k_longest)
		return Error{Errc::too_large,
			"a CEL selector is longer than 10 KiB: divide it into several selectors"};
	if (!is_utf8(text))
		return Error{Errc::invalid, "a CEL selector is not UTF-8: correct its encoding"};
	const auto program = std::make_shared<Program>(text);
	Status status = parse(*program);
	if (status)
		status = check(*program);
	if (!status)
		return status.error();
	return Selector(program);
}

Result<bool> matches(const Selector &selector, const Device &device, std::size_t &cost)
{
	return evaluate(*selector.program_, device, cost);
}

Result<bool> matches(const Selector &selector, const Device &device)
{
	std::size_t cost = 0;
	return matches(selector, device, cost);
}

} // namespace slurmkube::core::cel
