/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/skube/watch_events.h"

#include "src/base/text.h"
#include "src/skube/event_lines.h"
#include "src/skube/event_text.h"
#include "src/skube/list_request.h"
#include "src/skube/request.h"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <poll.h>
#include <unistd.h>

namespace slurmkube::skube
{

namespace
{

using Got = EventLines::Got;

constexpr std::size_t k_event_line_max = std::size_t{1} << 20;
/* for the first line, and then: the agent sends one at least each 15 s */
constexpr std::chrono::seconds k_first_line{10}, k_silence{45};
constexpr std::chrono::milliseconds k_again{1000};

bool fits(core::ListKind kind, const Options &options)
{
	const bool is_node = kind == core::ListKind::nodes, is_job = kind == core::ListKind::jobs;
	return !(is_node &&
		       (!options.select.namespaces.empty() || !options.select.users.empty())) &&
		!(is_job && !options.select.labels.empty());
}

const List *list_named(const std::string &word)
{
	for (const List *list : {&jobs_list(), &pods_list(), &nodes_list()})
		if (word == list->verb)
			return list;
	return nullptr;
}

Result<std::vector<const List *>> lists_of(const Options &options)
{
	std::vector<const List *> lists;
	for (std::size_t i = 1; i < options.words.size(); i++) {
		const List *list = list_named(options.words[i]);
		if (!list)
			return Error{Errc::invalid,
				"watch takes jobs, pods and nodes, not '" + options.words[i] + "'"};
		if (!fits(list->kind, options))
			return Error{Errc::invalid,
				options.words[i] + " cannot be selected like that: " +
					(list->kind == core::ListKind::jobs
							? "jobs have no labels"
							: "nodes have no namespace and no user")};
		lists.push_back(list);
	}
	if (lists.empty()) {
		for (const List *list : {&jobs_list(), &pods_list(), &nodes_list()})
			if (fits(list->kind, options))
				lists.push_back(list);
	}
	return lists;
}

/* How following one connection has ended. */
struct End {
	int status = -1;      /* to end with; -1: the connection is lost */
	std::string why = {}; /* it is lost */
};

class Follower
{
      public:
	explicit Follower(bool is_data) : is_data_(is_data) {}
	End follow(UniqueFd connection);
	[[nodiscard]] bool has_begun() const { return has_begun_; }

      private:
	[[nodiscard]] End end_of(Got got) const;
	End take(const std::string &line);
	bool print(const std::string &line, json_object *event);

	bool is_data_, has_begun_ = false;
	EventText text_;
};

End Follower::end_of(Got got) const
{
	if (got == Got::no_reader)
		return {.status = k_fine};
	if (got == Got::silence)
		return {.why = "slurmkubed says nothing"};
	return {.why = got == Got::too_long ? "slurmkubed sent a line without an end"
					    : "slurmkubed has closed the connection"};
}

std::string clock_text()
{
	const std::time_t now = time(nullptr);
	std::tm local{};
	char text[16] = "";
	if (localtime_r(&now, &local))
		(void)strftime(text, sizeof(text), "%H:%M:%S", &local);
	return text;
}

bool Follower::print(const std::string &line, json_object *event)
{
	const std::string out = is_data_ ? printable(line) + "\n" : text_.of(event, clock_text());
	return fputs(out.c_str(), stdout) >= 0;
}

/* why is empty while the connection goes on. */
End Follower::take(const std::string &line)
{
	const auto event = codec::parse_json(line, k_event_line_max);
	if (!event)
		return {.why = "slurmkubed sent no JSON (" + event.error().what + ")"};
	json_object *object = event->get();
	if (codec::get(object, "ok") && !codec::get_bool(object, "ok")) {
		(void)fprintf(stderr, "skube: %s\n",
			printable(codec::get_string(object, "error", "slurmkubed gave no reason"))
				.c_str());
		return {.status = k_wrong};
	}
	has_begun_ = has_begun_ || codec::get_bool(object, "ok");
	if (!print(line, object))
		return {.status =
				k_wrong}; /* a full disk; after a closed pipe a signal ends skube */
	if (codec::get_string(object, "type") == "closed")
		return {.why = "slurmkubed has closed the connection (" +
				codec::get_string(object, "reason") + ")"};
	return {};
}

End Follower::follow(UniqueFd connection)
{
	EventLines lines(std::move(connection), STDOUT_FILENO);
	std::string line;
	for (bool is_first = true;; is_first = false) {
		if (!lines.has_line() && fflush(stdout) != 0)
			return {.status = k_wrong};
		const Got got = lines.take(line, is_first ? k_first_line : k_silence);
		const End end = got == Got::line ? take(line) : end_of(got);
		if (end.status >= 0 || !end.why.empty())
			return end;
	}
}

int no_agent(const Error &error, const SocketPath &socket)
{
	(void)fprintf(stderr, "skube: %s; the path is from %s\n", error.what.c_str(),
		printable(socket.source).c_str());
	return k_unreachable;
}

bool has_reader(std::chrono::milliseconds pause)
{
	pollfd reader{STDOUT_FILENO, 0, 0};
	return poll(&reader, 1, static_cast<int>(pause.count())) == 0;
}

} // namespace

Result<WatchRequest> watch_request(const Options &options)
{
	const auto format = format_of(options, true);
	if (!format)
		return format.error();
	if (*format == Format::yaml)
		return Error{Errc::invalid, "watch prints text and json, not yaml"};
	const auto lists = lists_of(options);
	if (!lists)
		return lists.error();
	if (lists->empty())
		return Error{
			Errc::invalid, "nothing has both labels and the rest of the selection"};
	WatchRequest wanted{.members = codec::new_object(),
		.socket = place_of_socket(options.socket, options.manifests.config),
		.is_data = *format == Format::json};
	codec::put(wanted.members.get(), "watch", 1);
	codec::Json kinds = codec::new_array();
	for (const List *list : *lists) {
		const auto text = selection_of(*list, options);
		if (!text)
			return text.error();
		codec::append(kinds.get(), list->verb);
		if (codec::Json select = select_member(*text))
			codec::put(wanted.members.get(), "select", std::move(select));
	}
	codec::put(wanted.members.get(), "kinds", std::move(kinds));
	return wanted;
}

int watch_events(const WatchRequest &wanted)
{
	Follower follower(wanted.is_data);
	for (;;) {
		auto connection = send_request(wanted.socket.path, "watch",
			codec::Json(json_object_get(wanted.members.get())));
		if (connection) {
			const End end = follower.follow(std::move(*connection));
			if (fflush(stdout) != 0)
				return k_wrong;
			if (end.status >= 0)
				return end.status;
			if (!follower.has_begun())
				return no_agent(Error{Errc::io, end.why}, wanted.socket);
			(void)fprintf(stderr, "skube: %s; connecting again\n",
				printable(end.why).c_str());
		} else if (!follower.has_begun()) {
			return no_agent(connection.error(), wanted.socket);
		}
		if (!has_reader(k_again))
			return k_fine;
	}
}

} // namespace slurmkube::skube
