/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * glue.cc - the plugin as one object between init() and fini(), and the entry of the hooks.
 *
 * Hooks run on slurmctld's threads, under its locks: they copy only what they must, never wait, and
 * let no exception escape. An internal error must not stop native jobs: they pass then, and
 * requests about pods or their partitions are refused.
 */
#include "src/base/guard.h"
#include "src/base/log.h"
#include "src/plugins/job_submit/kube/plugin.h"
#include "src/plugins/job_submit/kube/verdict.h"

#include <memory>
#include <utility>

#include <dlfcn.h>

using namespace slurmkube;
using namespace slurmkube::plugin;

namespace
{

Plugin *g_plugin = nullptr; /* written by init() and fini() only, when no hook runs */

void to_slurm_log(LogLevel level, const char *line)
{
	kube_seam_log(static_cast<int>(level), line);
}

static_assert(static_cast<int>(LogLevel::error) == KUBE_LOG_ERROR &&
	static_cast<int>(LogLevel::debug) == KUBE_LOG_DEBUG);

/* Refuses requests that the plugin guards; others pass as if the plugin were not loaded. */
template <class Facts> void judge_without(const Facts &facts, kube_verdict &verdict) noexcept
{
	verdict = {};
	if (g_plugin->concerns_us(facts))
		say(verdict, KUBE_REFUSE,
			"slurm-kube: internal error; try again, slurmctld's log says more");
	else
		say(verdict, KUBE_ALLOW, {});
}

template <class Facts, class F>
void hook(const Facts &facts, kube_verdict &verdict, F &&judge) noexcept
{
	say(verdict, KUBE_ALLOW, {});
	if (!g_plugin)
		return;
	std::int64_t began = now_ns(), worked = thread_ns();
	bool is_judged = guard(
		false, [](const char *what) { log_error("internal error in a hook: %s", what); },
		[&] {
			judge();
			return true;
		});
	if (!is_judged)
		judge_without(facts, verdict);
	g_plugin->costs.hook.record(now_ns() - began);
	g_plugin->costs.hook_cpu.record(thread_ns() - worked);
}

/*
 * When a reconfigure changes JobSubmitPlugins, slurmctld 22.05 calls init() and fini() with all its
 * locks held. The keeper may be waiting for one of these locks and cannot end. In that case the
 * library and the object stay in memory, and the keeper ends when it gets its lock.
 */
void retire(Plugin *plugin)
{
	if (plugin->stop()) {
		delete plugin;
		return;
	}
	Dl_info self = {};
	if (dladdr(reinterpret_cast<void *>(&retire), &self) != 0)
		/* the handle is not closed, on purpose */
		(void)dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
}

} // namespace

bool kube_glue_start(void)
{
	const auto cannot_start = [](const char *what) { log_error("cannot start: %s", what); };
	log_open(to_slurm_log, LogLevel::debug);
	Plugin *plugin = guard(static_cast<Plugin *>(nullptr), cannot_start,
		[] { return std::make_unique<Plugin>(load_config()).release(); });
	if (!plugin)
		return false;
	/* some of its threads may run even if another one could not be started */
	if (!guard(false, cannot_start, [&] { return plugin->start(); })) {
		retire(plugin);
		return false;
	}
	g_plugin = plugin;
	return true;
}

void kube_glue_stop(void)
{
	if (Plugin *plugin = std::exchange(g_plugin, nullptr))
		retire(plugin);
}

void kube_glue_submit(const kube_submit_facts *facts, kube_verdict *verdict)
{
	hook(*facts, *verdict, [&] { g_plugin->judge_submission(*facts, *verdict); });
}

void kube_glue_modify(const kube_modify_facts *facts, kube_verdict *verdict)
{
	hook(*facts, *verdict, [&] { g_plugin->judge_change(*facts, *verdict); });
}

bool kube_glue_is_for_pods(const char *partition)
{
	return g_plugin && g_plugin->is_for_pods(partition);
}
