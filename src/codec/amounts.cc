/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/codec/amounts.h"

#include <algorithm>
#include <limits>

namespace slurmkube::codec
{

namespace
{

/* Quantities are strings, but a number is legal where no API server has normalised the object. */
std::string quantity_text(json_object *value)
{
	const char *text = value != nullptr ? json_object_get_string(value) : nullptr;
	return text != nullptr ? text : "";
}

/* The maximum of an amount: larger than any node, but small enough that a sum over the largest
 * gang fits into 64 bits. For a pod with such a request the agent reports that no node is large
 * enough. */
std::int64_t most_of(const std::string &name)
{
	if (name == "cpu")
		return std::int64_t{1} << 38; /* thousandths */
	const bool is_bytes =
		name == "memory" || name == "ephemeral-storage" || name.starts_with("hugepages-");
	return std::int64_t{1} << (is_bytes ? 48 : 40);
}

/* Lowers the amount to the maximum, because the API server accepts quantities of any size. */
Result<std::int64_t> amount_of(
	const std::string &name, const std::string &text, core::Rounding rounding)
{
	const auto amount = core::parse_quantity(
		text, name == "cpu" ? core::Scale::milli : core::Scale::whole, rounding);
	if (!amount && amount.error().code != Errc::too_large)
		return amount.error();
	return amount ? std::min(*amount, most_of(name)) : most_of(name);
}

} // namespace

Result<Amounts> amounts_from_json(json_object *list, core::Rounding rounding)
{
	Amounts amounts;
	if (!json_object_is_type(list, json_type_object))
		return amounts;
	json_object_object_foreach(list, name, value)
	{
		const std::string key = name;
		const auto amount = amount_of(key, quantity_text(value), rounding);
		if (!amount)
			return in_context(key, amount.error());
		if (*amount < 0)
			return Error{
				Errc::invalid, key + ": negative: '" + quantity_text(value) + "'"};
		amounts[key] = *amount;
	}
	return amounts;
}

void add(Amounts &to, const Amounts &more)
{
	for (const auto &[name, amount] : more) {
		std::int64_t &sum = to[name];
		if (__builtin_add_overflow(sum, amount, &sum))
			sum = std::numeric_limits<std::int64_t>::max();
	}
}

void raise(Amounts &to, const Amounts &at_least)
{
	for (const auto &[name, amount] : at_least)
		to[name] = std::max(to[name], amount);
}

core::Resources resources_of(const Amounts &amounts)
{
	core::Resources resources;
	for (const auto &[name, amount] : amounts) {
		if (name == "cpu")
			resources.milli_cpu = amount;
		else if (name == "memory")
			resources.memory_bytes = amount;
		else if (name == "pods")
			resources.pods = amount;
		else
			resources.extended[name] = amount;
	}
	return resources;
}

} // namespace slurmkube::codec
