/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/http/server.h"

#include "src/agent/http/address.h"
#include "src/base/guard.h"
#include "src/base/log.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <microhttpd.h>
#include <utility>

namespace slurmkube::http
{

namespace
{

constexpr std::size_t k_connection_memory = std::size_t{32} * 1024;
/* As GnuTLS writes it. RFC 8996 forbids the versions before 1.2. */
constexpr const char *k_tls_priorities = "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2";

void report_bug(const char *what)
{
	log_error("http: a request was given up: %s", what);
}

extern "C" {

MHD_Result request_arrived(void *server, MHD_Connection *connection, const char *url,
	const char *method, const char * /*version*/, const char * /*upload*/,
	std::size_t * /*upload_size*/, void ** /*state*/)
{
	return guard(MHD_NO, report_bug, [&] {
		return static_cast<Server *>(server)->take_request(connection, url, method)
			? MHD_YES
			: MHD_NO;
	});
}

void connection_changed(void *server, MHD_Connection *connection, void ** /*state*/,
	MHD_ConnectionNotificationCode what)
{
	(void)guard(false, report_bug, [&] {
		if (what == MHD_CONNECTION_NOTIFY_STARTED)
			static_cast<Server *>(server)->opened(connection);
		else
			static_cast<Server *>(server)->closed(connection);
		return true;
	});
}

/* What libmicrohttpd says is about single clients: of no interest to an administrator. */
__attribute__((format(printf, 2, 0))) void note(
	void * /*server*/, const char *format, va_list arguments)
{
	char text[256];
	(void)vsnprintf(text, sizeof(text), format, arguments);
	text[strcspn(text, "\r\n")] = '\0';
	log_debug("http: %s", text);
}
}

std::string header_of(MHD_Connection *connection, const char *name)
{
	const char *value = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
	return value ? value : "";
}

bool is_in_query(MHD_Connection *connection, const char *name)
{
	const char *value = nullptr;
	std::size_t size = 0;
	return MHD_lookup_connection_value_n(connection, MHD_GET_ARGUMENT_KIND, name, strlen(name),
		       &value, &size) == MHD_YES;
}

/* One request per connection: an idle connection would count against the limit. */
int send_answer(MHD_Connection *connection, const Answer &answer)
{
	const Owned<MHD_Response, MHD_destroy_response> response(MHD_create_response_from_buffer(
		answer.body.size(), const_cast<char *>(answer.body.data()), MHD_RESPMEM_MUST_COPY));
	if (!response)
		return 0;
	const std::pair<const char *, std::string> headers[] = {
		{MHD_HTTP_HEADER_CONNECTION, "close"},
		{MHD_HTTP_HEADER_CACHE_CONTROL, "no-store"},
		{"X-Content-Type-Options", "nosniff"},
		{MHD_HTTP_HEADER_CONTENT_TYPE, answer.content_type},
		{MHD_HTTP_HEADER_WWW_AUTHENTICATE, answer.challenge},
		{MHD_HTTP_HEADER_ALLOW,
			answer.status == MHD_HTTP_METHOD_NOT_ALLOWED ? "GET, HEAD" : ""},
	};
	for (const auto &[name, value] : headers) {
		if (!value.empty())
			(void)MHD_add_response_header(response.get(), name, value.c_str());
	}
	return MHD_queue_response(connection, answer.status, response.get()) == MHD_YES;
}

} // namespace

Server::Server(agent::Loop &loop, Handler handler) : loop_(loop), handler_(std::move(handler)) {}

Server::~Server()
{
	close();
}

Status Server::listen(const std::string &address, const KeyPair &pair)
{
	close();
	const bool has_tls = !pair.key.empty();
	if (has_tls && MHD_is_feature_supported(MHD_FEATURE_TLS) != MHD_YES)
		return Error{Errc::io, "libmicrohttpd of this machine was built without TLS"};
	auto listener = listen_tcp(address);
	if (!listener)
		return listener.error();
	MHD_OptionItem tls[] = {
		{MHD_OPTION_HTTPS_MEM_CERT, 0, const_cast<char *>(pair.certificates.c_str())},
		{MHD_OPTION_HTTPS_MEM_KEY, 0, const_cast<char *>(pair.key.c_str())},
		{MHD_OPTION_HTTPS_PRIORITIES, 0, const_cast<char *>(k_tls_priorities)},
		{MHD_OPTION_END, 0, nullptr},
	};
	const unsigned flags = MHD_USE_EPOLL | MHD_USE_ERROR_LOG;
	daemon_ = MHD_start_daemon(has_tls ? flags | MHD_USE_TLS : flags, 0, nullptr, nullptr,
		request_arrived, this, MHD_OPTION_EXTERNAL_LOGGER, note, this,
		MHD_OPTION_LISTEN_SOCKET, listener->get(), MHD_OPTION_CONNECTION_LIMIT,
		k_connections_max, MHD_OPTION_CONNECTION_MEMORY_LIMIT, k_connection_memory,
		MHD_OPTION_NOTIFY_CONNECTION, connection_changed, this, MHD_OPTION_ARRAY,
		has_tls ? tls : tls + 3, MHD_OPTION_END);
	if (!daemon_)
		return Error{Errc::io,
			"cannot serve at " + address +
				(has_tls ? ": libmicrohttpd refuses the certificate or its key"
					 : ": libmicrohttpd does not start; no file descriptors "
					   "left?")};
	(void)listener->release(); /* libmicrohttpd closes it with the daemon */
	epoll_ = MHD_get_daemon_info(daemon_, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
	loop_.set(epoll_, EPOLLIN, [this](std::uint32_t) { run(); });
	return Ok{};
}

void Server::close()
{
	loop_.cancel(std::exchange(timer_, 0));
	if (epoll_ >= 0)
		loop_.remove(std::exchange(epoll_, -1));
	if (daemon_)
		MHD_stop_daemon(std::exchange(daemon_, nullptr));
}

void Server::run()
{
	loop_.cancel(std::exchange(timer_, 0));
	has_closed_ = false;
	(void)MHD_run(daemon_);
	MHD_UNSIGNED_LONG_LONG wait_ms = 0;
	/* At its limit, libmicrohttpd stops watching the listening socket. It starts again only in
	 * the round after the one that frees a connection. */
	if (has_closed_ || MHD_get_timeout(daemon_, &wait_ms) == MHD_YES)
		timer_ = loop_.after(std::chrono::milliseconds(wait_ms), [this] {
			timer_ = 0;
			run();
		});
}

int Server::take_request(MHD_Connection *connection, const char *url, const char *method)
{
	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		return send_answer(connection,
			{.status = MHD_HTTP_METHOD_NOT_ALLOWED, .body = "only GET and HEAD\n"});
	return send_answer(connection,
		handler_({.path = url,
			.is_verbose = is_in_query(connection, "verbose"),
			.authorization = header_of(connection, MHD_HTTP_HEADER_AUTHORIZATION)}));
}

void Server::opened(MHD_Connection *connection)
{
	open_[connection] = loop_.after(k_connection_time, [this, connection] { end(connection); });
}

void Server::closed(MHD_Connection *connection)
{
	has_closed_ = true;
	const auto found = open_.find(connection);
	if (found == open_.end())
		return;
	loop_.cancel(found->second);
	open_.erase(found);
}

/* libmicrohttpd has only a limit for silence, which a client avoids by sending a byte now and then.
 * It sees the end of the connection in its next round. */
void Server::end(MHD_Connection *connection)
{
	const MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	if (info)
		(void)shutdown(info->connect_fd, SHUT_RDWR);
}

} // namespace slurmkube::http
