/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/device/list_maker.h"

#include "src/core/model/gres_type.h"
#include "src/core/model/natural_order.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace slurmkube::core
{

namespace
{

/* Slurm has no indices for more devices of one GRES (MAX_GRES_BITMAP in src/common/gres.h). */
constexpr std::size_t k_list_most = 1024;

/* What may stand in the list that Slurm keeps. */
constexpr std::string_view k_name_characters =
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._";

/* Attributes of a CPU, as dra-driver-cpu 0.2.0 has them. Cores are numbered in their socket. */
constexpr const char *k_place[] = {"socketID", "coreID", "cpuID"};

std::string text_of(const DeviceId &id)
{
	return "device " + id.name + " in " + core::text_of(id.pool);
}

bool is_plain(std::string_view name)
{
	return !name.empty() && name.find_first_not_of(k_name_characters) == std::string_view::npos;
}

struct AttributeText {
	std::string operator()(std::int64_t number) const { return std::to_string(number); }
	std::string operator()(bool truth) const { return truth ? "true" : "false"; }
	std::string operator()(const std::string &text) const { return text; }
	std::string operator()(const cel::Version &version) const { return version.text(); }
};

/* nullptr: the device has no such attribute. */
const cel::Attribute *find_attribute(const cel::Device &device, const std::string &name)
{
	const std::size_t slash = name.find('/');
	const bool is_qualified = slash != std::string::npos;
	const auto domain =
		device.attributes.find(is_qualified ? name.substr(0, slash) : device.driver);
	if (domain == device.attributes.end())
		return nullptr;
	const auto found = domain->second.find(is_qualified ? name.substr(slash + 1) : name);
	return found == domain->second.end() ? nullptr : &found->second;
}

/* Empty: it has none. */
std::string_view number_at_end(std::string_view name)
{
	const std::size_t last = name.find_last_not_of("0123456789");
	return last == std::string_view::npos ? name : name.substr(last + 1);
}

bool is_in_order(const ListedDevice &a, const ListedDevice &b, DeviceOrder order)
{
	if (a.type != b.type)
		return natural_less(a.type, b.type);
	if (order == DeviceOrder::number) {
		const std::string_view one = number_at_end(a.id.name),
				       other = number_at_end(b.id.name);
		if (one.empty() != other.empty())
			return other.empty();
		if (one != other)
			return natural_less(one, other);
	}
	if (a.id.name != b.id.name)
		return natural_less(a.id.name, b.id.name);
	return natural_less(a.id.pool.name, b.id.pool.name);
}

/* Names of pools may have slashes. */
bool is_plain_path(std::string path)
{
	std::erase(path, '/');
	return is_plain(path);
}

} // namespace

std::string text_of(const PoolId &pool)
{
	return "pool " + pool.name + " of driver " + pool.driver;
}

void ListMaker::fail(const std::string &trouble)
{
	if (list_.trouble.empty())
		list_ = {.devices = {}, .trouble = trouble};
}

void ListMaker::add(const ResourceSlice &slice)
{
	if (!slice.unsupported.empty() && slice.devices.empty())
		fail(text_of(slice.pool) + " has " + slice.unsupported +
			", which slurm-kube does not support");
	for (const SliceDevice &device : slice.devices)
		add({slice.pool, device.name}, device,
			slice.unsupported.empty() ? device.unsupported : slice.unsupported);
}

DeviceList ListMaker::take()
{
	if (list_.devices.size() > k_list_most)
		fail(std::to_string(list_.devices.size()) + " devices of driver " + rule_.driver +
			" are on one node, and Slurm has indices for at most " +
			std::to_string(k_list_most) + ": leave some out with 'only'");
	std::ranges::sort(list_.devices,
		[this](const ListedDevice &a, const ListedDevice &b) { return is_before(a, b); });
	return std::move(list_);
}

void ListMaker::add(const DeviceId &id, const SliceDevice &device, const std::string &unsupported)
{
	if (!list_.trouble.empty() || !is_selected(id, device))
		return;
	const bool is_group = rule_.is_cores && unsupported == "allowMultipleAllocations";
	if (!unsupported.empty())
		return fail(text_of(id) + " has " + unsupported +
			", which slurm-kube does not support: " +
			(is_group ? "the driver must publish each CPU as a device "
				    "(--cpu-device-mode=individual)"
				  : "leave the device out with 'only'"));
	if (rule_.is_cores && !take_place(id, device))
		return;
	const auto type = type_of(device);
	if (!type)
		return fail(text_of(id) + " has no attribute " + rule_.type_attribute +
			": correct type_attribute, or leave the device out with 'only'");
	list_.devices.push_back({id, as_gres_type(*type)});
}

bool ListMaker::is_selected(const DeviceId &id, const SliceDevice &device)
{
	if (!is_plain(id.name) || !is_plain_path(id.pool.name)) {
		fail(text_of(id) + ": Slurm's records cannot keep this name");
		return false;
	}
	if (!rule_.only)
		return true;
	const auto matches = cel::matches(*rule_.only, device.properties);
	if (!matches)
		fail(text_of(id) + ": 'only' fails: " + matches.error().what);
	return matches && *matches;
}

std::optional<std::string> ListMaker::type_of(const SliceDevice &device) const
{
	if (rule_.type_attribute.empty())
		return "";
	const cel::Attribute *found = find_attribute(device.properties, rule_.type_attribute);
	return found ? std::optional(std::visit(AttributeText(), *found)) : std::nullopt;
}

/* Return whether the device says which CPU it is. */
bool ListMaker::take_place(const DeviceId &id, const SliceDevice &device)
{
	std::array<std::int64_t, 3> place{};
	for (std::size_t i = 0; i < place.size(); i++) {
		const cel::Attribute *found = find_attribute(device.properties, k_place[i]);
		const auto *number = found ? std::get_if<std::int64_t>(found) : nullptr;
		if (!number) {
			fail(text_of(id) + " is no CPU: it has no number " + k_place[i]);
			return false;
		}
		place[i] = *number;
	}
	if (!cpus_.insert(place.back()).second) {
		fail(text_of(id) + " and another device are both CPU " +
			std::to_string(place.back()) +
			": delete the ResourceSlice that the driver does not publish any more");
		return false;
	}
	places_.emplace(id, place);
	return true;
}

bool ListMaker::is_before(const ListedDevice &a, const ListedDevice &b) const
{
	return rule_.is_cores ? places_.at(a.id) < places_.at(b.id)
			      : is_in_order(a, b, rule_.order);
}

} // namespace slurmkube::core
