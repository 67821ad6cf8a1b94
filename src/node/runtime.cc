/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/node/runtime.h"

#include "src/base/owned.h"

#include <cerrno>
#include <cstring>

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

namespace slurmkube::node
{

namespace
{

/* The registry of NRI plugins sorts by the index; ours comes after those that change devices. */
constexpr const char *k_plugin_name = "slurm-kube", *k_plugin_index = "90";
constexpr std::uint32_t k_registration_stream = 1;

Error system_error(const std::string &what)
{
	return {Errc::io, what + ": " + std::strerror(errno)};
}

Result<UniqueFd> connect_to(const std::string &path)
{
	sockaddr_un address = {};
	address.sun_family = AF_UNIX;
	if (path.size() >= sizeof address.sun_path)
		return Error{Errc::invalid, path + " is too long for a socket"};
	path.copy(address.sun_path, path.size());
	UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
	if (!fd || ::connect(fd.get(), reinterpret_cast<sockaddr *>(&address), sizeof address) != 0)
		return system_error(path);
	return fd;
}

Result<Ok> send_all(int fd, std::string_view bytes)
{
	while (!bytes.empty()) {
		const ssize_t sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0)
			return system_error("the runtime's socket");
		bytes.remove_prefix(static_cast<std::size_t>(sent));
	}
	return Ok{};
}

/* false: stop_fd is readable. */
Result<bool> receive(int fd, int stop_fd, RpcReader &reader)
{
	pollfd both[] = {{fd, POLLIN, 0}, {stop_fd, POLLIN, 0}};
	if (::poll(both, 2, -1) < 0)
		return errno == EINTR ? Result<bool>(true) : system_error("poll");
	if (both[1].revents != 0)
		return false;
	char buffer[65536];
	const ssize_t size = ::recv(fd, buffer, sizeof buffer, 0);
	if (size < 0 && errno == EINTR)
		return true;
	if (size < 0)
		return system_error("the runtime's socket");
	if (size == 0)
		return Error{Errc::io, "the runtime has closed the connection"};
	reader.add({buffer, static_cast<std::size_t>(size)});
	return true;
}

/* The only response that we wait for is that to the registration. */
Result<Ok> handle(
	int fd, const RpcMessage &message, Plugin &plugin, const std::function<void()> &connected)
{
	if (message.type == RpcType::response) {
		const Result<std::string> accepted = parse_rpc_response(message.body);
		if (!accepted)
			return accepted.error();
		return Ok{};
	}
	const Result<RpcRequest> request = parse_rpc_request(message.body);
	if (!request)
		return request.error();
	const bool had_inventory = plugin.has_inventory();
	const std::string answer = plugin.answer(*request);
	if (!had_inventory && plugin.has_inventory())
		connected();
	return send_all(
		fd, rpc_frames({message.connection, message.stream, RpcType::response, answer}));
}

/* NRI's message with all containers has a limit of 4 MiB, and cannot be split below 8 objects
 * (nri pkg/adaptation, recalcObjsPerSyncMsg). */
Error lost(const Error &error, const Plugin &plugin)
{
	if (plugin.has_inventory())
		return error;
	return {error.code,
		error.what +
			" before it had said which containers run, so none can start: delete pods "
			"whose containers have megabytes of environment (slurmkube-node(8))"};
}

Result<Ok> send_registration(int fd)
{
	const std::string body = rpc_request({k_nri_runtime_service, "RegisterPlugin",
		registration(k_plugin_name, k_plugin_index)});
	return send_all(fd,
		rpc_frames({k_runtime_connection, k_registration_stream, RpcType::request, body}));
}

} // namespace

Result<Ok> serve_runtime(const std::string &socket, Plugin &plugin, int stop_fd,
	const std::function<void()> &connected)
{
	plugin.begin();
	const Result<UniqueFd> fd = connect_to(socket);
	if (!fd)
		return fd.error();
	if (Result<Ok> sent = send_registration(fd->get()); !sent)
		return sent;
	RpcReader reader;
	for (;;) {
		const Result<bool> goes_on = receive(fd->get(), stop_fd, reader);
		if (!goes_on)
			return lost(goes_on.error(), plugin);
		if (!*goes_on)
			return Ok{};
		for (RpcMessage message;;) {
			const Result<bool> complete = reader.next(message);
			if (!complete)
				return complete.error();
			if (!*complete)
				break;
			if (Result<Ok> done = handle(fd->get(), message, plugin, connected); !done)
				return done;
		}
	}
}

} // namespace slurmkube::node
