/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * socket_path.h - where the agent's control socket is: --socket, else control_socket in the file of
 * --config or SKUBE_CONFIG, else SKUBE_SOCKET, else control_socket in slurmkubed.yaml, else the
 * default.
 */
#ifndef SLURMKUBE_SKUBE_SOCKET_PATH_H
#define SLURMKUBE_SKUBE_SOCKET_PATH_H

#include <string>

namespace slurmkube::skube
{

struct SocketPath {
	std::string path;
	std::string source; /* for messages: "SKUBE_SOCKET", "the default, because ..." */
};

/*
 * An empty option or variable counts as absent; environment may be nullptr. The file is read only
 * if it has to be. A file that does not exist, cannot be read or is broken is no error, because the
 * agent that runs may have read an older one, and users need not be able to read it; `source` then
 * says what was wrong.
 */
SocketPath socket_path(
	const std::string &option, const char *environment, const std::string &config_file);

/* The same with the variables of this process. config: the file of --config; empty: none. */
SocketPath place_of_socket(const std::string &option, const std::string &config);

} // namespace slurmkube::skube

#endif
