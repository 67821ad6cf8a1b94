/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/cel/access.h"

#include "src/core/cel/utf8.h"

#include <utility>

namespace slurmkube::core::cel
{

namespace
{

/* Nothing for the empty map, too. */
template <class Map> const typename Map::mapped_type *lookup(const Map *map, std::string_view key)
{
	if (map == nullptr)
		return nullptr;
	const auto found = map->find(key);
	return found == map->end() ? nullptr : &found->second;
}

std::optional<Value> field_of(const Device &device, std::string_view name)
{
	if (name == "driver")
		return Value{std::string_view(device.driver)};
	if (name == "allowMultipleAllocations")
		return Value{device.allow_multiple_allocations};
	if (name == "attributes")
		return Value{&device.attributes};
	if (name == "capacity")
		return Value{&device.capacity};
	return std::nullopt;
}

template <class Map> List keys_of(const Map *map)
{
	std::vector<Value> out;
	if (map != nullptr) {
		for (const auto &entry : *map)
			out.push_back(Value{std::string_view(entry.first)});
	}
	return std::make_shared<const std::vector<Value>>(std::move(out));
}

/* The result of a function of the map; nothing: it is no map. */
template <class F> auto with_map(const Value &value, F function)
	-> std::optional<decltype(function(Attributes{}))>
{
	if (const auto *by_domain = as<AttributesByDomain>(value))
		return function(*by_domain);
	if (const auto *by_domain = as<CapacityByDomain>(value))
		return function(*by_domain);
	if (const auto *by_id = as<Attributes>(value))
		return function(*by_id);
	if (const auto *by_id = as<Capacities>(value))
		return function(*by_id);
	return std::nullopt;
}

} // namespace

std::optional<Value> find_field(const Value &of, std::string_view key)
{
	if (const auto *device = as<const Device *>(of))
		return field_of(**device, key);
	if (const auto *by_domain = as<AttributesByDomain>(of))
		return Value{lookup(*by_domain, key)};
	if (const auto *by_domain = as<CapacityByDomain>(of))
		return Value{lookup(*by_domain, key)};
	if (const auto *by_id = as<Attributes>(of)) {
		const Attribute *found = lookup(*by_id, key);
		return found == nullptr ? std::nullopt : std::optional(to_value(*found));
	}
	if (const auto *by_id = as<Capacities>(of)) {
		const Quantity *found = lookup(*by_id, key);
		return found == nullptr ? std::nullopt : std::optional(Value{*found});
	}
	return std::nullopt;
}

std::optional<Value> find_element(const Value &of, const Value &index)
{
	if (const auto *key = as<std::string_view>(index))
		return find_field(of, *key);
	const auto *list = as<List>(of);
	const auto *number = as<std::int64_t>(index);
	if (list == nullptr || number == nullptr || *number < 0 ||
		static_cast<std::uint64_t>(*number) >= (*list)->size())
		return std::nullopt;
	return (**list)[static_cast<std::size_t>(*number)];
}

std::optional<bool> has_key(const Value &map, std::string_view key)
{
	return with_map(map, [&](auto of) { return lookup(of, key) != nullptr; });
}

std::optional<List> elements_of(const Value &range)
{
	if (const auto *list = as<List>(range))
		return *list;
	return with_map(range, [](auto map) { return keys_of(map); });
}

std::optional<std::int64_t> number_of_elements(const Value &of)
{
	if (const auto *text = as<std::string_view>(of))
		return static_cast<std::int64_t>(count_code_points(*text));
	if (const auto *list = as<List>(of))
		return static_cast<std::int64_t>((*list)->size());
	return with_map(of, [](auto map) {
		return map == nullptr ? std::int64_t{0} : static_cast<std::int64_t>(map->size());
	});
}

} // namespace slurmkube::core::cel
