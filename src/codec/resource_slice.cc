/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/codec/resource_slice.h"

#include "src/codec/time.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace slurmkube::codec
{

namespace
{

/* Kubernetes allows 128 devices per slice, 32 attributes and capacities and 16 taints per device,
 * and 32 selectors and 32 configurations per class. */
constexpr std::size_t k_devices_most = 128;
constexpr std::size_t k_properties_most = 64;
constexpr std::size_t k_taints_most = 64;
constexpr std::size_t k_class_items_most = 32;
/* Kubernetes: 64 bytes per value, 10 KiB per expression and per opaque parameters. */
constexpr std::size_t k_value_most = 256;
constexpr std::size_t k_config_most = std::size_t{32} * 1024;
/* Kubernetes: a driver's name is a DNS subdomain of at most 63 characters; some of its types allow
 * capital letters. */
constexpr std::string_view k_driver_characters =
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.";
constexpr std::size_t k_driver_most = 63;

/* Fields whose meaning is honoured, or changes nothing on a single node. Any other field that is
 * set makes the object unsupported, also one that a later Kubernetes adds. */
constexpr std::string_view k_known_of_slice[] = {
	"driver", "pool", "nodeName", "devices", "sharedCounters", "partitionTypeAttribute"};
constexpr std::string_view k_known_of_device[] = {"name", "attributes", "capacity", "taints"};

bool is_set(json_object *value)
{
	switch (json_object_get_type(value)) {
	case json_type_null:
		return false;
	case json_type_boolean:
		return json_object_get_boolean(value) != 0;
	case json_type_array:
		return json_object_array_length(value) > 0;
	case json_type_object:
		return json_object_object_length(value) > 0;
	default:
		return true;
	}
}

/* The first member that is set and unknown; empty: none. */
template <std::size_t N>
std::string unknown_member(json_object *object, const std::string_view (&known)[N])
{
	if (!json_object_is_type(object, json_type_object))
		return {};
	json_object_object_foreach(object, name, value)
	{
		if (is_set(value) && std::ranges::find(known, name) == std::end(known))
			return name;
	}
	return {};
}

std::size_t size_of(json_object *map)
{
	return json_object_is_type(map, json_type_object)
		? static_cast<std::size_t>(json_object_object_length(map))
		: 0;
}

/* Nothing: it is of a kind that selectors of ours do not know. */
std::optional<core::cel::Attribute> attribute_of(json_object *value)
{
	if (size_of(value) != 1)
		return std::nullopt;
	if (json_object *number = get(value, "int"); json_object_is_type(number, json_type_int))
		return core::cel::Attribute(json_object_get_int64(number));
	if (json_object *truth = get(value, "bool"); json_object_is_type(truth, json_type_boolean))
		return core::cel::Attribute(json_object_get_boolean(truth) != 0);
	if (const std::string text = get_string(value, "string");
		json_object_is_type(get(value, "string"), json_type_string) &&
		text.size() <= k_value_most)
		return core::cel::Attribute(text);
	const std::string text = get_string(value, "version");
	const auto version =
		text.size() <= k_value_most ? core::cel::Version::parse(text) : std::nullopt;
	return version ? std::optional<core::cel::Attribute>(*version) : std::nullopt;
}

std::string kind_of(json_object *value)
{
	if (!json_object_is_type(value, json_type_object))
		return {};
	json_object_object_foreach(value, kind, unused)
	{
		(void)unused;
		return std::string(".") + kind;
	}
	return {};
}

void note(std::string &unsupported, const std::string &field)
{
	if (unsupported.empty())
		unsupported = field;
}

void take_attributes(core::SliceDevice &device, json_object *map)
{
	if (size_of(map) > k_properties_most)
		return note(device.unsupported, "too many attributes");
	if (size_of(map) == 0)
		return;
	json_object_object_foreach(map, name, value)
	{
		if (auto attribute = attribute_of(value))
			core::cel::add_attribute(device.properties, name, std::move(*attribute));
		else
			note(device.unsupported,
				"attributes[" + std::string(name) + "]" + kind_of(value));
	}
}

/* A capacity's requestPolicy only matters with allowMultipleAllocations. */
void take_capacity(core::SliceDevice &device, json_object *map)
{
	if (size_of(map) > k_properties_most)
		return note(device.unsupported, "too many capacities");
	if (size_of(map) == 0)
		return;
	json_object_object_foreach(map, name, value)
	{
		const std::string text = get_string(value, "value");
		const auto quantity = text.size() <= k_value_most ? core::cel::Quantity::parse(text)
								  : std::nullopt;
		if (quantity)
			core::cel::add_capacity(device.properties, name, *quantity);
		else
			note(device.unsupported, "capacity[" + std::string(name) + "]");
	}
}

core::Taint taint_of(json_object *taint)
{
	return {get_string(taint, "key"), get_string(taint, "value"), get_string(taint, "effect")};
}

void take_taints(core::SliceDevice &device, json_object *taints)
{
	if (array_size(taints) > k_taints_most)
		return note(device.unsupported, "too many taints");
	for (std::size_t i = 0; i < array_size(taints); i++)
		device.taints.push_back(taint_of(array_at(taints, i)));
}

core::SliceDevice device_of(json_object *object, const std::string &driver)
{
	core::SliceDevice device;
	device.name = get_string(object, "name");
	device.properties.driver = driver;
	device.properties.allow_multiple_allocations = get_bool(object, "allowMultipleAllocations");
	note(device.unsupported, unknown_member(object, k_known_of_device));
	take_attributes(device, get(object, "attributes"));
	take_capacity(device, get(object, "capacity"));
	take_taints(device, get(object, "taints"));
	return device;
}

Result<std::vector<std::string>> selectors_of(json_object *array)
{
	std::vector<std::string> out;
	if (array_size(array) > k_class_items_most)
		return Error{Errc::too_large,
			"has more than " + std::to_string(k_class_items_most) + " selectors"};
	for (std::size_t i = 0; i < array_size(array); i++) {
		/* a selector of another kind stays as an empty text, which is refused later */
		out.push_back(get_string(get(array_at(array, i), "cel"), "expression"));
	}
	return out;
}

Result<std::vector<std::string>> configs_of(json_object *array)
{
	std::vector<std::string> out;
	if (array_size(array) > k_class_items_most)
		return Error{Errc::too_large,
			"has more than " + std::to_string(k_class_items_most) + " configurations"};
	for (std::size_t i = 0; i < array_size(array); i++) {
		json_object *one = array_at(array, i);
		const std::string text = to_text(one);
		if (size_of(one) != 1 || !json_object_is_type(get(one, "opaque"), json_type_object))
			return Error{Errc::invalid,
				"config[" + std::to_string(i) + "] is of another kind than opaque"};
		if (text.size() > k_config_most)
			return Error{
				Errc::too_large, "config[" + std::to_string(i) + "] is too long"};
		out.push_back(text);
	}
	return out;
}

std::optional<std::string> criterion(json_object *selector, const char *name)
{
	json_object *value = get(selector, name);
	return json_object_is_type(value, json_type_string)
		? std::optional(get_string(selector, name))
		: std::nullopt;
}

bool is_driver(std::string_view name)
{
	return !name.empty() && name.size() <= k_driver_most &&
		name.find_first_not_of(k_driver_characters) == std::string_view::npos;
}

} // namespace

Result<core::ResourceSlice> resource_slice_from_json(json_object *object)
{
	json_object *metadata = get(object, "metadata"), *spec = get(object, "spec"),
		    *pool = get(spec, "pool"), *devices = get(spec, "devices");
	core::ResourceSlice slice;
	slice.name = get_string(metadata, "name");
	slice.uid = get_string(metadata, "uid");
	slice.pool = {get_string(spec, "driver"), get_string(pool, "name")};
	if (slice.name.empty() || slice.uid.empty() || slice.pool.name.empty())
		return Error{Errc::invalid, "not a resource slice: without name, uid or pool"};
	if (!is_driver(slice.pool.driver))
		return Error{Errc::invalid,
			"not a resource slice: '" + slice.pool.driver +
				"' is not the name of a driver"};
	slice.generation = get_int(pool, "generation");
	slice.slice_count = get_int(pool, "resourceSliceCount");
	slice.node = get_string(spec, "nodeName");
	slice.unsupported = unknown_member(spec, k_known_of_slice);
	if (array_size(devices) > k_devices_most) {
		slice.unsupported = "too many devices";
		return slice;
	}
	for (std::size_t i = 0; i < array_size(devices); i++)
		slice.devices.push_back(device_of(array_at(devices, i), slice.pool.driver));
	return slice;
}

Result<core::DeviceTaintRule> taint_rule_from_json(json_object *object)
{
	json_object *metadata = get(object, "metadata"), *spec = get(object, "spec"),
		    *selector = get(spec, "deviceSelector");
	core::DeviceTaintRule out;
	out.name = get_string(metadata, "name");
	out.uid = get_string(metadata, "uid");
	if (out.name.empty() || out.uid.empty())
		return Error{Errc::invalid, "not a device taint rule: without name or uid"};
	out.has_selector = json_object_is_type(selector, json_type_object);
	out.driver = criterion(selector, "driver");
	out.pool = criterion(selector, "pool");
	out.device = criterion(selector, "device");
	out.taint = taint_of(get(spec, "taint"));
	return out;
}

Result<core::DeviceClass> device_class_from_json(json_object *object)
{
	json_object *metadata = get(object, "metadata"), *spec = get(object, "spec");
	core::DeviceClass out;
	out.name = get_string(metadata, "name");
	out.uid = get_string(metadata, "uid");
	if (out.name.empty() || out.uid.empty())
		return Error{Errc::invalid, "not a device class: without name or uid"};
	auto selectors = selectors_of(get(spec, "selectors"));
	if (!selectors)
		return in_context("device class " + out.name, selectors.error());
	auto configs = configs_of(get(spec, "config"));
	if (!configs)
		return in_context("device class " + out.name, configs.error());
	out.selectors = std::move(*selectors);
	out.configs = std::move(*configs);
	out.extended_resource = get_string(spec, "extendedResourceName");
	/* of two classes with the same resource the newer one counts */
	if (const auto created = parse_time(get_string(metadata, "creationTimestamp")))
		out.created = *created;
	return out;
}

} // namespace slurmkube::codec
