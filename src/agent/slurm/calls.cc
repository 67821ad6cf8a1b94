/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/slurm/calls.h"

#include "src/agent/slurm/compat.h"
#include "src/agent/slurm/jobs.h"
#include "src/agent/slurm/nodes.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

/* libslurm exports it, and no header for users declares it. A call would ask slurmctld, which may
 * be away. */
extern "C" slurm_conf_t slurm_conf;

namespace slurmkube::slurm
{

namespace
{

constexpr std::size_t k_surveys_max = 4; /* that wait; one runs at a time */
constexpr int k_spare_workers = 1;
/* tested; slurmctld does not serve more requests of one client at once in any useful way */
constexpr int k_workers_max = 8;

/* libslurm must be initialised before the threads that use it start. */
int init_libslurm(const Settings &settings)
{
	/* as squeue(1) says: tasks of an array in full, so that figures_jobs.cc can count them */
	(void)setenv("SLURM_BITSTR_LEN", "0", 1);
	/* for scontrol, see topology.h; the second one would cut its lines */
	if (!settings.conf.empty())
		(void)setenv("SLURM_CONF", settings.conf.c_str(), 1);
	(void)unsetenv("SLURM_TOPO_LEN");
	slurm_init(settings.conf.empty() ? nullptr : settings.conf.c_str());
	return std::clamp(settings.workers, 1, k_workers_max);
}

} // namespace

std::string configured_cluster()
{
	return slurm_conf.cluster_name ? slurm_conf.cluster_name : "";
}

Calls::Calls(agent::Loop &loop, const Settings &settings)
    : loop_(loop), workers_(init_libslurm(settings), settings.queue_max, k_spare_workers),
      surveyor_(1, k_surveys_max), figures_(1, 1), natives_(1, 1)
{
}

template <class T> void Calls::post(Done<T> done, Result<T> result)
{
	loop_.post([watch = watch_, done = std::move(done), result = std::move(result)]() mutable {
		if (!watch.expired())
			done(std::move(result));
	});
}

/* call runs on a worker, done on the loop. */
template <class T> void Calls::run_by(Workers &workers, std::function<Result<T>()> call,
	Done<T> done, const std::string &name_space)
{
	const auto task = [this, call = std::move(call), done] {
		choice_.apply();
		Result<T> result = call();
		const bool is_answered = result || result.error().code != Errc::io;
		if (!is_answered)
			controller_.doubt(agent::now().mono_us);
		post<T>(done, std::move(result));
		return is_answered;
	};
	if (!workers.add(task, name_space))
		post<T>(std::move(done), Error{Errc::again, "too many calls to Slurm are waiting"});
}

/* What still waits when the link closes was decided for a slurmctld that may be gone. The agent
 * decides anew when the link is back. */
template <class T>
void Calls::run_change(std::function<Result<T>()> call, Done<T> done, const std::string &name_space)
{
	run<T>(
		[this, call = std::move(call)]() -> Result<T> {
			if (controller_.has_lost_link())
				return Error{Errc::again, "the link to slurmctld has closed"};
			return call();
		},
		std::move(done), name_space);
}

void Calls::link_opened(const core::PluginHello &hello)
{
	choice_.choose(hello.host);
	controller_.link_opened(hello);
}

void Calls::link_heard(std::int64_t sent_us)
{
	controller_.link_heard(sent_us, agent::now().mono_us);
}

void Calls::link_closed()
{
	controller_.link_closed();
	choice_.choose("");
}

void Calls::submit(core::JobSpec spec, Done<SubmitReply> done)
{
	const std::string name_space = spec.marker.name_space;
	run_change<SubmitReply>(
		[spec = std::move(spec)] { return submit_job(spec); }, std::move(done), name_space);
}

void Calls::update(core::JobId job, core::JobSpec spec, std::vector<std::string> given,
	std::vector<std::string> removed, Done<Ok> done)
{
	const std::string name_space = spec.marker.name_space;
	run_change<Ok>([job, spec = std::move(spec), given = std::move(given),
			       removed = std::move(
				       removed)] { return update_job(job, spec, given, removed); },
		std::move(done), name_space);
}

/* The comparison is made by the worker directly before each request. */
void Calls::end(const core::MarkedJob &job, std::function<Status(const Same &)> call, Done<Ok> done)
{
	run_change<Ok>(
		[this, job, term = controller_.term(), call = std::move(call)]() -> Result<Ok> {
			const Status ended = call([&]() -> Status {
				if (controller_.is_certain(term, agent::now().mono_us))
					return Ok{};
				Status checked = check_marker(job.id, job.marker);
				if (checked)
					controller_.agreed(term);
				return checked;
			});
			/* no connection, for example */
			if (!ended && ended.error().code == Errc::again)
				controller_.doubt(agent::now().mono_us);
			return ended;
		},
		std::move(done));
}

void Calls::expire(const core::MarkedJob &job, Done<Ok> done)
{
	end(
		job, [id = job.id](const Same &same) { return expire_job(id, same); },
		std::move(done));
}

void Calls::complete(const core::MarkedJob &job, std::uint32_t wait_status, Done<Ok> done)
{
	end(
		job,
		[id = job.id, wait_status](const Same &same) {
			const Status checked = same();
			return checked ? complete_job(id, wait_status) : checked;
		},
		std::move(done));
}

void Calls::cancel(const core::MarkedJob &job, Done<Ok> done)
{
	end(
		job,
		[id = job.id](const Same &same) {
			const Status checked = same();
			return checked ? cancel_job(id) : checked;
		},
		std::move(done));
}

void Calls::give_up(const core::MarkedJob &job, Done<Ok> done)
{
	end(
		job, [job](const Same &same) { return give_up_job(job, same); }, std::move(done));
}

void Calls::node_create(core::NodeSpec spec, core::Family family, Done<Ok> done)
{
	run_change<Ok>([spec = std::move(spec), family] { return create_node(spec, family); },
		std::move(done));
}

void Calls::node_set_state(
	std::string name, core::NodeStateChange change, std::string reason, Done<Ok> done)
{
	run_change<Ok>(
		[name = std::move(name), change, reason = std::move(reason)] {
			return set_node_state(name, change, reason);
		},
		std::move(done));
}

void Calls::node_set_extra(std::string name, std::string extra, Done<Ok> done)
{
	run_change<Ok>([name = std::move(name),
			       extra = std::move(extra)] { return set_node_extra(name, extra); },
		std::move(done));
}

void Calls::node_delete(std::string name, Done<Ok> done)
{
	run_change<Ok>([name = std::move(name)] { return delete_node(name); }, std::move(done));
}

void Calls::survey(KubeNodes nodes, Done<Survey> done)
{
	run_by<Survey>(
		surveyor_, [nodes = std::move(nodes)] { return slurm::survey(nodes); },
		std::move(done));
}

void Calls::sharing_partitions(std::set<std::string> external, Done<SharingPartitions> done)
{
	run<SharingPartitions>(
		[external = std::move(external)] { return slurm::sharing_partitions(external); },
		std::move(done));
}

void Calls::figures(const figures::Answers &before, const figures::Kinds &due,
	std::function<void(figures::Answers)> done)
{
	run_by<figures::Answers>(
		figures_,
		[before, due]() -> Result<figures::Answers> { return figures::ask(before, due); },
		[before, done = std::move(done)](Result<figures::Answers> answers) {
			if (answers)
				return done(std::move(*answers));
			figures::Answers none = before;
			none.answered.clear();
			done(std::move(none));
		});
}

void Calls::native_job(core::JobId id, Done<NativeReply> done)
{
	run_by<NativeReply>(
		natives_, [this, id] { return native_questions_.ask(id, configured_cluster()); },
		std::move(done));
}

void Calls::ping(Done<Ok> done)
{
	run<Ok>([] { return ping_controller(); }, std::move(done));
}

} // namespace slurmkube::slurm
