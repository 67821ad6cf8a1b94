/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_cel.cc - CEL selectors of users on a device; patterns, quantities and versions.
 *
 * The first line is the value of an attribute, which is also read as a quantity, a version and the
 * text of a pattern. The rest is the selector, and the pattern.
 */
#include "src/core/cel/regex.h"
#include "src/core/cel/selector.h"
#include "src/core/cel/utf8.h"
#include "testsuite/fuzz/fuzz.h"

#include <initializer_list>
#include <optional>
#include <variant>

using namespace slurmkube;
using namespace slurmkube::fuzz;
namespace cel = slurmkube::core::cel;

namespace
{

constexpr std::size_t k_most_cost = 1'000'000;

cel::Device device_with(const std::string &text)
{
	cel::Device out;
	out.driver.assign(1, 'd');
	cel::add_attribute(out, "s", text);
	cel::add_attribute(out, "i", std::int64_t{7});
	cel::add_attribute(out, "b", true);
	cel::add_attribute(out, "o/v", *cel::Version::parse("1.2.3-rc.1"));
	cel::add_capacity(out, "c", cel::Quantity::parse(text).value_or(cel::Quantity()));
	return out;
}

std::string joined(std::initializer_list<std::string_view> parts)
{
	std::string out;
	for (const std::string_view part : parts)
		out += part;
	return out;
}

/* The verdict of a selector that is derived from one that is understood; nothing if it is refused:
 * the derived one may be too long or too deep. */
std::optional<Result<bool>> derived(const std::string &text, const cel::Device &device)
{
	const auto selector = cel::compile(text);
	if (!selector)
		return std::nullopt;
	return cel::matches(*selector, device);
}

bool is_same(const Result<bool> &a, const Result<bool> &b)
{
	return a.ok() ? b.ok() && *a == *b : !b.ok() && a.error().code == b.error().code;
}

/* Such an error ends the evaluation, whatever is behind ||. */
bool ends_evaluation(const Error &error)
{
	return error.code == Errc::too_large ||
		error.what.find("list of constants") != std::string::npos;
}

void check_verdict(const std::string &text, const cel::Device &device, const Result<bool> &verdict)
{
	/* a newline ends a comment */
	const auto again = derived(joined({"(", text, "\n)"}), device);
	const auto opposite = derived(joined({"!(", text, "\n)"}), device);
	const auto absorbed = derived(joined({"(", text, "\n) || true"}), device);
	const auto decided = derived(joined({"false && (", text, "\n)"}), device);
	MUST(!again || is_same(*again, verdict));
	MUST(!opposite || opposite->ok() == verdict.ok());
	MUST(!opposite || !verdict || **opposite != *verdict);
	MUST(!absorbed || (absorbed->ok() ? **absorbed : ends_evaluation(absorbed->error())));
	MUST(!absorbed || !verdict || absorbed->ok());
	MUST(!decided || (decided->ok() && !**decided));
}

void check_selector(const std::string &value, const std::string &text)
{
	const auto selector = cel::compile(text);
	MUST(says_why(selector));
	if (!selector) {
		MUST(cel::is_utf8(selector.error().what) && selector.error().what.size() < 1000);
		return;
	}
	MUST(selector->text() == text && cel::is_utf8(text) && text.size() <= 10 * 1024);
	const cel::Device device = device_with(value);
	std::size_t cost = 0;
	const auto verdict = cel::matches(*selector, device, cost);
	MUST(says_why(verdict));
	MUST(verdict || verdict.error().code != Errc::internal);
	MUST(!verdict || cost <= k_most_cost);
	MUST(is_same(verdict, cel::matches(*selector, device)));
	check_verdict(text, device, verdict);
}

void check_pattern(const std::string &text, const std::string &pattern)
{
	const auto compiled = cel::Regex::compile(pattern);
	if (const auto *refusal = std::get_if<cel::Refusal>(&compiled)) {
		MUST(!refusal->what.empty());
		return;
	}
	const bool found = std::get<cel::Regex>(compiled).matches(text);
	const auto grouped = cel::Regex::compile(joined({"(?:", pattern, ")"}));
	const auto optional = cel::Regex::compile(joined({"(?:", pattern, ")?"}));
	const auto whole = cel::Regex::compile(joined({"^(?:", pattern, ")$"}));
	if (!std::holds_alternative<cel::Regex>(grouped))
		return; /* nested too deeply */
	MUST(std::get<cel::Regex>(grouped).matches(text) == found);
	MUST(std::get<cel::Regex>(optional).matches(text));
	MUST(found || !std::get<cel::Regex>(whole).matches(text));
}

void check_quantity(const std::string &text)
{
	const auto quantity = cel::Quantity::parse(text);
	if (!quantity)
		return;
	MUST(quantity->compare(*quantity) == 0);
	MUST(quantity->compare(cel::Quantity()) == quantity->sign());
	MUST(text[0] == '-' ? quantity->sign() <= 0 : quantity->sign() >= 0);
	if (text[0] == '-' || text[0] == '+')
		return;
	const auto negative = cel::Quantity::parse(joined({"-", text}));
	const auto positive = cel::Quantity::parse(joined({"+", text}));
	MUST(negative && negative->sign() == -quantity->sign());
	MUST(positive && positive->compare(*quantity) == 0);
	MUST(negative->compare(*quantity) == -quantity->compare(*negative));
}

void check_version(const std::string &text)
{
	const auto version = cel::parse_semver(text);
	if (!version)
		return;
	const cel::Semver release{version->major, version->minor, version->patch, {}};
	MUST(cel::compare(*version, *version) == 0);
	MUST(cel::compare(*version, release) == (version->prerelease.empty() ? 0 : -1));
	MUST(cel::compare(release, *version) == (version->prerelease.empty() ? 0 : 1));
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
	Input input(data, size);
	const std::string value = input.line(), text(input.rest());
	check_selector(value, text);
	check_pattern(value, text);
	check_quantity(value);
	check_version(value);
	return 0;
}
