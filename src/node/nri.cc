/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/node/nri.h"

#include "src/codec/protobuf.h"
#include "src/core/model/names.h"
#include "src/node/message.h"

#include <functional>

namespace slurmkube::node
{

namespace
{

using codec::WireField;
using codec::WireType;
using TakeField = std::function<bool(const WireField &)>;

/* false: not protobuf, or take() refused a field. */
bool read_fields(std::string_view message, const TakeField &take)
{
	codec::WireReader reader(message);
	for (WireField field; reader.next(field);)
		if (!take(field))
			return false;
	return reader.ok();
}

void set_text(const WireField &field, std::uint32_t number, std::string &text)
{
	if (field.number == number && field.type == WireType::bytes)
		text = field.bytes;
}

bool take_annotation(std::string_view entry, Pod &pod)
{
	std::string key, value;
	if (!read_fields(entry, [&](const WireField &field) {
		    set_text(field, 1, key);
		    set_text(field, 2, value);
		    return true;
	    }))
		return false;
	if (key == names::k_allocation_job_id)
		pod.job = value;
	else if (key == names::k_allocation_memory)
		pod.memory = value;
	else if (key == names::k_allocation_native_job)
		pod.native_job = value;
	return true;
}

bool read_pod(std::string_view message, Pod &pod)
{
	return read_fields(message, [&](const WireField &field) {
		set_text(field, 1, pod.id);
		set_text(field, 2, pod.name);
		set_text(field, 3, pod.uid);
		set_text(field, 4, pod.name_space);
		if (field.number == 8 && field.type == WireType::bytes)
			return read_fields(field.bytes, [&](const WireField &linux) {
				set_text(linux, 3, pod.cgroup_parent);
				return true;
			});
		return field.number != 6 || field.type != WireType::bytes ||
			take_annotation(field.bytes, pod);
	});
}

/* LinuxResources: memory (1): limit (1), an OptionalInt64 whose value is field 1. */
bool read_memory_limit(std::string_view resources, std::int64_t &limit)
{
	const auto inside = [](std::string_view message, const TakeField &take) {
		return read_fields(message,
			[&](const WireField &field) { return field.number != 1 || take(field); });
	};
	return inside(resources, [&](const WireField &memory) {
		return inside(memory.bytes, [&](const WireField &optional) {
			return inside(optional.bytes, [&](const WireField &value) {
				limit = static_cast<std::int64_t>(value.value);
				return true;
			});
		});
	});
}

/* LinuxDevice */
bool read_device(std::string_view message, Device &device)
{
	std::string kind;
	const bool ok = read_fields(message, [&](const WireField &field) {
		set_text(field, 1, device.path);
		set_text(field, 2, kind);
		if (field.number == 3 && field.type == WireType::varint)
			device.major = static_cast<std::uint32_t>(field.value);
		if (field.number == 4 && field.type == WireType::varint)
			device.minor = static_cast<std::uint32_t>(field.value);
		return true;
	});
	const char first = kind.empty() ? '?' : kind.front();
	device.kind = first == 'u' ? 'c' : first; /* 'u': without a buffer */
	return ok;
}

bool read_linux(std::string_view message, Container &container)
{
	return read_fields(message, [&](const WireField &field) {
		set_text(field, 5, container.cgroups_path);
		if (field.number == 2 && field.type == WireType::bytes &&
			!read_device(field.bytes, container.devices.emplace_back()))
			return false;
		return field.number != 3 || field.type != WireType::bytes ||
			read_memory_limit(field.bytes, container.memory_limit);
	});
}

bool read_container(std::string_view message, Container &container)
{
	return read_fields(message, [&](const WireField &field) {
		set_text(field, 1, container.id);
		set_text(field, 2, container.pod_id);
		set_text(field, 3, container.name);
		if (field.number == 4 && field.type == WireType::varint)
			container.state = static_cast<ContainerState>(field.value);
		return field.number != 11 || field.type != WireType::bytes ||
			read_linux(field.bytes, container);
	});
}

/* shift: by how much the field numbers of pod (1), container (2) and resources (3) are higher. */
bool take_request(const WireField &field, std::uint32_t shift, ContainerRequest &request)
{
	if (field.type != WireType::bytes)
		return true;
	if (field.number == 1 + shift)
		return read_pod(field.bytes, request.pod);
	if (field.number == 2 + shift)
		return read_container(field.bytes, request.container);
	return field.number != 3 + shift ||
		read_memory_limit(field.bytes, request.new_memory_limit);
}

const Error k_not_nri = {Errc::invalid, "a message of the runtime that is not NRI's"};

} // namespace

Result<ContainerRequest> parse_container_request(std::string_view payload)
{
	ContainerRequest request;
	const bool ok = read_fields(
		payload, [&](const WireField &field) { return take_request(field, 0, request); });
	if (!ok || request.container.id.empty())
		return k_not_nri;
	return request;
}

Result<Pod> parse_sandbox_request(std::string_view payload)
{
	ContainerRequest request;
	const bool ok = read_fields(
		payload, [&](const WireField &field) { return take_request(field, 0, request); });
	return ok ? Result<Pod>(std::move(request.pod)) : k_not_nri;
}

Result<StateChange> parse_state_change(std::string_view payload)
{
	StateChange change;
	const bool ok = read_fields(payload, [&](const WireField &field) {
		if (field.number == 1 && field.type == WireType::varint)
			change.event = static_cast<int>(field.value);
		return take_request(field, 1, change.request);
	});
	const bool asks = change.event == static_cast<int>(NriEvent::start_container);
	if (!ok || (asks && change.request.container.id.empty()))
		return k_not_nri;
	return change;
}

Result<Inventory> parse_inventory(std::string_view payload)
{
	Inventory inventory;
	const bool ok = read_fields(payload, [&](const WireField &field) {
		if (field.number == 3 && field.type == WireType::varint)
			inventory.more = field.value != 0;
		if (field.type != WireType::bytes)
			return true;
		if (field.number == 1)
			return read_pod(field.bytes, inventory.pods.emplace_back());
		return field.number != 2 ||
			read_container(field.bytes, inventory.containers.emplace_back());
	});
	if (!ok)
		return k_not_nri;
	return inventory;
}

Result<std::string> parse_configuration(std::string_view payload)
{
	std::string name, version;
	const bool ok = read_fields(payload, [&](const WireField &field) {
		set_text(field, 2, name);
		set_text(field, 3, version);
		return true;
	});
	if (!ok)
		return k_not_nri;
	return name + " " + version;
}

std::string registration(const std::string &name, const std::string &index)
{
	return Message().text(1, name).text(2, index).bytes();
}

std::string subscription(bool has_native_pods)
{
	std::int64_t mask = has_native_pods
		? std::int64_t(1) << (static_cast<int>(NriEvent::run_pod_sandbox) - 1)
		: 0;
	for (const NriEvent event : {NriEvent::create_container, NriEvent::start_container,
		     NriEvent::post_start_container, NriEvent::update_container,
		     NriEvent::stop_container, NriEvent::remove_container})
		mask |= std::int64_t(1) << (static_cast<int>(event) - 1);
	return Message().number(2, mask).bytes();
}

namespace
{

/* LinuxResources */
Message resources_of(const Confinement &confinement)
{
	Message resources;
	if (confinement.memory_limit > 0)
		resources.message(
			1, Message().message(1, Message().number(1, confinement.memory_limit)));
	if (!confinement.cpus.empty() || !confinement.mems.empty())
		resources.message(2, Message().text(6, confinement.cpus).text(7, confinement.mems));
	return resources;
}

} // namespace

/* CreateContainerResponse: adjust (1): linux (6): resources (2) */
std::string adjustment(const Confinement &confinement)
{
	const Message linux = Message().message(2, resources_of(confinement));
	return Message().message(1, Message().message(6, linux)).bytes();
}

/* SynchronizeResponse and UpdateContainerResponse: update (1): id (1), linux (2): resources (1) */
std::string updates(const std::vector<ContainerUpdate> &updates, bool more)
{
	Message all;
	for (const ContainerUpdate &update : updates) {
		const Message linux = Message().message(1, resources_of(update.confinement));
		all.message(
			1, Message().text(1, update.container_id).message(2, linux).number(3, 1));
	}
	return all.number(2, more ? 1 : 0).bytes();
}

} // namespace slurmkube::node
