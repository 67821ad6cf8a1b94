/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/plugins/job_submit/kube/node_watch.h"

#include "src/base/log.h"
#include "src/plugins/job_submit/kube/files.h"
#include "src/plugins/job_submit/kube/job_facts.h"

#include <algorithm>
#include <ctime>

namespace slurmkube::plugin
{

namespace
{

/* a job that completes for longer is native: JobWatch ends external jobs within milliseconds */
constexpr std::int64_t k_stray_after = 1000 * k_ms;
constexpr std::int64_t k_stray_report_interval = 600'000 * k_ms;
/* complete looks at nodes that change all the time; later looks report the rest */
constexpr unsigned k_first_looks_max = 5;
constexpr const char *k_node_state_file = "kube_out_of_use";

bool is_usable(const core::SlurmNode &node)
{
	return !node.drain && !node.not_responding &&
		(node.base == core::NodeBase::idle || node.base == core::NodeBase::mixed ||
			node.base == core::NodeBase::allocated);
}

} // namespace

void NodeWatch::take_out_again()
{
	if (!forgets_)
		return;
	for (const auto &[name, node] : out_of_service_from(read_state_file(k_node_state_file))) {
		LockHold hold(KUBE_WRITE, meter_);
		if (kube_seam_node_take_out(
			    name.c_str(), feature_.c_str(), node.reason.c_str(), node.down))
			log_info("node %s is out of service again: Slurm had forgotten it, reason: "
				 "%s",
				name.c_str(), node.reason.c_str());
	}
}

void NodeWatch::note(const core::SlurmNode &node)
{
	if (node.is_hybrid)
		out_changed_ |= out_of_service_.erase(node.name) != 0;
	else if (remembers_)
		out_changed_ |= note_node(out_of_service_, node);
}

/* Writes the file if the map has changed, and always after the first look, which has filled the
 * map. */
void NodeWatch::remember()
{
	if (!out_changed_ && complete_)
		return;
	out_changed_ = false;
	if (remembers_ && !write_state_file(k_node_state_file, to_text(out_of_service_)))
		log_warning("cannot write %s into StateSaveLocation: nodes of slurm.conf may come "
			    "back drained or not after a restart",
			k_node_state_file);
}

void NodeWatch::reset()
{
	out_of_service_.clear();
	known_.clear();
	complete_ = looking_ = has_looked_ = false;
	counts_ = {};
	first_looks_ = 0;
	told_ = {};
	devices_.done.clear();
}

void NodeWatch::tick(const kube_pulse &pulse)
{
	std::int64_t now = now_ns();
	if (table_size_ != pulse.nodes)
		when_.again();
	table_size_ = pulse.nodes;
	if (!looking_ && when_.is_due(now, pulse.last_node_update)) {
		when_.began(now, time(nullptr));
		look_.worked_before = meter_.worked();
		begin_look();
	}
	if (looking_)
		go_on();
}

void NodeWatch::begin_look()
{
	looking_ = true;
	look_.index = 0;
	look_.generation = 0;
	look_.number++;
	look_.held = look_.hybrids = 0;
	found_.care.clear();
	found_.strays.clear();
	found_.gres.clear();
	found_.misfits.clear();
	found_.both.clear();
}

void NodeWatch::go_on()
{
	while (looking_ && (meter_.can_hold() || !complete_)) {
		std::vector<core::SlurmNode> changed;
		bool same = false, all = false;
		{
			LockHold hold(KUBE_READ, meter_);
			same = look(hold, changed);
			all = look_.index >= kube_seam_node_count();
		}
		for (core::SlurmNode &node : changed) {
			note(node);
			feed_.node(std::move(node));
		}
		if (!same) {
			begin_look();
			return; /* do not stay here if the table keeps changing */
		}
		if (all)
			end_look();
	}
}

bool NodeWatch::look(const LockHold &hold, std::vector<core::SlurmNode> &changed)
{
	std::uint64_t generation = kube_seam_node_generation();
	if (look_.index == 0)
		look_.generation = generation;
	if (look_.generation != generation)
		return false;
	std::uint32_t count = kube_seam_node_count();
	while (look_.index < count && hold.has_time())
		look_at(look_.index++, changed);
	return true;
}

NodeWatch::Known &NodeWatch::known(std::string_view name)
{
	auto at = known_.find(name);
	return at != known_.end() ? at->second : known_[std::string(name)];
}

void NodeWatch::look_at(std::uint32_t index, std::vector<core::SlurmNode> &changed)
{
	kube_node_glance glance = {};
	if (!kube_seam_node_glance(index, feature_.c_str(), &glance)) {
		if (glance.is_misfit && !told_.misfits.contains(glance.name))
			found_.misfits.emplace_back(glance.name);
		return;
	}
	look_.held += glance.jobs;
	look_.hybrids += glance.is_hybrid ? 1 : 0;
	if (glance.has_both && !told_.misfits.contains(glance.name))
		found_.both.emplace_back(glance.name);
	Known &known = this->known(glance.name);
	if (known.fingerprint != glance.fingerprint) {
		known.fingerprint = glance.fingerprint;
		if (auto node = copy_node(index)) {
			/* Slurm itself schedules when a node of its own comes back */
			bool usable = is_usable(*node) && !glance.is_hybrid;
			wants_kick_ |= usable && !known.usable;
			known.usable = usable;
			changed.push_back(std::move(*node));
		}
	}
	known.seen_in = look_.number;
	if (!glance.is_hybrid)
		note_work(glance, known);
}

/* What the plugin does in the place of a slurmd. */
void NodeWatch::note_work(const kube_node_glance &glance, Known &known)
{
	if (!glance.completing)
		known.completing_since = 0;
	else if (known.completing_since == 0)
		known.completing_since = now_ns();
	else if (now_ns() - known.completing_since >= k_stray_after)
		found_.strays.emplace_back(glance.name);
	if (glance.stays_down && !known.stays_down)
		found_.kept_down.emplace_back(glance.name);
	known.stays_down = glance.stays_down;
	if (glance.wants_care)
		found_.care.emplace_back(glance.name);
	if (glance.wants_gres)
		found_.gres.emplace_back(glance.name);
}

void NodeWatch::end_look()
{
	looking_ = false;
	has_looked_ = true;
	counts_ = {look_.held, look_.hybrids};
	forget_missing();
	/* without the cost of care, which is rare and must not delay the next look for seconds */
	when_.ended(meter_.worked() - look_.worked_before);
	remember();
	if (!found_.gres.empty())
		load_gres();
	end_strays();
	report_kept_down();
	report_misfits();
	const bool righted = give_care();
	if (righted)
		when_.again(); /* the corrections must be seen and reported */
	complete_ = complete_ || !righted || ++first_looks_ >= k_first_looks_max;
}

/* A missing node may have been added between two holds, so ask for it by name before it is reported
 * as gone. */
void NodeWatch::forget_missing()
{
	std::vector<std::string> missing;
	for (const auto &[name, known] : known_)
		if (known.seen_in != look_.number)
			missing.push_back(name);
	while (!missing.empty()) {
		std::string name = std::move(missing.back());
		missing.pop_back();
		LockHold hold(KUBE_READ, meter_);
		if (kube_seam_node_exists(name.c_str(), feature_.c_str()))
			continue;
		known_.erase(name);
		out_changed_ |= out_of_service_.erase(name) != 0;
		feed_.node_gone(name);
	}
}

/* Reports each node once, with one line per look. */
void NodeWatch::report_misfits()
{
	for (const std::string &name : found_.both) {
		log_warning("node %s has a slurmd and both the features %s and that of hybrid "
			    "nodes: it takes no pods. Remove the feature %s from it in slurm.conf",
			name.c_str(), feature_.c_str(), feature_.c_str());
		told_.misfits.insert(name);
	}
	found_.both.clear();
	if (found_.misfits.empty())
		return;
	std::string others = found_.misfits.size() == 1
		? ""
		: " and " + std::to_string(found_.misfits.size() - 1) + " more";
	log_warning("node %s%s: has the feature %s, but %s: left to Slurm, not an external node",
		found_.misfits.front().c_str(), others.c_str(), feature_.c_str(),
		remembers_ ? "is not in state EXTERNAL"
			   : "its NodeAddr and Port are not those of the sink");
	told_.misfits.insert(found_.misfits.begin(), found_.misfits.end());
	found_.misfits.clear();
}

/* One line per look, whatever the number of nodes. */
void NodeWatch::report_kept_down()
{
	if (found_.kept_down.empty())
		return;
	std::string others = found_.kept_down.size() == 1
		? ""
		: " and " + std::to_string(found_.kept_down.size() - 1) + " more";
	log_warning("node %s%s: DOWN, reason \"Not responding\", and slurm.conf does not let Slurm "
		    "return it to service by itself "
		    "(ReturnToService); \"scontrol update nodename=%s state=resume\" does",
		found_.kept_down.front().c_str(), others.c_str(), found_.kept_down.front().c_str());
	found_.kept_down.clear();
}

/* True: some nodes can accept jobs that they could not accept before. Most nodes only need their
 * times moved on, because a message that reached the sink has reset them. */
bool NodeWatch::give_care()
{
	bool righted = false;
	while (!found_.care.empty()) {
		LockHold hold(KUBE_WRITE, meter_);
		do {
			righted |=
				kube_seam_node_care(found_.care.back().c_str(), feature_.c_str());
			found_.care.pop_back();
		} while (!found_.care.empty() && hold.has_time());
	}
	wants_kick_ |= righted;
	return righted;
}

/* Completes native jobs on a node without slurmd: their partition has nodes of both kinds. */
void NodeWatch::end_strays()
{
	for (const std::string &name : found_.strays) {
		Known &node = known(name);
		if (node.stray_reported_at == 0 ||
			now_ns() - node.stray_reported_at >= k_stray_report_interval) {
			log_warning("node %s: a native job was started on this external node and "
				    "cannot run there; keep external nodes out of its partition",
				name.c_str());
			node.stray_reported_at = now_ns();
		}
		LockHold hold(KUBE_WRITE, meter_);
		kube_seam_finish_epilogs_on(name.c_str(), feature_.c_str());
		wants_kick_ = true;
	}
	if (!found_.strays.empty())
		kube_seam_save();
	found_.strays.clear();
}

} // namespace slurmkube::plugin
