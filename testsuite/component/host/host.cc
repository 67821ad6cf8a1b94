/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * host.cc - the built plugin in the stub of slurmctld, with threads that submit, schedule, disturb
 * and reconfigure. Prints TAP.
 *
 * usage: host PLUGIN.so DIRECTORY [SECONDS [SINK_PORT]]      SECONDS per test, 3 by default
 *
 * Made for sanitizers, which detect races, accesses to freed records, leaks and deadlocks. Without
 * sanitizers the tests still check the plugin's promises: one live job per marker, no line that
 * cannot be decoded, and a correct state at the peer when nothing changes any more.
 */
#include "testsuite/component/host/host.h"
#include "testsuite/component/host/peer.h"

#include "src/codec/marker.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <vector>

#include <dlfcn.h>

/* The plugin allocates its memory here, so that a test can make allocations of one thread fail. */
static std::atomic<const char *> g_has_no_memory{nullptr}; /* the name of that thread */
static thread_local bool t_has_no_memory = false;

void *operator new(std::size_t size)
{
	if (t_has_no_memory)
		throw std::bad_alloc();
	char name[16] = "";
	const char *starved = g_has_no_memory;
	if (starved && pthread_getname_np(pthread_self(), name, sizeof(name)) == 0 &&
		std::string_view(name) == starved)
		throw std::bad_alloc();
	void *memory = malloc(size != 0 ? size : 1);
	if (!memory)
		throw std::bad_alloc();
	return memory;
}

void operator delete(void *memory) noexcept
{
	free(memory);
}

void operator delete(void *memory, std::size_t) noexcept
{
	free(memory);
}

namespace
{

using namespace slurmkube;
using namespace slurmkube::host;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr unsigned k_pods = 60;
constexpr std::uint32_t k_somebody = 1234;

std::string g_file, g_directory;
std::chrono::milliseconds g_time{3000};
unsigned g_number = 0, g_failed = 0;

void report(const char *name, const std::string &why, const std::string &note = {})
{
	g_number++;
	g_failed += why.empty() ? 0U : 1U;
	if (!why.empty())
		printf("# %s\n", why.c_str());
	printf("%s %u - %s%s\n", why.empty() ? "ok" : "not ok", g_number, name,
		note.empty() ? "" : (" # " + note).c_str());
	(void)fflush(stdout);
}

/* The plugin's library, loaded by the constructor; start() calls init(). */
class Loaded
{
      public:
	Loaded() : handle_(dlopen(g_file.c_str(), RTLD_NOW | RTLD_LOCAL))
	{
		if (handle_ == nullptr) {
			printf("Bail out! %s\n",
				dlerror()); // NOLINT(concurrency-mt-unsafe): one thread
			std::exit(1);       // NOLINT(concurrency-mt-unsafe): one thread
		}
		plugin_ = {symbol<int()>("init"), symbol<int()>("fini"),
			dlsym(handle_, "job_submit"), dlsym(handle_, "job_modify")};
		host_use_plugin(&plugin_);
	}
	Loaded(const Loaded &) = delete;
	Loaded &operator=(const Loaded &) = delete;
	~Loaded() { (void)dlclose(handle_); }
	bool start() { return plugin_.init() == 0; }
	void stop() { (void)plugin_.fini(); }

      private:
	template <class F> F *symbol(const char *name)
	{
		return reinterpret_cast<F *>(dlsym(handle_, name));
	}
	void *handle_;
	host_plugin plugin_{};
};

std::string marker_of(unsigned pod, unsigned attempt)
{
	core::Marker marker;
	marker.cluster = "kube";
	marker.name_space = "ns";
	marker.name = "pod-" + std::to_string(pod);
	marker.kind = "Pod";
	marker.uid = "uid-" + std::to_string(pod);
	marker.attempt = attempt;
	marker.user_id = marker.group_id = k_somebody;
	return codec::marker_to_text(marker);
}

/* Threads that each repeat one action until they are stopped. */
class Crowd
{
      public:
	~Crowd() { stop(); }
	void add(std::chrono::microseconds pause, std::function<void(std::minstd_rand &)> act)
	{
		threads_.emplace_back([this, pause, act = std::move(act),
					      seed = static_cast<unsigned>(threads_.size()) + 1] {
			std::minstd_rand random(seed);
			while (!stop_) {
				act(random);
				std::this_thread::sleep_for(pause);
			}
		});
	}
	void stop()
	{
		stop_ = true;
		for (std::thread &thread : threads_)
			thread.join();
		threads_.clear();
	}

      private:
	std::atomic<bool> stop_{false};
	std::vector<std::thread> threads_;
};

void submit_one(std::minstd_rand &random)
{
	const unsigned kind = static_cast<unsigned>(random() % 10),
		       pod = static_cast<unsigned>(random() % k_pods);
	const std::string marker = marker_of(pod, 1 + static_cast<unsigned>(random() % 2));
	if (kind < 6)
		host_submit(0, marker.c_str(), "kube", random() % 8 == 0);
	else if (kind == 6)
		host_submit(k_somebody, marker.c_str(), "kube", false); /* refused */
	else if (kind == 7)
		host_submit(0, "{\"slurm-kube\":1,", "kube", false); /* refused */
	else
		host_submit(k_somebody, nullptr, random() % 4 ? "batch" : "kube", false);
}

void fill(Crowd &crowd)
{
	for (int i = 0; i < 3; i++)
		crowd.add(200us, submit_one);
	crowd.add(300us, [](std::minstd_rand &random) {
		host_modify(random() % 2 ? 0 : k_somebody, static_cast<unsigned>(random()),
			random() % 2 ? "a note" : marker_of(1, 1).c_str());
	});
	crowd.add(
		3ms, [](std::minstd_rand &random) { host_pass(static_cast<unsigned>(random())); });
	crowd.add(2ms, [](std::minstd_rand &random) {
		host_disturb_node(static_cast<unsigned>(random()));
	});
	crowd.add(50ms, [](std::minstd_rand &) { host_reconfigure(); });
}

/* Compares the jobs that the peer knows with the table; empty if they agree. */
std::string difference(const Peer &peer)
{
	std::map<std::uint32_t, bool> table;
	host_each_job(
		[](void *context, std::uint32_t id, bool ended) {
			(*static_cast<decltype(table) *>(context))[id] = ended;
		},
		&table);
	const auto told = peer.jobs();
	for (const auto &[id, ended] : table) {
		const auto found = told.find(id);
		if (found == told.end() && !ended)
			return "job " + std::to_string(id) + " was never told";
		if (found != told.end() && ended != (found->second > core::JobState::suspended))
			return "job " + std::to_string(id) +
				": what was told last is not how it is";
	}
	for (const auto &[id, state] : told)
		if (!table.contains(id))
			return "job " + std::to_string(id) + " is gone and was not told so";
	return {};
}

std::string settle(Peer &peer)
{
	std::string why = "nothing was told";
	for (const auto until = Clock::now() + 90s; !why.empty() && Clock::now() < until;
		std::this_thread::sleep_for(100ms))
		why = difference(peer);
	return !peer.fault().empty() ? peer.fault() : why;
}

/* Waits until is_so() holds, at most a minute, because the machine may be busy. */
void await(const std::function<bool()> &is_so)
{
	for (const auto until = Clock::now() + 60s; !is_so() && Clock::now() < until;)
		std::this_thread::sleep_for(30ms);
}

/* Starts the plugin and waits until it has read every job; from then on it judges submissions. */
std::string start(Loaded &plugin, const Peer &peer)
{
	if (!plugin.start())
		return "init failed";
	await([&] { return peer.connections() > 0; });
	return peer.connections() > 0 ? std::string() : "the plugin did not connect";
}

/* Starts the plugin, puts it under load, lets everything settle, stops and unloads it. */
void put_under_load(const char *name, Manner manner)
{
	Peer peer(g_directory + "/plugin.sock");
	const host_counts before = host_read_counts();
	std::string why;
	{
		Loaded plugin;
		if (!plugin.start()) {
			report(name, "init failed");
			return;
		}
		Crowd crowd;
		peer.behave(manner);
		fill(crowd);
		std::this_thread::sleep_for(g_time);
		crowd.stop();
		peer.behave(Manner::polite);
		why = settle(peer);
		plugin.stop();
	}
	const host_counts after = host_read_counts();
	if (why.empty() &&
		(after.granted == before.granted || after.refused == before.refused ||
			after.duplicates == before.duplicates))
		why = "no job was granted, or none refused, or none submitted twice";
	report(name, why,
		std::to_string(after.submitted - before.submitted) + " submissions, " +
			std::to_string(after.granted - before.granted) + " granted, " +
			std::to_string(peer.connections()) + " connections, " +
			std::to_string(peer.lines()) + " lines");
}

void in_and_out()
{
	Peer peer(g_directory + "/plugin.sock");
	for (int i = 0; i < 20; i++) {
		Loaded plugin;
		if (!plugin.start()) {
			report("init and fini, again and again", "init failed");
			return;
		}
		std::this_thread::sleep_for(std::chrono::milliseconds(i % 5 * 10));
		plugin.stop();
	}
	report("init and fini, again and again", peer.fault());
}

void lose_control()
{
	Peer peer(g_directory + "/plugin.sock");
	Loaded plugin;
	const bool started = plugin.start();
	{
		Crowd crowd;
		fill(crowd);
		for (int i = 0; i < 6; i++) {
			std::this_thread::sleep_for(g_time / 6);
			host_in_control(i % 2 != 0);
		}
	}
	const std::string why = settle(peer);
	plugin.stop();
	report("control is lost and comes back", started ? why : "init failed");
}

void submit_some(unsigned first)
{
	for (unsigned i = 0; i < 5; i++)
		host_submit(0, marker_of(first + i, 1).c_str(), "kube", false);
}

void fail_to_reconfigure()
{
	Peer peer(g_directory + "/plugin.sock");
	Loaded plugin;
	const bool started = plugin.start();
	std::string why = settle(peer);
	host_in_control(false);
	std::this_thread::sleep_for(200ms);
	const unsigned granted = host_read_counts().granted;
	host_fail_to_reconfigure();
	await([&] {
		submit_some(7000);
		return host_read_counts().granted >= granted + 5;
	});
	if (host_read_counts().granted < granted + 5)
		why += "jobs of pods are refused;";
	why += settle(peer);
	host_in_control(true);
	plugin.stop();
	report("a backup whose reconfigure failed is watched", started ? why : "init failed");
}

/* True if a thread of that name exists. */
bool has_thread(const std::string &name)
{
	std::error_code trouble;
	for (const auto &task : std::filesystem::directory_iterator("/proc/self/task", trouble)) {
		std::ifstream in(task.path() / "comm");
		std::string comm;
		if (std::getline(in, comm) && comm == name)
			return true;
	}
	return false;
}

bool is_mapped()
{
	std::ifstream in("/proc/self/maps");
	for (std::string line; std::getline(in, line);)
		if (line.find("job_submit_kube.so") != std::string::npos)
			return true;
	return false;
}

/* While slurmctld shuts down, the plugin touches none of its data, although slurmctld still
 * counts as in control. */
void shut_down()
{
	Peer peer(g_directory + "/plugin.sock");
	Loaded plugin;
	std::string why = plugin.start() ? settle(peer) : "init failed";
	host_shut_down(true);
	std::this_thread::sleep_for(500ms); /* actions that began earlier may end */
	const unsigned righted = host_read_counts().righted, kicks = host_read_counts().kicks;
	for (unsigned i = 0; i < 40; i++) {
		host_disturb_node(i % 4 * HOST_NODES * 4 + i);
		host_submit(0, marker_of(2000 + i, 1).c_str(), "kube", false);
		std::this_thread::sleep_for(20ms);
	}
	if (why.empty() &&
		(host_read_counts().righted != righted || host_read_counts().kicks != kicks))
		why = "the plugin acted on a slurmctld that shuts down";
	host_shut_down(false);
	const std::string picture = settle(peer);
	plugin.stop();
	report("a slurmctld that shuts down is left alone", why.empty() ? picture : why);
}

void restore_copies()
{
	Peer peer(g_directory + "/plugin.sock");
	Loaded plugin;
	std::string why = start(plugin, peer);
	submit_some(4000);
	if (why.empty())
		why = settle(peer);
	host_take_copies();
	await([] { return host_marred() == 0; });
	if (why.empty() && host_marred() != 0)
		why = std::to_string(host_marred()) + " jobs have no copy of their marker";
	plugin.stop();
	report("a copy that is lost comes back, though nothing else has changed", why);
}

/* The shutdown begins while the keeper waits for the lock. */
void shut_down_under_lock()
{
	Peer peer(g_directory + "/plugin.sock");
	Loaded plugin;
	std::string why = start(plugin, peer);
	submit_some(5000);
	if (why.empty())
		why = settle(peer);
	host_shut_down_under_lock("kube-keeper");
	host_write_comments("a script");
	const unsigned marred = host_marred();
	std::this_thread::sleep_for(1s);
	if (why.empty() && (marred == 0 || host_marred() != marred))
		why = std::to_string(marred) + " jobs were marred, then " +
			std::to_string(host_marred());
	host_shut_down_under_lock(nullptr);
	host_shut_down(false);
	await([] { return host_marred() == 0; });
	const std::string picture = settle(peer);
	plugin.stop();
	report("a shutdown that begins under the keeper's lock is seen there",
		why.empty() ? picture : why);
}

void starve_the_link()
{
	Peer peer(g_directory + "/plugin.sock");
	Loaded plugin;
	std::string why = start(plugin, peer);
	const unsigned connections = peer.connections();
	g_has_no_memory = "kube-link";
	submit_some(3100);
	std::this_thread::sleep_for(300ms);
	g_has_no_memory = nullptr;
	await([&] { return peer.connections() > connections; });
	if (why.empty() && (!has_thread("kube-link") || peer.connections() == connections))
		why = "the link did not come back";
	if (why.empty())
		why = settle(peer);
	plugin.stop();
	report("a link that ran out of memory comes back", why);
}

/* A site writes its own JSON into admin_comment of each job. The plugin must parse such texts,
 * and those of placeholders, without holding a lock. */
void read_texts_outside_of_locks()
{
	Peer peer(g_directory + "/plugin.sock");
	host_put_natives(3000,
		R"({"site":{"project":"p-1","cost":[1,2,3],"reviewed":true,)"
		R"("by":"a script of the site"}})");
	Loaded plugin;
	const unsigned parsed = host_read_counts().parsed;
	std::string why = start(plugin, peer);
	if (why.empty())
		why = settle(peer);
	submit_some(8000);
	if (why.empty())
		why = settle(peer);
	const unsigned more = host_read_counts().parsed - parsed;
	if (why.empty() && more != 0)
		why = std::to_string(more) + " texts were read as JSON under a lock";
	plugin.stop();
	report("comments of native jobs cost no JSON under a lock", why);
}

/* The submitting thread ends, so that the keeper knows at once that the submission failed. */
void fail_to_submit(unsigned pod)
{
	std::thread([pod] { host_submit(0, marker_of(pod, 1).c_str(), "kube", true); }).join();
}

void know_the_newest()
{
	Peer peer(g_directory + "/plugin.sock");
	Loaded plugin;
	std::string why = start(plugin, peer);
	if (why.empty())
		why = settle(peer);
	host_clear_jobs();
	host_put_array_last();
	host_submit(0, marker_of(9000, 1).c_str(), "kube", false); /* a leap: found in the list */
	if (why.empty())
		why = settle(peer);
	const unsigned walks = host_read_counts().walks;
	fail_to_submit(9001);
	await([&] { return host_read_counts().walks > walks; });
	std::this_thread::sleep_for(100ms);
	const unsigned before = host_read_counts().walks;
	submit_some(9010);
	if (why.empty())
		why = settle(peer);
	if (why.empty() && host_read_counts().walks != before)
		why = "the next jobs were found in the list only";
	plugin.stop();
	report("an array behind newer jobs is not the newest", why);
}

/* A placeholder on a node with slurmd must not offset a native job on an external node. */
void tell_strays()
{
	Peer peer(g_directory + "/plugin.sock");
	host_clear_jobs();
	host_reconfigure();
	Loaded plugin;
	std::string why = start(plugin, peer);
	if (why.empty())
		why = settle(peer);
	host_submit(0, marker_of(9500, 1).c_str(), "kube", false);
	host_start_on(host_newest(), HOST_NODES - 1);
	if (why.empty())
		why = settle(peer);
	const std::string stray = std::to_string(host_put_stray(1));
	await([&] { return peer.unmarked() == stray; });
	if (why.empty() && peer.unmarked() != stray)
		why = "unmarked is '" + peer.unmarked() + "', not " + stray;
	const unsigned walks = host_read_counts().walks;
	for (int i = 0; i < 50; i++) {
		host_disturb_node(static_cast<unsigned>(i) * HOST_NODES * 4 + 2);
		std::this_thread::sleep_for(100ms);
	}
	if (why.empty() && host_read_counts().walks > walks + 1)
		why = std::to_string(host_read_counts().walks - walks) +
			" looks through all jobs in 5 s";
	plugin.stop();
	host_reconfigure();
	report("a native job on an external node is told, and not looked for all the time", why);
}

/* What the hooks answer when allocations fail, as changes of host_counts. */
template <class F> host_counts without_memory(F &&act)
{
	const host_counts before = host_read_counts();
	t_has_no_memory = true;
	act();
	t_has_no_memory = false;
	host_counts after = host_read_counts();
	after.granted -= before.granted;
	after.refused -= before.refused;
	return after;
}

void judge_without_memory()
{
	Peer peer(g_directory + "/plugin.sock");
	Loaded plugin;
	std::string why = start(plugin, peer);
	submit_some(6000);
	if (why.empty())
		why = settle(peer);
	const std::string marker = marker_of(6100, 1);
	const auto submit = [&](const char *comment, const char *partition) {
		return without_memory([&] { host_submit(0, comment, partition, true); }).granted ==
			1;
	};
	if (submit(marker.c_str(), "kube") || submit(nullptr, "kube") ||
		submit("a note", "a rather long list of partitions, kube"))
		why += " what is ours was let through;";
	if (!submit("a note of a script that is long enough to need memory", "batch") ||
		!submit(nullptr, "batch"))
		why += " a native job was stopped;";
	unsigned moved = 0, changed = 0;
	(void)without_memory([&] { moved = host_modify_each(k_somebody, "batch"); });
	(void)without_memory([&] { changed = host_modify_each(k_somebody, nullptr); });
	if (moved != 0)
		why += " a placeholder was moved to native nodes;";
	if (changed == 0)
		why += " an owner's harmless change was refused;";
	plugin.stop();
	report("a hook without memory refuses what is ours, and nothing else", why);
}

void run_out_of_memory()
{
	Peer peer(g_directory + "/plugin.sock");
	Loaded plugin;
	std::string why = plugin.start() ? settle(peer) : "init failed";
	const unsigned connections = peer.connections();
	g_has_no_memory = "kube-keeper";
	for (unsigned i = 0; i < 40; i++) {
		host_submit(0, marker_of(3000 + i, 1).c_str(), "kube", false);
		std::this_thread::sleep_for(5ms);
	}
	g_has_no_memory = nullptr;
	await([&] { return peer.connections() > connections; });
	if (why.empty() && (!has_thread("kube-keeper") || peer.connections() == connections))
		why = "the keeper did not start over";
	const std::string picture = why.empty() ? settle(peer) : why;
	plugin.stop();
	report("a keeper that ran out of memory starts over", picture);
}

/* As slurmctld 22.05 does when a reconfigure changes JobSubmitPlugins: it calls fini() with all
 * locks held, then dlclose(). */
void unload_under_locks()
{
	const char *name = "fini() under all locks: the library stays until the keeper has ended, "
			   "and a new one works beside it";
	Peer peer(g_directory + "/plugin.sock");
	bool waited = false;
	{
		Loaded plugin;
		(void)plugin.start();
		await([] { return has_thread("kube-keeper"); });
		host_lock_all();
		await([] {
			host_beckon();
			return host_anybody_waits();
		}); /* the keeper waits for the lock then */
		plugin.stop();
		waited = has_thread("kube-keeper");
	}
	const bool stayed = is_mapped();
	Loaded again;
	const bool started = again.start();
	const unsigned connections = peer.connections();
	host_unlock_all();
	std::string why;
	if (!waited || !stayed || !started)
		why = waited ? stayed ? "no new start" : "unmapped under its thread"
			     : "the keeper did not wait for the lock";
	await([&] { return peer.connections() > connections; });
	host_submit(0, marker_of(1000, 1).c_str(), "kube", false);
	const std::string picture = settle(peer);
	again.stop();
	await([] { return !has_thread("kube-keeper"); });
	if (why.empty() && has_thread("kube-keeper"))
		why = "the old keeper never ended";
	report(name, why.empty() ? picture : why);
}

} // namespace

int main(int argc, char **argv)
{
	if (argc < 3) {
		(void)fprintf(stderr, "usage: host PLUGIN.so DIRECTORY [SECONDS]\n");
		return 2;
	}
	g_file = argv[1];
	g_directory = argv[2];
	if (argc > 3)
		g_time = std::chrono::milliseconds(
			1000 * std::max(1L, strtol(argv[3], nullptr, 10)));
	(void)setenv(
		"HOST_DIRECTORY", argv[2], 1); // NOLINT(concurrency-mt-unsafe): before any thread
	if (argc > 4)
		host_use_sink_port(static_cast<std::uint16_t>(strtol(argv[4], nullptr, 10)));
	host_make_tables(geteuid());
	printf("1..16\n");
	put_under_load("load with a polite agent", Manner::polite);
	put_under_load(
		"load with an agent that comes and goes, talks nonsense, hangs", Manner::coming);
	put_under_load("load with an agent that hardly reads", Manner::deaf);
	in_and_out();
	lose_control();
	fail_to_reconfigure();
	shut_down();
	restore_copies();
	judge_without_memory();
	shut_down_under_lock();
	run_out_of_memory();
	starve_the_link();
	read_texts_outside_of_locks();
	know_the_newest();
	tell_strays();
	unload_under_locks();
	host_free_tables();
	return g_failed == 0 ? 0 : 1;
}
