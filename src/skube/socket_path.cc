/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/skube/socket_path.h"

#include "src/core/model/names.h"
#include "src/skube/config_value.h"

#include <cstdlib>

namespace slurmkube::skube
{

namespace
{

constexpr char k_key[] = "control_socket";

} // namespace

SocketPath socket_path(
	const std::string &option, const char *environment, const std::string &config_file)
{
	if (!option.empty())
		return {option, "--socket"};
	if (environment && *environment)
		return {environment, "SKUBE_SOCKET"};
	const auto value = config_value(config_file, k_key);
	if (value && !value->empty())
		return {*value, std::string(k_key) + " in " + config_file};
	if (value || value.error().code == Errc::not_found)
		return {names::k_control_socket, "the default"};
	return {names::k_control_socket, "the default, because " + value.error().what};
}

SocketPath place_of_socket(const std::string &option, const std::string &config)
{
	// NOLINTNEXTLINE(concurrency-mt-unsafe): one thread
	const auto [file, is_named] = config_file(config);
	const char *environment = is_named ? nullptr : getenv("SKUBE_SOCKET");
	return socket_path(option, environment, file);
}

} // namespace slurmkube::skube
