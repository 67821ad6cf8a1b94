/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/skube/selftest.h"

#include "src/base/programs.h"
#include "src/base/text.h"
#include "src/skube/request.h"
#include "src/skube/selftest_steps.h"
#include "src/skube/views.h"
#include "src/skube/yaml.h"

#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <random>

namespace slurmkube::skube
{

namespace
{

using Clock = std::chrono::steady_clock;

constexpr std::size_t k_object_max = std::size_t{4} << 20;
constexpr char k_interrupted[] = "interrupted";

/* SIGINT and its like stay pending until wait() takes them. A terminal sends them to a whole
 * process group; programs run apart from it, because a kubectl that dies half-way may leave a pod
 * that comes after its deletion. */
class Signals
{
      public:
	Signals()
	{
		sigemptyset(&set_);
		for (const int one : {SIGINT, SIGTERM, SIGHUP})
			sigaddset(&set_, one);
		(void)sigprocmask(SIG_BLOCK, &set_, nullptr); /* cannot fail */
		(void)signal(SIGPIPE, SIG_IGN); /* a reader that goes away must not keep the pod */
	}
	/* Returns after a tenth of a second, or at once if a signal is there. */
	void wait() { wait_for({.tv_sec = 0, .tv_nsec = 100'000'000}); }
	void poll() { wait_for({.tv_sec = 0, .tv_nsec = 0}); }
	/* From now on, also by the programs that start. */
	void ignore()
	{
		for (const int one : {SIGINT, SIGTERM, SIGHUP})
			(void)signal(one, SIG_IGN);
		(void)sigprocmask(SIG_UNBLOCK, &set_, nullptr);
	}
	[[nodiscard]] bool came() const { return came_; }

      private:
	void wait_for(timespec pause)
	{
		if (!came_ && sigtimedwait(&set_, nullptr, &pause) > 0)
			came_ = true;
	}

	sigset_t set_{};
	bool came_ = false;
};

TestPod new_pod(const Selftest &wanted)
{
	char name[64];
	(void)snprintf(name, sizeof(name), "skube-selftest-%08x", std::random_device{}());
	return {.name_space = wanted.name_space, .name = name, .image = wanted.image};
}

class Run
{
      public:
	explicit Run(const Selftest &wanted) : wanted_(wanted), pod_(new_pod(wanted))
	{
		seen_.names.prefix = wanted.name_prefix;
		for (const auto &[option, value] : {std::pair("--kubeconfig", &wanted.kubeconfig),
			     std::pair("--context", &wanted.context)}) {
			if (!value->empty())
				kubectl_.insert(kubectl_.end(), {option, *value});
		}
	}
	bool all();

      private:
	bool ask_agent();
	bool create();
	bool follow(TestStep step);
	void clean();
	void look(TestStep step);
	void look_at_pod();
	Words kubectl(std::initializer_list<std::string> words) const;
	bool finish(TestStep step, bool ok, const std::string &text);
	void explain(TestStep step, json_object *row);
	void print(json_object *row) const;

	const Selftest &wanted_;
	const TestPod pod_;
	Words kubectl_{"kubectl", "--request-timeout=10s"};
	Signals signals_;
	Clock::time_point since_ = Clock::now(); /* of the step */
	const Clock::time_point end_ = since_ + std::chrono::seconds(timeout_of(wanted_));
	Clock::time_point next_look_ = since_; /* at the pod */
	codec::Json why_ = nullptr, object_ = nullptr, rows_ = codec::new_array();
	Sightings seen_;
	std::string trouble_; /* a question that failed */
};

Words Run::kubectl(std::initializer_list<std::string> words) const
{
	Words all = kubectl_;
	all.insert(all.end(), words);
	all.insert(all.end(), {"--namespace", pod_.name_space});
	return all;
}

void Run::print(json_object *row) const
{
	const bool ok = codec::get_bool(row, "ok");
	std::string text = std::string(ok ? "ok    " : "FAIL  ") + codec::get_string(row, "name");
	text.resize(std::max(text.size() + 1, std::size_t{12}), ' ');
	char seconds[32];
	(void)snprintf(seconds, sizeof(seconds), " (%.1f s)\n", codec::get_double(row, "seconds"));
	text += codec::get_string(row, "text") + seconds;
	for (const std::string &line : lines_of(why_view(row)))
		text += "      " + line + "\n";
	json_object *remedies = codec::get(row, "remedies");
	for (std::size_t i = 0; i < codec::array_size(remedies); i++)
		text += std::string("      -> ") +
			json_object_get_string(codec::array_at(remedies, i)) + "\n";
	(void)fputs(text.c_str(), stdout);
	(void)fflush(stdout); /* a reader that has gone away changes nothing */
}

/* What the agent says of the pod, and what helps. */
void Run::explain(TestStep step, json_object *row)
{
	codec::Json remedies = codec::new_array();
	if (step > TestStep::pod && codec::get(why_.get(), "lines"))
		codec::put(row, "lines",
			codec::Json(json_object_get(codec::get(why_.get(), "lines"))));
	codec::append(remedies.get(), remedy_of(step, pod_, job_number(why_.get())));
	const auto checks = ask(wanted_.socket, "check");
	if (const std::string failed = failed_check(checks ? checks->get() : nullptr);
		!failed.empty())
		codec::append(remedies.get(), failed);
	codec::put(row, "remedies", std::move(remedies));
}

bool Run::finish(TestStep step, bool ok, const std::string &text)
{
	const auto now = Clock::now();
	codec::Json row = codec::new_object();
	codec::put(row.get(), "name", name_of(step));
	codec::put(row.get(), "ok", ok);
	codec::put(row.get(), "text", text);
	codec::put(row.get(), "seconds", std::chrono::duration<double>(now - since_).count());
	if (!ok && !signals_.came())
		explain(step, row.get());
	if (wanted_.format == Format::table)
		print(row.get());
	codec::append(rows_.get(), std::move(row));
	since_ = Clock::now();
	return ok;
}

bool Run::ask_agent()
{
	const auto reply = ask(wanted_.socket, "ping");
	if (!reply)
		return finish(TestStep::agent, false, printable(reply.error().what));
	std::string text = ping_view(reply->get());
	text.pop_back(); /* the line break */
	return finish(TestStep::agent,
		codec::get_bool(reply->get(), "ready") && codec::get_bool(reply->get(), "link"),
		text);
}

bool Run::create()
{
	const auto done = output_apart(kubectl({"create", "--filename", "-", "--output", "name"}),
		codec::to_text(manifest_of(wanted_, pod_).get()));
	return finish(TestStep::pod, done.ok(),
		done ? pod_.label() + " created" : printable(done.error().what));
}

/* The API server is asked less often than the agent, because each question starts a program. */
void Run::look_at_pod()
{
	if (Clock::now() < next_look_)
		return;
	const auto text = output_apart(
		kubectl({"get", "pod", pod_.name, "--ignore-not-found", "--output", "json"}));
	next_look_ = Clock::now() + std::chrono::milliseconds(500);
	if (!text) {
		trouble_ = text.error().what;
		return;
	}
	auto object = text->empty() ? Result<codec::Json>(codec::Json())
				    : codec::parse_json(*text, k_object_max);
	if (object)
		object_ = std::move(object).value();
	else
		trouble_ = "kubectl printed no JSON: " + object.error().what;
	seen_.pod = object_.get();
}

void Run::look(TestStep step)
{
	/* an agent that has not seen the pod yet answers with an error */
	if (auto why = ask(wanted_.socket, "why", [this] {
		    codec::Json about = codec::new_object();
		    codec::put(about.get(), "pod", pod_.label());
		    return about;
	    }()))
		why_ = std::move(why).value();
	else if (why.error().code != Errc::invalid)
		trouble_ = why.error().what;
	seen_.why = why_.get();
	look_at_pod();
	if (step < TestStep::end)
		return;
	auto row = output_apart(
		{"scontrol", "--oneliner", "show", "job", std::to_string(job_number(seen_.why))});
	if (row)
		seen_.job = printable(*row);
	else
		trouble_ = row.error().what;
}

bool Run::follow(TestStep step)
{
	if (step == TestStep::agree)
		next_look_ = Clock::now();
	for (;; signals_.wait()) {
		if (signals_.came())
			return finish(step, false, k_interrupted);
		look(step);
		if (!trouble_.empty()) {
			signals_.poll(); /* it may have ended the program, too */
			return finish(
				step, false, signals_.came() ? k_interrupted : printable(trouble_));
		}
		const Finding found = look_at(step, seen_);
		if (found.is != Finding::Is::open)
			return finish(step, found.is == Finding::Is::done, found.text);
		if (Clock::now() >= end_)
			return finish(step, false,
				found.text + " after " + wanted_.timeout + " s (--timeout)");
	}
}

/* A creation that failed may have created the pod nevertheless. */
void Run::clean()
{
	signals_.ignore();
	since_ = Clock::now();
	const auto done = output_apart(
		kubectl({"delete", "pod", pod_.name, "--ignore-not-found", "--timeout=60s"}));
	(void)finish(TestStep::clean, done.ok(),
		done ? pod_.label() + " deleted" : printable(done.error().what));
}

bool Run::all()
{
	bool ok = ask_agent();
	if (ok) {
		ok = create();
		for (const TestStep step : {TestStep::job, TestStep::start, TestStep::bind,
			     TestStep::run, TestStep::end, TestStep::agree})
			ok = ok && follow(step);
		clean();
		ok = ok &&
			codec::get_bool(
				codec::array_at(rows_.get(), codec::array_size(rows_.get()) - 1),
				"ok");
	}
	if (wanted_.format == Format::table)
		return ok;
	codec::Json report = codec::new_object();
	codec::put(report.get(), "ok", ok);
	codec::put(report.get(), "pod", pod_.label());
	codec::put(report.get(), "steps", std::move(rows_));
	const std::string text =
		wanted_.format == Format::yaml ? yaml_text(report.get()) : json_text(report.get());
	return fputs(text.c_str(), stdout) >= 0 && fflush(stdout) == 0 && ok;
}

} // namespace

unsigned timeout_of(const Selftest &wanted)
{
	const std::string &text = wanted.timeout;
	if (text.empty() || text.size() > 5 ||
		text.find_first_not_of("0123456789") != std::string::npos)
		return 0;
	const unsigned long seconds = std::stoul(text);
	return seconds <= k_selftest_timeout_max ? static_cast<unsigned>(seconds) : 0;
}

bool selftest(const Selftest &wanted)
{
	return Run(wanted).all();
}

} // namespace slurmkube::skube
