/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `skube why`: lines for people, and the same objects as data. */
#include "src/agent/app.h"
#include "src/agent/replies_parts.h"
#include "src/codec/json.h"
#include "src/core/inspect/waits.h"
#include "src/core/inspect/why.h"

#include <algorithm>

namespace slurmkube::agent
{

namespace
{

using codec::append;
using codec::get_string;
using codec::Json;
using codec::new_array;
using codec::new_object;
using codec::put;

constexpr std::size_t k_quoted_most = 256;

Json lines_of(const std::vector<core::WhyLine> &lines)
{
	Json rows = new_array();
	for (const core::WhyLine &line : lines) {
		Json row = new_object();
		put(row.get(), "about", line.about);
		put(row.get(), "text", line.text);
		append(rows.get(), std::move(row));
	}
	return rows;
}

std::string reply_with(const std::vector<core::WhyLine> &lines, Json data)
{
	Json reply = ok_reply();
	put(reply.get(), "lines", lines_of(lines));
	put(reply.get(), "data", std::move(data));
	return codec::to_text(reply.get());
}

/* The data has what the lines of a pod say, by key. */
Json data_of_pod(const core::World &world, const core::PodEntry &entry)
{
	Json data = new_object();
	const core::PodStory story = core::pod_story(world, entry, now());
	put(data.get(), "exists", entry.pod.has_value());
	if (entry.pod)
		put(data.get(), "pod", pod_data(world, entry));
	if (story.job)
		put(data.get(), "job", job_row(*story.job));
	if (!story.node.empty())
		put(data.get(), "node", node_data(world, story.node));
	if (story.component.stage_since_us > 0) {
		put(data.get(), "stage", core::stage_text(story.component.stage));
		put(data.get(), "stage_seconds",
			(story.now.mono_us - story.component.stage_since_us) / 1'000'000);
	}
	put(data.get(), "waits_for", core::waits_text(story));
	return data;
}

template <class Entries> Json rows_of(const core::World &world, const Entries &entries)
{
	Json rows = new_array();
	for (const core::PodEntry *entry : entries)
		append(rows.get(), pod_data(world, *entry));
	return rows;
}

bool may_see(const App &app, const core::PodEntry &entry, const ctl::Peer &peer)
{
	/* a pod that has gone has no user any more */
	return peer.is_operator || (entry.pod && peer.may_see(user_of(app.world(), *entry.pod)));
}

/* Of an owner without pods nobody knows whose it is. */
bool may_see_all(
	const App &app, const std::vector<const core::PodEntry *> &pods, const ctl::Peer &peer)
{
	return peer.is_operator ||
		(!pods.empty() && std::ranges::all_of(pods, [&](const core::PodEntry *entry) {
			return may_see(app, *entry, peer);
		}));
}

std::string why_of_pod(const App &app, const std::string &pod, const ctl::Peer &peer)
{
	const std::size_t slash = pod.find('/');
	const std::string name_space =
				  slash == std::string::npos ? "default" : pod.substr(0, slash),
			  name = slash == std::string::npos ? pod : pod.substr(slash + 1);
	const core::PodEntry *entry = core::find_pod(app.world(), name_space, name);
	if (!entry || !may_see(app, *entry, peer))
		return ctl::error_reply("no pod " + name_space + "/" +
			name.substr(0, k_quoted_most) + " with schedulerName " +
			app.config().scheduler_names_text() +
			" has been seen: kubectl get pod says whether there is one");
	return reply_with(
		core::why(app.world(), name_space, name, now()), data_of_pod(app.world(), *entry));
}

std::string why_of_node(const App &app, const std::string &name)
{
	const auto lines = core::why_node(app.world(), name);
	if (lines.empty())
		return ctl::error_reply("neither Kubernetes nor Slurm has an external node " +
			name.substr(0, k_quoted_most) +
			": compare skube show nodes, and the label of the node");
	std::vector<const core::PodEntry *> pods;
	for (const core::PodUid &uid : app.world().state().occupancy.holders(name)) {
		const core::PodEntry *entry = app.world().state().entry(uid);
		if (entry && entry->pod)
			pods.push_back(entry);
	}
	Json data = new_object();
	put(data.get(), "node", node_data(app.world(), name));
	put(data.get(), "pods", rows_of(app.world(), pods));
	return reply_with(lines, std::move(data));
}

/* The lines of a node name the pods on it. */
std::string why_no_node(const std::string &name)
{
	return "only operators may ask why a node is as it is, because the answer names the pods "
	       "on it: skube show nodes, or sinfo -N -n " +
		name.substr(0, k_quoted_most);
}

std::string why_of_job(const App &app, std::int64_t number, const ctl::Peer &peer)
{
	const core::JobId id{static_cast<std::uint32_t>(number)};
	const core::SlurmJob *job =
		number > 0 && number <= UINT32_MAX ? app.world().state().job(id) : nullptr;
	if (!job || !peer.may_see(job->user_id))
		return ctl::error_reply("Slurm has no job " + std::to_string(number) +
			" of a pod: squeue and sacct know other jobs, and older ones");
	std::vector<const core::PodEntry *> pods;
	for (const auto &[uid, entry] : app.world().state().pods) {
		if (entry.pod && app.world().state().job_of(uid) == job)
			pods.push_back(&entry);
	}
	Json data = new_object();
	put(data.get(), "job", job_row(*job));
	put(data.get(), "pods", rows_of(app.world(), pods));
	auto lines = core::why_job(app.world(), id, now());
	/* A pod of another user may have the name of the job's pod by now. */
	if (!may_see_all(app, pods, peer) && !lines.empty())
		lines.resize(1);
	return reply_with(lines, std::move(data));
}

std::string why_of_owner(const App &app, json_object *owner, const ctl::Peer &peer)
{
	const std::string kind = get_string(owner, "kind"),
			  name_space = get_string(owner, "namespace", "default"),
			  name = get_string(owner, "name");
	const auto pods = core::pods_of_owner(app.world(), kind, name_space, name);
	std::vector<core::WhyLine> lines;
	if (may_see_all(app, pods, peer))
		lines = core::why_owner(app.world(), kind, name_space, name, now());
	if (lines.empty())
		return ctl::error_reply("no pod of " + kind.substr(0, k_quoted_most) + " " +
			name_space.substr(0, k_quoted_most) + "/" + name.substr(0, k_quoted_most) +
			" with schedulerName " + app.config().scheduler_names_text() +
			" has been seen");
	Json data = new_object();
	put(data.get(), "pods", rows_of(app.world(), pods));
	return reply_with(lines, std::move(data));
}

} // namespace

std::string why_reply(const App &app, json_object *request, const ctl::Peer &peer)
{
	if (const std::string node = get_string(request, "node"); !node.empty())
		return peer.is_operator ? why_of_node(app, node)
					: ctl::error_reply(why_no_node(node));
	if (codec::get(request, "job"))
		return why_of_job(app, codec::get_int(request, "job"), peer);
	if (json_object *owner = codec::get(request, "owner"))
		return why_of_owner(app, owner, peer);
	return why_of_pod(app, get_string(request, "pod"), peer);
}

} // namespace slurmkube::agent
