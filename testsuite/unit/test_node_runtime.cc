/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/base/owned.h"
#include "src/node/message.h"
#include "src/node/runtime.h"
#include "testsuite/unit/check.h"

#include <cstdlib>
#include <filesystem>
#include <thread>

#include <sys/socket.h>
#include <sys/un.h>

using namespace slurmkube;
using namespace slurmkube::node;
namespace fs = std::filesystem;

namespace
{

/* A runtime that accepts one plugin, says perhaps that no container runs, and ends. Real ones do so
 * when their inventory is too large. */
class EndingRuntime
{
      public:
	explicit EndingRuntime(bool says_inventory)
	{
		char name[] = "/tmp/node-test.XXXXXX";
		directory_ = ::mkdtemp(name);
		sockaddr_un address = {};
		address.sun_family = AF_UNIX;
		socket().copy(address.sun_path, sizeof address.sun_path - 1);
		listener_ = UniqueFd(::socket(AF_UNIX, SOCK_STREAM, 0));
		CHECK(::bind(listener_.get(), reinterpret_cast<sockaddr *>(&address),
			      sizeof address) == 0);
		CHECK(::listen(listener_.get(), 1) == 0);
		thread_ = std::thread([this, says_inventory] { serve(says_inventory); });
	}
	~EndingRuntime()
	{
		thread_.join();
		fs::remove_all(directory_);
	}
	EndingRuntime(const EndingRuntime &) = delete;
	EndingRuntime &operator=(const EndingRuntime &) = delete;

	[[nodiscard]] std::string socket() const { return (directory_ / "nri.sock").string(); }
	[[nodiscard]] fs::path state() const { return directory_ / "state"; }

      private:
	static RpcMessage read_from(int fd)
	{
		RpcReader reader;
		RpcMessage message;
		char buffer[4096];
		for (ssize_t size; (size = ::recv(fd, buffer, sizeof buffer, 0)) > 0;) {
			reader.add({buffer, static_cast<std::size_t>(size)});
			const Result<bool> complete = reader.next(message);
			if (!complete || *complete)
				break;
		}
		return message;
	}
	static void write_to(int fd, const RpcMessage &message)
	{
		const std::string bytes = rpc_frames(message);
		(void)::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
	}
	void serve(bool says_inventory) const
	{
		const UniqueFd fd(::accept(listener_.get(), nullptr, nullptr));
		const RpcMessage registration = read_from(fd.get());
		write_to(fd.get(),
			{registration.connection, registration.stream, RpcType::response,
				rpc_response("")});
		if (!says_inventory)
			return;
		write_to(fd.get(),
			{k_plugin_connection, 1, RpcType::request,
				rpc_request({"", "Synchronize", ""})});
		(void)read_from(fd.get());
	}

	fs::path directory_;
	UniqueFd listener_;
	std::thread thread_;
};

struct Served {
	std::string error;
	int connected = 0;
};

Served serve(bool says_inventory)
{
	const EndingRuntime runtime(says_inventory);
	const Records records = *Records::open(runtime.state());
	const Cgroups cgroups(runtime.state(), "n1");
	const NativePods native(runtime.state(), cgroups, false);
	Plugin plugin(records, cgroups, native, "0");
	Served served;
	int pipe[2] = {-1, -1};
	CHECK(::socketpair(AF_UNIX, SOCK_STREAM, 0, pipe) == 0);
	const UniqueFd stop(pipe[0]), other(pipe[1]);
	const Result<Ok> ended =
		serve_runtime(runtime.socket(), plugin, stop.get(), [&] { served.connected++; });
	CHECK(!ended.ok());
	served.error = ended.ok() ? "" : ended.error().what;
	return served;
}

void a_runtime_that_cannot_say_what_runs()
{
	const Served served = serve(false);
	CHECK(served.error.starts_with(
		"the runtime has closed the connection before it had said which containers run"));
	CHECK_EQUAL(served.connected, 0);
}

void a_runtime_that_ends()
{
	const Served served = serve(true);
	CHECK_EQUAL(served.error, std::string("the runtime has closed the connection"));
	CHECK_EQUAL(served.connected, 1);
}

} // namespace

int main()
{
	return check::run_tests("node_runtime",
		{TEST(a_runtime_that_cannot_say_what_runs), TEST(a_runtime_that_ends)});
}
