/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * transfer.h - one HTTP exchange: a libcurl handle with all its options, and the received data.
 *
 * libcurl's callbacks only collect bytes here, so that no other code is called from inside libcurl.
 * The handle must be removed from its multi before the transfer is destroyed.
 */
#ifndef SLURMKUBE_AGENT_KUBE_TRANSFER_H
#define SLURMKUBE_AGENT_KUBE_TRANSFER_H

#include "src/agent/kube/access.h"
#include "src/agent/kube/client.h"
#include "src/base/owned.h"
#include "src/base/result.h"

#include <curl/curl.h>

#include <memory>
#include <optional>
#include <string>

namespace slurmkube::kube
{

class Transfer
{
      public:
	struct Settings {
		const Access &access;
		const ClientOptions &options;
		const std::string &token; /* empty: no token */
		bool fresh_connection = false;
	};
	/* A deadline of 0 means no limit. Copies the request's body. internal: libcurl refused an
	 * option. */
	static Result<std::unique_ptr<Transfer>> make(
		const Settings &settings, const Request &request);

	[[nodiscard]] CURL *easy() const { return easy_.get(); }
	/* HTTP status; 0 before the headers have arrived. */
	[[nodiscard]] long status() const;
	/* The bytes since the last call. */
	std::string take_body();
	[[nodiscard]] bool has_body() const { return !body_.empty(); }
	/* When the last byte of the answer arrived; the epoch: none has. */
	[[nodiscard]] agent::Clock::time_point last_byte() const { return last_byte_; }
	/* The header Retry-After, if it is a number. */
	[[nodiscard]] std::optional<std::chrono::seconds> retry_after() const
	{
		return retry_after_;
	}
	/* The Error for an exchange that ended without an answer. */
	[[nodiscard]] Error failure(CURLcode code) const;
	/* Whether the request has been sent, so that the server may have acted on it. */
	[[nodiscard]] bool was_sent() const;

      private:
	explicit Transfer(std::size_t body_limit);
	Status set_up(const Settings &settings, const Request &request);
	CURLcode set_target(const Access &access, const std::string &path);
	CURLcode set_method(const Request &request);
	CURLcode set_trust(const Access &access);
	CURLcode set_limits(const Settings &settings, const Request &request);
	CURLcode set_callbacks();
	CURLcode set_headers(const Settings &settings, const Request &request);
	bool add_header(const std::string &line);
	static std::size_t on_body(
		char *bytes, std::size_t one, std::size_t count, void *self) noexcept;
	static std::size_t on_header(
		char *bytes, std::size_t one, std::size_t count, void *self) noexcept;
	static int on_socket(void *, curl_socket_t fd, curlsocktype) noexcept;

	using List = Owned<curl_slist, curl_slist_free_all>;
	List headers_, connect_to_;
	std::string request_body_, body_;
	std::size_t body_limit_;
	bool overflow_ = false;
	agent::Clock::time_point last_byte_{};
	std::optional<std::chrono::seconds> retry_after_;
	char error_[CURL_ERROR_SIZE] = "";
	/* Last member: destroyed before the data that it points to. */
	Owned<CURL, curl_easy_cleanup> easy_;
};

} // namespace slurmkube::kube

#endif
