/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where skube looks for the agent's socket. */
#include "src/core/model/names.h"
#include "src/skube/config_value.h"
#include "src/skube/socket_path.h"
#include "testsuite/unit/check.h"

#include <cstdio>
#include <cstdlib>
#include <unistd.h>

using namespace slurmkube;
using skube::check_named_file;
using skube::config_file;
using skube::config_value;
using skube::place_of_socket;
using skube::socket_path;

namespace
{

/* A file with this text, removed at the end. */
class File
{
      public:
	explicit File(const std::string &text)
	{
		const int fd = mkstemp(path_.data());
		CHECK(fd >= 0 &&
			write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
		(void)close(fd);
	}
	~File() { (void)unlink(path_.c_str()); }
	File(const File &) = delete;
	File &operator=(const File &) = delete;
	[[nodiscard]] const std::string &path() const { return path_; }

      private:
	std::string path_ = "/tmp/slurm-kube-socket-path.XXXXXX";
};

void the_option_beats_the_environment_and_that_the_file()
{
	const File file("control_socket: /c\n");
	CHECK_EQUAL(socket_path("/o", "/e", file.path()).path, "/o");
	CHECK_EQUAL(socket_path("/o", "/e", file.path()).source, "--socket");
	CHECK_EQUAL(socket_path("", "/e", file.path()).path, "/e");
	CHECK_EQUAL(socket_path("", "/e", file.path()).source, "SKUBE_SOCKET");
	for (const char *absent : {static_cast<const char *>(nullptr), ""}) {
		CHECK_EQUAL(socket_path("", absent, file.path()).path, "/c");
		CHECK_EQUAL(socket_path("", absent, file.path()).source,
			"control_socket in " + file.path());
	}
}

void the_file_is_read_as_yaml()
{
	struct {
		const char *text, *path;
	} const rows[] = {
		{"cluster: a\ncontrol_socket: '/run/my socket' # ours\n", "/run/my socket"},
		{"{\"cluster\": \"a\", \"control_socket\": \"/run/x\"}", "/run/x"},
		{"a:\n  control_socket: /deep\ncontrol_socket: /top\n", "/top"},
		{"a:\n  control_socket: /deep\n", names::k_control_socket},
		{"#control_socket: /c\n", names::k_control_socket},
		{"control_socket: [1]\n", names::k_control_socket},
		{"- control_socket\n", names::k_control_socket},
		{"", names::k_control_socket},
	};
	for (const auto &row : rows) {
		const File file(row.text);
		CHECK_EQUAL(socket_path("", nullptr, file.path()).path, row.path);
	}
}

/* With several agents on a host, each has a file. */
void the_file_that_is_named_beats_the_environment()
{
	const File file("control_socket: /alpha\nnodes:\n  name_prefix: alpha-\n");
	(void)setenv("SKUBE_SOCKET", "/e", 1);
	CHECK_EQUAL(place_of_socket("", file.path()).path, "/alpha");
	CHECK_EQUAL(place_of_socket("/o", file.path()).path, "/o");
	CHECK_EQUAL(place_of_socket("", "").path, "/e");
	(void)setenv("SKUBE_CONFIG", file.path().c_str(), 1);
	CHECK_EQUAL(place_of_socket("", "").path, "/alpha");
	(void)unsetenv("SKUBE_SOCKET");
	CHECK(check_named_file("").ok());
	CHECK(check_named_file("/nonexistent/alpha.yaml").error().what.starts_with("--config: "));
	CHECK(config_file("").is_named);
	(void)unsetenv("SKUBE_CONFIG");
	CHECK(!config_file("").is_named);
	CHECK_EQUAL(config_value(file.path(), "nodes.name_prefix").value(), "alpha-");
	CHECK_EQUAL(config_value(file.path(), "nodes.absent").value(), "");
	CHECK_EQUAL(config_value(file.path(), "absent.name_prefix").value(), "");
	CHECK_EQUAL(config_value(file.path(), "control_socket.deep").value(), "");
	CHECK(!config_value(file.path(), "nodes"));
}

void a_file_that_cannot_be_used_is_named()
{
	const skube::SocketPath none = socket_path("", nullptr, "/nonexistent/slurmkubed.yaml");
	CHECK_EQUAL(none.path, names::k_control_socket);
	CHECK_EQUAL(none.source, "the default");
	const File broken("a: b\nc: [\n");
	const skube::SocketPath because = socket_path("", nullptr, broken.path());
	CHECK_EQUAL(because.path, names::k_control_socket);
	CHECK(because.source.starts_with("the default, because " + broken.path() + ":"));
	CHECK(socket_path("", nullptr, "/tmp").source.find("/tmp cannot be read") !=
		std::string::npos);
	const File large(std::string(std::size_t{2} << 20, '#'));
	CHECK(socket_path("", nullptr, large.path()).source.ends_with("longer than 1 MiB"));
}

} // namespace

int main()
{
	return check::run_tests("socket_path",
		{
			TEST(the_option_beats_the_environment_and_that_the_file),
			TEST(the_file_is_read_as_yaml),
			TEST(the_file_that_is_named_beats_the_environment),
			TEST(a_file_that_cannot_be_used_is_named),
		});
}
