/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "testsuite/sim/devices.h"

#include "src/core/device/steps.h"
#include "src/core/model/outcome.h"

#include <algorithm>

namespace slurmkube::sim
{

namespace
{

constexpr std::uint64_t k_devices = 0x71;

bool is_done(const PodTruth &pod)
{
	return !pod.exists || core::is_terminal(pod.api) ||
		(pod.api.deleting && pod.api.node_name.empty());
}

core::ResourceClaimId id_of(const PodTruth &pod)
{
	return {pod.api.name_space, pod.api.resource_claims.front().claim};
}

bool is_sharing(const PodTruth &pod)
{
	return pod.devices > 0 && !pod.api.resource_claims.front().is_own;
}

} // namespace

Devices::Devices(Stage &stage, Kube &kube, std::uint64_t seed)
    : stage_(stage), kube_(kube), are_there_(mix(seed + 41) % 2 == 0), seed_(seed)
{
	if (!are_there_)
		return;
	kube_.on_pod = [this](const PodTruth &pod) {
		if (pod.devices > 0)
			controller_later(pod.api.uid.text);
	};
	kube_.on_node = [this](const NodeTruth &node) { node_changed(node); };
	kube_.prepare = [this](PodTruth &pod) { return prepare(pod); };
	for (const auto &[name, node] : kube_.nodes)
		publish(name);
	stage_.line.after(10 * k_second, [this] { make_trouble(); });
}

core::DeviceRules Devices::rules() const
{
	core::DeviceRule rule;
	rule.driver = k_driver;
	return are_there_ ? core::DeviceRules{rule} : core::DeviceRules{};
}

core::DeviceClass Devices::device_class()
{
	return {k_device_class, "uid-class", {std::string("device.driver == '") + k_driver + "'"},
		{}, ""};
}

std::uint32_t Devices::count_on(const std::string &node) const
{
	return are_there_ ? static_cast<std::uint32_t>(mix(seed_ ^ hash_of(node)) % 5) : 0;
}

void Devices::draw(PodTruth &pod, std::uint64_t number) const
{
	const std::uint64_t draw = mix(number + 171);
	if (!are_there_ || draw % 2 == 0)
		return;
	/* so that several fit on a node */
	pod.api.requests.milli_cpu = std::min<std::int64_t>(pod.api.requests.milli_cpu, 1000);
	pod.devices = 1 + static_cast<std::uint32_t>(draw >> 32) % 2;
	pod.api.resource_claims = {{.name = "gpu",
		.claim = "",
		.is_own = true,
		.is_needless = false,
		.made_of = "template"}};
}

const core::ResourceClaim *Devices::claim_of(const PodTruth &pod) const
{
	if (pod.devices == 0)
		return nullptr;
	const auto found = claims.find(id_of(pod));
	const bool is_its = found != claims.end() &&
		(is_sharing(pod) || found->second.owner_uid == pod.api.uid.text);
	return is_its ? &found->second : nullptr;
}

bool Devices::is_common(const PodTruth &one, const PodTruth &other)
{
	return is_sharing(one) && is_sharing(other) && id_of(one) == id_of(other);
}

/* ---- drivers ---- */

void Devices::publish(const std::string &node)
{
	if (count_on(node) == 0)
		return;
	core::ResourceSlice slice;
	slice.name = node + "-" + std::to_string(++made_);
	slice.uid = "slice-" + slice.name;
	slice.pool = {k_driver, node};
	slice.generation = ++generation_;
	slice.slice_count = 1;
	slice.node = node;
	for (std::uint32_t i = 0; i < count_on(node); i++) {
		core::SliceDevice &device = slice.devices.emplace_back();
		device.name = "gpu-" + std::to_string(i);
		device.properties.driver = k_driver;
	}
	withdraw(node);
	slices_[node] = slice.uid;
	slice_store.put(slice.uid, slice);
}

void Devices::withdraw(const std::string &node)
{
	const auto known = slices_.find(node);
	if (known == slices_.end())
		return;
	const core::ResourceSlice last = *slice_store.objects.at(known->second);
	slice_store.remove(known->second, last);
	slices_.erase(known);
}

/* Slices are owned by their node, and a driver publishes them again with its kubelet. */
void Devices::node_changed(const NodeTruth &node)
{
	if (node.exists)
		publish(node.api.name);
	else
		withdraw(node.api.name);
}

/* As kubelets do before they start containers (NodePrepareResources). */
bool Devices::prepare(PodTruth &pod)
{
	if (pod.devices == 0)
		return true;
	const core::ResourceClaim *claim = claim_of(pod);
	if (!claim || !claim->allocation ||
		std::ranges::find(claim->reserved_for, pod.api.uid.text) ==
			claim->reserved_for.end())
		return false;
	pod.used.clear();
	for (const core::DeviceResult &one : claim->allocation->results)
		pod.used.push_back(one.device);
	on_prepared(pod);
	return true;
}

/* ---- the controller ---- */

void Devices::controller_later(const std::string &uid)
{
	stage_.line.after(
		stage_.dice.between(Topic::controller, kube_.pods.at(uid).key, k_ms, k_second),
		[this, uid] { controller_looks(uid); });
}

void Devices::controller_looks(const std::string &uid)
{
	PodTruth &pod = kube_.pods.at(uid);
	if (is_sharing(pod))
		return look_at_shared(pod);
	const core::ResourceClaim *claim = claim_of(pod);
	if (claim && (is_done(pod) || (claim->deleting && claim->reserved_for.empty())))
		end_claim(pod);
	if (!is_done(pod) && !claim_of(pod))
		make_claim(pod);
}

/* The claim first, then its name in the pod's status. */
void Devices::make_claim(PodTruth &pod)
{
	core::ResourceClaim claim;
	const std::string number = std::to_string(++made_);
	claim.id = {pod.api.name_space, pod.api.name + "-gpu-" + number};
	claim.uid = "claim-" + number;
	if (is_sharing(pod))
		claim.id = id_of(pod);
	else
		claim.owner_uid = pod.api.uid.text;
	core::DeviceRequest &request = claim.requests.emplace_back();
	request.name = "gpu";
	request.device_class = k_device_class;
	request.count = pod.devices;
	stage_.tell([&] { return "claim " + claim.id.name + " is made"; });
	put(claim);
	if (!is_sharing(pod))
		kube_.name_claim(pod, claim.id.name);
}

/* The reservations of pods that are done go, and with the last one the allocation. A user makes a
 * claim that pods name. */
void Devices::look_at_shared(PodTruth &pod)
{
	const auto found = claims.find(id_of(pod));
	if (found == claims.end()) {
		if (!is_done(pod))
			make_claim(pod);
		return;
	}
	core::ResourceClaim now = found->second;
	const auto ended = std::erase_if(now.reserved_for, [&](const std::string &uid) {
		const auto user = kube_.pods.find(uid);
		return user == kube_.pods.end() || is_done(user->second);
	});
	if (now.reserved_for.empty() && (ended > 0 || now.deleting)) {
		stage_.tell([&] { return "claim " + now.id.name + " is given back"; });
		now.allocation.reset();
		now.finalizers.clear();
	}
	if (now == found->second && !now.deleting)
		return;
	put(now);
	if (!now.deleting || !now.finalizers.empty())
		return;
	claims.erase(now.id);
	claim_store.remove(now.uid, now);
	controller_later(pod.api.uid.text);
}

void Devices::controller_later(const core::ResourceClaim &claim)
{
	if (!claim.owner_uid.empty())
		return controller_later(claim.owner_uid);
	for (const auto &[uid, pod] : kube_.pods) {
		if (pod.exists && is_sharing(pod) && id_of(pod) == claim.id)
			controller_later(uid);
	}
}

/* Its reservation, its allocation and its finalizer go, then the claim itself. */
void Devices::end_claim(const PodTruth &pod)
{
	const auto found = claims.find(id_of(pod));
	core::ResourceClaim last = found->second;
	stage_.tell([&] { return "claim " + last.id.name + " is given back and deleted"; });
	last.reserved_for.clear();
	last.allocation.reset();
	last.finalizers.clear();
	put(last);
	claims.erase(last.id);
	claim_store.remove(last.uid, last);
}

/* ---- people ---- */

/* A user deletes a claim, or a driver publishes its devices anew. A claim with a finalizer stays
 * until its pod is done. */
void Devices::make_trouble()
{
	if (stage_.calm)
		return;
	const std::uint64_t draw = stage_.dice.roll(Topic::pick, k_devices);
	stage_.line.after(stage_.dice.between(Topic::plan, k_devices, k_second, 30 * k_second),
		[this] { make_trouble(); });
	if (draw % 2 == 0) {
		for (const auto &[node, uid] : std::map(slices_)) {
			if (mix(draw ^ hash_of(node)) % 2 == 0)
				publish(node);
		}
		return;
	}
	std::vector<std::string> names;
	for (const auto &[id, claim] : claims) {
		if (!claim.deleting && (!claim.owner_uid.empty() || claim.reserved_for.empty()))
			names.push_back(id.name_space + "/" + id.name);
	}
	const auto name = pick(names, draw);
	if (!name)
		return;
	const std::size_t slash = name->find('/');
	core::ResourceClaim claim = claims.at({name->substr(0, slash), name->substr(slash + 1)});
	stage_.tell([&] { return "somebody deletes claim " + claim.id.name; });
	claim.deleting = true;
	if (!claim.finalizers.empty()) {
		put(claim);
		return claim.owner_uid.empty() ? controller_later(claim) : void();
	}
	claims.erase(claim.id);
	claim_store.remove(claim.uid, claim);
	controller_later(claim);
}

/* ---- the API ---- */

void Devices::put(core::ResourceClaim &claim)
{
	claim.resource_version = std::to_string(++version_);
	claims.insert_or_assign(claim.id, claim);
	claim_store.put(claim.uid, claim);
}

Status Devices::change(const core::ResourceClaimId &id, const std::string &uid,
	const std::string &version, const std::function<Status(core::ResourceClaim &)> &body)
{
	const auto found = claims.find(id);
	if (found == claims.end())
		return Error{Errc::not_found, "no such claim"};
	if (found->second.uid != uid || found->second.resource_version != version)
		return Error{Errc::conflict, "the claim has been modified"};
	core::ResourceClaim claim = found->second;
	if (const Status done = body(claim); !done)
		return done;
	put(claim);
	return Ok{};
}

namespace
{

Status protect(core::ResourceClaim &claim, const core::ProtectClaim &step)
{
	if (claim.deleting)
		return Error{Errc::invalid, "no new finalizers can be added"};
	claim.finalizers = step.finalizers;
	return Ok{};
}

Status allocate(core::ResourceClaim &claim, const core::AllocateDevices &step)
{
	if (claim.allocation)
		return Error{Errc::invalid, "the allocation is immutable"};
	claim.allocation.emplace();
	for (const core::ChosenDevice &one : step.devices)
		claim.allocation->results.push_back(one.result);
	for (const core::ClaimUser &one : step.users)
		claim.reserved_for.push_back(one.uid);
	return Ok{};
}

Status reserve(core::ResourceClaim &claim, const core::ReserveClaim &step)
{
	if (!claim.allocation ||
		claim.reserved_for.size() + step.users.size() > core::k_claim_users_most)
		return Error{Errc::invalid, "not allocated, or reserved for too many"};
	/* a strategic merge patch puts new items first */
	for (std::size_t i = 0; i < step.users.size(); i++)
		claim.reserved_for.insert(
			claim.reserved_for.begin() + static_cast<std::ptrdiff_t>(i),
			step.users[i].uid);
	return Ok{};
}

void release(core::ResourceClaim &claim, const core::ReleaseDevices &step)
{
	if (!step.leaving_uid.empty()) {
		std::erase(claim.reserved_for, step.leaving_uid);
		return;
	}
	claim.allocation.reset();
	claim.reserved_for.clear();
}

} // namespace

Status Devices::write(const core::ClaimStep &step)
{
	const auto *protect_step = std::get_if<core::ProtectClaim>(&step);
	if (protect_step)
		return change(protect_step->claim, protect_step->uid, protect_step->version,
			[&](core::ResourceClaim &claim) { return protect(claim, *protect_step); });
	if (const auto *given = std::get_if<core::AllocateDevices>(&step))
		return change(
			given->claim, given->uid, given->version, [&](core::ResourceClaim &claim) {
				stage_.tell([&] {
					return "claim " + claim.id.name + " is " +
						core::step_text(step);
				});
				return allocate(claim, *given);
			});
	if (const auto *more = std::get_if<core::ReserveClaim>(&step))
		return change(
			more->claim, more->uid, more->version, [&](core::ResourceClaim &claim) {
				stage_.tell([&] {
					return "claim " + claim.id.name + " is " +
						core::step_text(step);
				});
				return reserve(claim, *more);
			});
	if (const auto *back = std::get_if<core::ReleaseDevices>(&step))
		return change(
			back->claim, back->uid, back->version, [&](core::ResourceClaim &claim) {
				stage_.tell([&] {
					return "claim " + claim.id.name + " gives its devices back";
				});
				release(claim, *back);
				controller_later(claim);
				return Status(Ok{});
			});
	return Error{Errc::invalid, "pods of the simulation have no volumes"};
}

} // namespace slurmkube::sim
