/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * main.cc - skube: asks slurmkubed and prints the reply. kubeconfig, manifests and teardown
 * work without slurmkubed. See skube(1).
 */
#include "src/base/guard.h"
#include "src/base/text.h"
#include "src/skube/config_value.h"
#include "src/skube/list_request.h"
#include "src/skube/local_commands.h"
#include "src/skube/node_file.h"
#include "src/skube/options.h"
#include "src/skube/request.h"
#include "src/skube/socket_path.h"
#include "src/skube/target.h"
#include "src/skube/terminal.h"
#include "src/skube/views.h"
#include "src/skube/watch.h"
#include "src/skube/yaml.h"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <poll.h>
#include <string>
#include <unistd.h>
#include <vector>

namespace
{

using namespace slurmkube;
using skube::k_fine, skube::k_wrong, skube::k_unreachable;
using skube::Options, skube::usage_error;

/* A command line, the request for it, and how to print the reply. */
struct Command {
	std::vector<std::string> words;
	const char *verb;
	unsigned id; /* of skube::Commands */
	std::string (*view)(json_object *reply);
	bool (*fine)(json_object *reply);       /* nullptr: always */
	const skube::List &(*list)() = nullptr; /* instead of view */
};

bool is_ready(json_object *reply)
{
	return codec::get_bool(reply, "ready");
}

const std::vector<Command> &commands()
{
	static const std::vector<Command> all = {
		{{"ping"}, "ping", skube::k_ping, skube::ping_view, is_ready},
		{{"check"}, "check", skube::k_check, skube::check_view, skube::all_checks_passed},
		{{"show", "jobs"}, "jobs", skube::k_show_jobs, nullptr, nullptr, skube::jobs_list},
		{{"show", "pods"}, "pods", skube::k_show_pods, nullptr, nullptr, skube::pods_list},
		{{"show", "nodes"}, "nodes", skube::k_show_nodes, nullptr, nullptr,
			skube::nodes_list},
		{{"show", "devices"}, "devices", skube::k_show_devices, skube::devices_view,
			nullptr},
		{{"diag"}, "diag", skube::k_diag, skube::diag_view, nullptr},
		{{"nodes"}, "slurm_conf", skube::k_node_lines, skube::slurm_conf_view, nullptr},
	};
	return all;
}

const Command &why_command()
{
	static const Command command = {{"why"}, "why", skube::k_why, skube::why_view, nullptr};
	return command;
}

const Command &topology_command()
{
	static const Command command = {{"nodes"}, "topology_conf", skube::k_node_lines,
		skube::topology_conf_view, nullptr};
	return command;
}

/* nullptr: no command that asks the agent. */
const Command *command_of(const std::vector<std::string> &words)
{
	if (words.size() == 2 && words[0] == "why" && !words[1].empty())
		return &why_command();
	for (const Command &command : commands()) {
		if (command.words == words)
			return &command;
	}
	return nullptr;
}

std::string joined(const std::vector<std::string> &words)
{
	std::string all;
	for (const std::string &word : words)
		all += (all.empty() ? "" : " ") + word;
	return all;
}

/* Prints an empty list only with --force: the shell has emptied the file already when the command
 * is redirected to it. */
int print_node_lines(const Options &options, json_object *reply)
{
	const std::string text = skube::slurm_conf_view(reply);
	if (options.output.empty() && skube::node_lines(text) == 0 && !options.force) {
		(void)fprintf(stderr,
			"skube: the agent manages no node, and slurmctld fails pods on nodes that "
			"its file no longer has: nothing is printed. --force overrules this\n");
		return k_wrong;
	}
	if (options.output.empty())
		return fputs(text.c_str(), stdout) >= 0 && fflush(stdout) == 0 ? k_fine : k_wrong;
	const auto done = skube::replace_node_file(options.output, text, options.force);
	if (!done) {
		(void)fprintf(stderr, "skube: %s\n", done.error().what.c_str());
		return k_wrong;
	}
	(void)fputs(done->c_str(), stdout);
	return k_fine;
}

std::string text_of(const Command &command, json_object *reply, const skube::Look &look)
{
	if (command.list)
		return skube::list_text(command.list(), reply, look);
	if (look.format == skube::Format::json)
		return skube::json_text(reply);
	return look.format == skube::Format::yaml ? skube::yaml_text(reply) : command.view(reply);
}

int print_reply(const Command &command, json_object *reply, const skube::Look &look)
{
	const std::string text = text_of(command, reply, look);
	if (fputs(text.c_str(), stdout) < 0 || fflush(stdout) != 0)
		return k_wrong; /* a full disk; after a closed pipe a signal ends skube */
	return !command.fine || command.fine(reply) ? k_fine : k_wrong;
}

int no_command(const std::vector<std::string> &words)
{
	if (words.empty())
		return usage_error("no command");
	if (words[0] == "why")
		return usage_error("why takes one pod, or node/NAME, job/ID or KIND/NAME");
	if (const char *usage = skube::usage_of_local(words[0]))
		return usage_error(words[0] + " takes " + usage);
	return usage_error("no such command: " + joined(words));
}

/* The members of the request besides the verb; null: none. */
Result<codec::Json> members_of(const Command &command, const Options &options)
{
	codec::Json members = codec::new_object();
	if (command.id == skube::k_why) {
		const auto target =
			skube::parse_target(options.words[1], options.select.namespaces);
		if (!target)
			return target.error();
		skube::put_target(members.get(), *target);
	}
	if (!options.topology_labels.empty())
		codec::put(members.get(), "labels", options.topology_labels);
	if (command.list) {
		const auto text = skube::selection_of(command.list(), options);
		if (!text)
			return text.error();
		if (codec::Json select = skube::select_member(*text))
			codec::put(members.get(), "select", std::move(select));
	}
	return members;
}

/* Wrong usage if it fails. */
Result<skube::Look> look_of(const Command &command, const Options &options)
{
	skube::Look look{.now = static_cast<std::int64_t>(time(nullptr))};
	if (command.id == skube::k_node_lines) {
		if (options.slurm_conf == options.topology_conf)
			return Error{Errc::invalid,
				"nodes needs one of --slurm-conf and --topology-conf"};
		if (options.topology_conf && (!options.output.empty() || options.force))
			return Error{Errc::invalid,
				"--topology-conf prints the lines, without --output and --force"};
		if (!options.topology_conf && !options.topology_labels.empty())
			return Error{Errc::invalid, "--topology-labels needs --topology-conf"};
		return look;
	}
	const auto format = skube::format_of(options, !command.list);
	if (!format)
		return format.error();
	look.format = *format;
	if (options.watch && (*format == skube::Format::name || *format == skube::Format::yaml))
		return Error{
			Errc::invalid, "--watch prints tables and json, not " + options.output};
	look.style = skube::style_of_output(*format == skube::Format::wide);
	if (command.list) {
		auto sort = skube::parse_sort(command.list(), options.sort);
		if (!sort)
			return sort.error();
		look.sort = std::move(sort).value();
	}
	return look;
}

/* An agent that does not know selections sends all rows. */
bool ignored_selection(json_object *members, json_object *reply)
{
	return codec::get(members, "select") && !codec::get_bool(reply, "selected");
}

/* Prints why, and where the path of the socket comes from. */
int no_reply(const Error &error, const skube::SocketPath &socket)
{
	const bool is_refusal = error.code == Errc::invalid || error.code == Errc::again;
	const std::string source =
		is_refusal ? "" : "; the path is from " + printable(socket.source);
	(void)fprintf(stderr, "skube: %s%s\n", error.what.c_str(), source.c_str());
	return is_refusal ? k_wrong : k_unreachable;
}

/* An agent that has just started gets up to 10 s to learn what the reply depends on, so that a
 * script may ask right after "systemctl start". */
Result<codec::Json> ask_patiently(
	const Command &command, const skube::SocketPath &socket, json_object *members)
{
	constexpr int pause_ms = 250, asked_most = 40;
	for (int asked = 1;; asked++) {
		auto reply = skube::ask(
			socket.path, command.verb, codec::Json(json_object_get(members)));
		if (reply || reply.error().code != Errc::again || asked == asked_most)
			return reply;
		(void)poll(nullptr, 0, pause_ms);
	}
}

/* The reply of the right release; prints why there is none. */
int fetch(const Command &command, const skube::SocketPath &socket, json_object *members,
	codec::Json &out)
{
	auto reply = ask_patiently(command, socket, members);
	if (!reply)
		return no_reply(reply.error(), socket);
	out = std::move(reply).value();
	if (!ignored_selection(members, out.get()))
		return k_fine;
	(void)fprintf(stderr,
		"skube: slurmkubed is of an older release and cannot select "
		"rows: restart it as the release of skube\n");
	return k_wrong;
}

/* Asks again and again; ends when there is no reply, or nothing can be printed. */
int watch_list(const Command &command, const skube::SocketPath &socket, json_object *members,
	skube::Look look)
{
	constexpr int pause_ms = 2000;
	pollfd reader{STDOUT_FILENO, 0, 0};
	skube::Watch watch(command.list());
	for (;;) {
		codec::Json reply;
		const int status = fetch(command, socket, members, reply);
		if (status != k_fine)
			return status;
		look.now = static_cast<std::int64_t>(time(nullptr));
		look.style = skube::style_of_output(look.format == skube::Format::wide);
		if (fputs(watch.update(reply.get(), look).c_str(), stdout) < 0 ||
			fflush(stdout) != 0)
			return k_wrong;
		if (poll(&reader, 1, pause_ms) != 0)
			return k_fine; /* the reader has gone */
	}
}

int ask_agent(const Command &command, const Options &options)
{
	const auto look = look_of(command, options);
	if (!look)
		return usage_error(look.error().what);
	auto members = members_of(command, options);
	if (!members)
		return usage_error(members.error().what);
	const skube::SocketPath socket =
		skube::place_of_socket(options.socket, options.manifests.config);
	if (options.watch)
		return watch_list(command, socket, members->get(), *look);
	codec::Json reply;
	const int status = fetch(command, socket, members->get(), reply);
	if (status != k_fine)
		return status;
	return options.slurm_conf ? print_node_lines(options, reply.get())
				  : print_reply(command, reply.get(), *look);
}

int run(int argc, char **argv)
{
	Options options;
	const int early = skube::read_options(argc, argv, options);
	if (early >= 0)
		return early;
	const unsigned local = skube::local_command(options.words);
	const Command *command = command_of(options.words);
	if (!local && !command)
		return no_command(options.words);
	const std::string stray = skube::stray_option(options, command ? command->id : local);
	if (!stray.empty())
		return usage_error("'" + joined(options.words) + "' takes no option " + stray);
	/* manifests says more about its file */
	const Status named = skube::check_named_file(options.manifests.config);
	if (!named && local != skube::k_manifests)
		return usage_error(named.error().what);
	if (!command)
		return skube::run_local(options);
	return ask_agent(options.topology_conf ? topology_command() : *command, options);
}

} // namespace

int main(int argc, char **argv)
{
	const auto report = [](const char *what) { (void)fprintf(stderr, "skube: %s\n", what); };
	return guard(static_cast<int>(k_wrong), report, [&] { return run(argc, argv); });
}
