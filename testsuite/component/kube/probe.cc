/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * probe.cc - drives src/agent/kube line by line: commands as JSON on stdin, answers and events as
 * JSON on stdout.
 *
 *	probe access FILE|in-cluster [CONTEXT|DIRECTORY]   reads credentials, prints what it found
 *	probe run FILE [MAX_IN_FLIGHT]                     serves commands until stdin ends
 *
 * A command is {"id":N,"do":VERB,...}; its answer {"id":N,"ok":BOOL,"code":TEXT,"what":TEXT,...}.
 * Watches print {"watch":NAME,"event":...}.
 */
#include "src/agent/kube/client.h"
#include "src/agent/kube/credentials.h"
#include "src/agent/kube/watch_group.h"
#include "src/agent/kube/writes.h"
#include "src/base/log.h"
#include "src/codec/frames.h"
#include "src/codec/json.h"
#include "src/codec/pod.h"
#include "src/core/model/names.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>

#include <sys/epoll.h>
#include <unistd.h>

using namespace slurmkube;
using namespace slurmkube::kube;
using codec::get;
using codec::get_bool;
using codec::get_int;
using codec::get_string;
using codec::Json;
using codec::put;

namespace
{

void print(const Json &line)
{
	(void)printf("%s\n", codec::to_text(line.get()).c_str());
	(void)fflush(stdout);
}

const char *name_of(Errc code)
{
	static constexpr const char *names[] = {"invalid", "not_found", "conflict", "denied",
		"again", "too_large", "io", "internal"};
	return names[static_cast<std::size_t>(code)];
}

Json answer(std::int64_t id)
{
	Json line = codec::new_object();
	put(line.get(), "id", id);
	return line;
}

template <class T> Json answer(std::int64_t id, const Result<T> &result)
{
	Json line = answer(id);
	put(line.get(), "ok", result.ok());
	if (!result) {
		put(line.get(), "code", name_of(result.error().code));
		put(line.get(), "what", result.error().what);
	}
	return line;
}

Done printing(std::int64_t id)
{
	return [id](const Status &status) { print(answer(id, status)); };
}

/* A watch that prints its events. */
class PrintedWatch : public WatchSink
{
      public:
	PrintedWatch(Client &client, std::string name, const std::vector<WatchOptions> &options)
	    : name_(std::move(name)), watch_(client, options, *this)
	{
	}
	void upserted(json_object *object) override
	{
		auto pod = codec::pod_from_json(object);
		if (pod)
			pods_.insert_or_assign(pod->uid.text, *pod);
		tell("upserted", object);
	}
	void deleted(json_object *object) override
	{
		pods_.erase(codec::uid_of(object));
		tell("deleted", object);
	}
	[[nodiscard]] const std::map<std::string, core::Pod> &pods() const { return pods_; }
	void list_again() { watch_.list_again(); }
	void listed(const std::set<std::string> &uids) override
	{
		Json line = start("listed");
		put(line.get(), "count", static_cast<std::int64_t>(uids.size()));
		Json list = codec::new_array();
		for (const std::string &uid : uids)
			codec::append(list.get(), uid);
		put(line.get(), "uids", std::move(list));
		print(line);
	}
	void describe(json_object *into) const
	{
		const WatchCounters c = watch_.counters();
		put(into, "synced", watch_.synced());
		put(into, "trouble", watch_.trouble());
		put(into, "lists", c.lists);
		put(into, "pages", c.pages);
		put(into, "expired", c.expired);
		put(into, "streams", c.streams);
		put(into, "events", c.events);
		put(into, "bookmarks", c.bookmarks);
		put(into, "errors", c.errors);
		put(into, "silences", c.silences);
	}

      private:
	Json start(const char *event) const
	{
		Json line = codec::new_object();
		put(line.get(), "watch", name_);
		put(line.get(), "event", event);
		return line;
	}
	void tell(const char *event, json_object *object) const
	{
		Json line = start(event);
		put(line.get(), "name", get_string(get(object, "metadata"), "name"));
		put(line.get(), "uid", get_string(get(object, "metadata"), "uid"));
		put(line.get(), "readable", codec::pod_from_json(object).ok());
		print(line);
	}
	std::string name_;
	std::map<std::string, core::Pod> pods_; /* as in their latest event, by uid */
	WatchGroup watch_;
};

class Probe
{
      public:
	Probe(agent::Loop &loop, const std::string &file, Access access,
		const ClientOptions &options)
	    : loop_(loop), client_(loop, std::move(access), options), credentials_(client_, file)
	{
		credentials_.start();
		loop_.set(STDIN_FILENO, EPOLLIN, [this](std::uint32_t) { read_input(); });
	}

      private:
	void read_input()
	{
		char buffer[65536];
		const ssize_t n = read(STDIN_FILENO, buffer, sizeof(buffer));
		if (n <= 0) {
			loop_.stop();
			return;
		}
		input_.add({buffer, static_cast<std::size_t>(n)});
		while (const auto line = input_.next()) {
			const auto command = codec::parse_json(*line, 1 << 20);
			if (command)
				carry_out(command->get());
		}
	}

	void carry_out(json_object *o)
	{
		static const std::map<std::string, void (Probe::*)(std::int64_t, json_object *)>
			verbs = {
				{"bind", &Probe::bind},
				{"delete", &Probe::remove},
				{"conditions", &Probe::conditions},
				{"event", &Probe::event},
				{"create_claim", &Probe::create_claim},
				{"map_requests", &Probe::map_requests},
				{"get", &Probe::get_many},
				{"version", &Probe::ask_version},
				{"check", &Probe::check},
				{"watch", &Probe::watch},
				{"unwatch", &Probe::unwatch},
				{"stream", &Probe::stream},
				{"counters", &Probe::counters},
				{"compare", &Probe::compare},
				{"reload", &Probe::reload},
				{"list_again", &Probe::list_again},
				{"find", &Probe::find},
			};
		const auto verb = verbs.find(get_string(o, "do"));
		if (verb != verbs.end())
			(this->*verb->second)(get_int(o, "id"), o);
	}

	void bind(std::int64_t id, json_object *o)
	{
		bind_pod(client_,
			{.name_space = get_string(o, "namespace", "default"),
				.name = get_string(o, "name"),
				.uid = get_string(o, "uid"),
				.node = get_string(o, "node"),
				.annotations = {{names::k_allocation_job_id,
					get_string(o, "job", "1")}},
				.labels = {{"slurm-kube.test/label", "yes"}}},
			printing(id));
	}

	void remove(std::int64_t id, json_object *o)
	{
		std::optional<std::int64_t> grace;
		if (get(o, "grace") != nullptr)
			grace = get_int(o, "grace");
		delete_pod(client_, "default", get_string(o, "name"), get_string(o, "uid"), grace,
			printing(id));
	}

	void conditions(std::int64_t id, json_object *o)
	{
		set_conditions(client_,
			{.name_space = "default",
				.name = get_string(o, "name"),
				.uid = get_string(o, "uid"),
				.conditions = {{.type = "DisruptionTarget",
						       .status = true,
						       .reason = "SlurmJobEnded",
						       .message = "cancelled",
						       .transition_time = 1795230537},
					{.type = "PodScheduled",
						.status = false,
						.reason = "SlurmPending",
						.message = get_string(o, "message")}},
				.can_wait = get_bool(o, "can_wait"),
				.is_outdated = outdated(o)},
			printing(id));
	}

	static core::ResourceClaimId claim_id(json_object *o)
	{
		return {"default", get_string(o, "claim")};
	}

	void create_claim(std::int64_t id, json_object *o)
	{
		core::DeviceRequest request;
		request.name = "container-0-request-1";
		request.device_class = "gpu";
		provide(client_,
			core::CreateClaim{claim_id(o), get_string(o, "name"), get_string(o, "uid"),
				{request}},
			printing(id));
	}

	void map_requests(std::int64_t id, json_object *o)
	{
		provide(client_,
			core::MapRequests{claim_id(o), get_string(o, "name"), get_string(o, "uid"),
				{{"main", "example.com/gpu", "container-0-request-1"}}},
			printing(id));
	}

	void event(std::int64_t id, json_object *o)
	{
		Json line = answer(id);
		put(line.get(), "ok",
			post_event(client_,
				{.name_space = "default",
					.name = get_string(o, "name"),
					.uid = get_string(o, "uid"),
					.warning = true,
					.reason = "SlurmRefused",
					.action = "Scheduling",
					.note = get_string(o, "note"),
					.reporting_instance = "probe"}));
		print(line);
	}

	static std::function<bool()> outdated(json_object *o)
	{
		return [is = get_bool(o, "outdated")] { return is; };
	}

	/* Sends count requests at once, and one answer when all have returned. */
	void get_many(std::int64_t id, json_object *o)
	{
		struct Tally {
			std::int64_t left, good = 0;
			std::size_t most_in_flight = 0;
			std::string what, code;
		};
		auto tally = std::make_shared<Tally>();
		tally->left = std::max<std::int64_t>(1, get_int(o, "count", 1));
		for (std::int64_t i = tally->left; i > 0; i--) {
			Request request;
			request.path = get_string(o, "path", "/version");
			request.deadline =
				std::chrono::milliseconds(get_int(o, "deadline_ms", 5000));
			request.body_limit =
				static_cast<std::size_t>(get_int(o, "body_limit", 1 << 20));
			request.can_wait = get_bool(o, "can_wait");
			request.is_urgent = get_bool(o, "urgent");
			request.is_outdated = outdated(o);
			client_.send(std::move(request),
				[this, id, tally](const Result<Response> &result) {
					tally->most_in_flight = std::max(
						tally->most_in_flight, client_.in_flight());
					tally->good += result ? 1 : 0;
					if (!result) {
						tally->what = result.error().what;
						tally->code = name_of(result.error().code);
					}
					if (--tally->left > 0)
						return;
					Json line = answer(id);
					put(line.get(), "queued",
						static_cast<std::int64_t>(client_.queued()));
					put(line.get(), "good", tally->good);
					put(line.get(), "most_in_flight",
						static_cast<std::int64_t>(tally->most_in_flight));
					put(line.get(), "what", tally->what);
					put(line.get(), "code", tally->code);
					print(line);
				});
			tally->most_in_flight =
				std::max(tally->most_in_flight, client_.in_flight());
		}
	}

	void ask_version(std::int64_t id, json_object *)
	{
		version(client_, [id](const Result<ServerVersion> &result) {
			Json line = answer(id, result);
			if (result) {
				put(line.get(), "git_version", result->git_version);
				put(line.get(), "minor", result->minor);
			}
			print(line);
		});
	}

	void check(std::int64_t id, json_object *)
	{
		self_check(client_, {}, [id](const Result<std::vector<Right>> &result) {
			Json line = answer(id, result);
			Json rights = codec::new_object();
			for (const Right &right : result ? *result : std::vector<Right>())
				put(rights.get(), (right.verb + " " + right.resource).c_str(),
					right.allowed);
			put(line.get(), "rights", std::move(rights));
			print(line);
		});
	}

	void watch(std::int64_t id, json_object *o)
	{
		WatchOptions options;
		options.path = get_string(o, "path", "/api/v1/pods");
		options.field_selector = get_string(o, "fields");
		options.label_selector = get_string(o, "labels");
		options.accept = get_string(
			o, "accept", options.path == "/api/v1/pods" ? k_protobuf : k_json);
		options.page_size = static_cast<unsigned>(get_int(o, "page_size", 500));
		options.silence = std::chrono::milliseconds(get_int(o, "silence_ms", 150'000));
		options.may_be_unserved = get_bool(o, "may_be_unserved");
		options.least_timeout = options.longest_timeout =
			std::chrono::seconds(get_int(o, "timeout", 300));
		const std::string name = get_string(o, "name");
		std::vector<WatchOptions> all{options};
		for (const char *key : {"fields_2", "fields_3"}) {
			options.field_selector = get_string(o, key);
			if (!options.field_selector.empty())
				all.push_back(options);
		}
		watches_[name] = std::make_unique<PrintedWatch>(client_, name, all);
		print(answer(id, Status(Ok{})));
	}

	/* The uids of pods that two watches have decoded differently, or that only one of them
	 * has seen. */
	void compare(std::int64_t id, json_object *o)
	{
		const auto &one = watches_.at(get_string(o, "name"))->pods(),
			   &other = watches_.at(get_string(o, "with"))->pods();
		Json line = answer(id), differ = codec::new_array();
		const auto tell = [&](const auto &from, const auto &in) {
			for (const auto &[uid, pod] : from) {
				const auto found = in.find(uid);
				if (found == in.end() || !(found->second == pod))
					codec::append(differ.get(), uid);
			}
		};
		tell(one, other);
		tell(other, one);
		put(line.get(), "count", static_cast<std::int64_t>(one.size()));
		put(line.get(), "differ", std::move(differ));
		print(line);
	}

	void reload(std::int64_t id, json_object *)
	{
		credentials_.reload();
		print(answer(id, Status(Ok{})));
	}

	void list_again(std::int64_t id, json_object *o)
	{
		watches_.at(get_string(o, "name"))->list_again();
		print(answer(id, Status(Ok{})));
	}

	/* Answers whether that namespace has a pod of that name. */
	void find(std::int64_t id, json_object *o)
	{
		const auto is_it = [name = get_string(o, "name")](
					   const core::Pod &pod) { return pod.name == name; };
		find_pod(client_, get_string(o, "namespace"), is_it,
			[id](const Result<bool> &found) {
				Json line = answer(id, found);
				put(line.get(), "found", found && *found);
				print(line);
			});
	}

	void unwatch(std::int64_t id, json_object *o)
	{
		watches_.erase(get_string(o, "name"));
		print(answer(id, Status(Ok{})));
	}

	void stream(std::int64_t id, json_object *o)
	{
		StreamRequest request;
		request.path = get_string(o, "path");
		request.frame_limit = static_cast<std::size_t>(get_int(o, "limit"));
		(void)client_.open_stream(
			std::move(request), [](std::string_view) {},
			[id](const Result<Response> &end) { print(answer(id, end)); });
	}

	void counters(std::int64_t id, json_object *o)
	{
		Json line = answer(id);
		const auto found = watches_.find(get_string(o, "name"));
		if (found != watches_.end())
			found->second->describe(line.get());
		const ClientCounters &c = client_.counters();
		put(line.get(), "requests", c.requests);
		put(line.get(), "answers", c.answers);
		put(line.get(), "repeats", c.repeats);
		put(line.get(), "throttled", c.throttled);
		put(line.get(), "unauthorized", c.unauthorized);
		put(line.get(), "timeouts", c.timeouts);
		put(line.get(), "failures", c.failures);
		put(line.get(), "reconnects", c.reconnects);
		put(line.get(), "bytes", c.bytes_received);
		put(line.get(), "token_expires", client_.token_expires().value_or(0));
		put(line.get(), "token_trouble", client_.token_trouble());
		put(line.get(), "credentials_trouble", credentials_.trouble());
		print(line);
	}

	agent::Loop &loop_;
	Client client_;
	Credentials credentials_;
	codec::FrameReader input_{1 << 20};
	std::map<std::string, std::unique_ptr<PrintedWatch>> watches_;
};

int show_access(const Result<Access> &access)
{
	Json line = answer(0, access);
	if (access) {
		put(line.get(), "server", access->server);
		put(line.get(), "ca", access->ca_file);
		put(line.get(), "certificate", access->certificate_file);
		put(line.get(), "token", access->token);
		put(line.get(), "token_file", access->token_file);
		put(line.get(), "namespace", access->default_namespace);
		put(line.get(), "verify", access->verify);
	}
	print(line);
	return access ? 0 : 1;
}

} // namespace

int main(int argc, char **argv)
{
	log_open(log_to_stderr, LogLevel::debug);
	const std::string verb = argc > 2 ? argv[1] : "", file = argc > 2 ? argv[2] : "",
			  more = argc > 3 ? argv[3] : "";
	if (verb == "access" && file == "in-cluster")
		return show_access(access_in_cluster(more));
	auto access = access_from_kubeconfig(file, verb == "access" ? more : "");
	if (verb == "access" || !access)
		return show_access(access);
	ClientOptions options;
	if (!more.empty())
		options.max_in_flight = static_cast<unsigned>(atoi(more.c_str()));
	agent::Loop loop;
	const Probe probe(loop, file, std::move(access).value(), options);
	loop.run();
	return 0;
}
