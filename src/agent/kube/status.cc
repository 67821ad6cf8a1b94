/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * status.cc - what an HTTP answer means for the agent. No other file knows.
 */
#include "src/agent/kube/client.h"
#include "src/codec/wire.h"

#include <string_view>

namespace slurmkube::kube
{

namespace
{

constexpr std::size_t k_longest_message = 2000; /* longest error text for people */

/* the whole answer of a server that does not have the API group */
constexpr char k_no_such_path[] = "404 page not found";
constexpr std::string_view k_groups = "/apis/";

struct Said {
	std::string message;
	bool is_not_found = false; /* said by a Status of the API server, not by a proxy */
};

Said said_in(const std::string &body)
{
	const auto object = codec::object_from_wire(body, std::size_t{1} << 20);
	if (!object)
		return {};
	json_object *status = object.value().get();
	return {codec::get_string(status, "message").substr(0, k_longest_message),
		codec::get_string(status, "kind") == "Status" &&
			codec::get_string(status, "reason") == "NotFound"};
}

/* The agent treats objects as deleted after a 404, so the API server must have said it, not a
 * proxy. */
bool is_believed(const Response &response, std::string_view path, const Said &said)
{
	return said.is_not_found ||
		(path.starts_with(k_groups) && response.body.starts_with(k_no_such_path));
}

bool is_unreserved(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		std::string_view("-._~").find(c) != std::string_view::npos;
}

} // namespace

Errc errc_of_status(long status)
{
	switch (status) {
	case 401:
	case 403:
		return Errc::denied;
	case 404:
		return Errc::not_found;
	case 409:
	case 410:
	case 412:
		return Errc::conflict;
	case 413:
		return Errc::too_large;
	case 408:
	case 429:
	case 503:
		return Errc::again;
	default:
		break;
	}
	if (status >= 500)
		return Errc::io;
	/* A redirect means that the server is not an API server. */
	return status >= 300 ? Errc::invalid : Errc::internal;
}

Error error_of(const Response &response, std::string_view path)
{
	const Said said = said_in(response.body);
	std::string what = said.message;
	if (what.empty())
		what = "HTTP status " + std::to_string(response.status);
	if (response.status == 404 && !is_believed(response, path, said))
		return Error{Errc::io,
			what + ", and not from a Kubernetes API server: what stands in between?"};
	return Error{errc_of_status(response.status),
		what + (response.note.empty() ? "" : ": " + response.note)};
}

std::string escape_query(std::string_view text)
{
	constexpr char digits[] = "0123456789ABCDEF";
	std::string escaped;
	for (const char c : text) {
		if (is_unreserved(c)) {
			escaped += c;
			continue;
		}
		const auto byte = static_cast<unsigned char>(c);
		escaped += '%';
		escaped += digits[byte >> 4];
		escaped += digits[byte & 0xf];
	}
	return escaped;
}

} // namespace slurmkube::kube
