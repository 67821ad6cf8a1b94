/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/kube/transfer.h"

#include "src/agent/kube/curl_versions.h"
#include "src/base/guard.h"
#include "src/base/log.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <fcntl.h>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace slurmkube::kube
{

namespace
{

/* A peer that has disappeared is noticed after about this time, on idle connections too. */
constexpr long k_keepalive_idle_s = 15, k_keepalive_interval_s = 5;
constexpr unsigned k_unanswered_ms = 20'000;

void report_http_bug(const char *what)
{
	log_error("internal error in an HTTP callback: %s", what);
}

/* The code of the first option that libcurl refused. */
template <class... Options> CURLcode all_of(Options... options)
{
	CURLcode code = CURLE_OK;
	(void)((code = options, code == CURLE_OK) && ...);
	return code;
}

template <class T> CURLcode set(CURL *easy, CURLoption option, T value)
{
	return curl_easy_setopt(easy, option, value);
}

CURLcode set_if(CURL *easy, CURLoption option, const std::string &value)
{
	return value.empty() ? CURLE_OK : curl_easy_setopt(easy, option, value.c_str());
}

const char *verb(Method method)
{
	switch (method) {
	case Method::get:
		return "GET";
	case Method::post:
		return "POST";
	case Method::patch:
		return "PATCH";
	case Method::put:
		return "PUT";
	case Method::remove:
		return "DELETE";
	}
	return "GET";
}

/* libcurl trusts the system's directory of authorities in addition to the file, unless the
 * directory is unset. */
CURLcode trust_file_only(CURL *easy, const std::string &file)
{
	return file.empty()
		? CURLE_OK
		: all_of(set(easy, CURLOPT_CAINFO, file.c_str()),
			  set(easy, CURLOPT_CAPATH, static_cast<const char *>(nullptr)));
}

CURLcode only_https(CURL *easy)
{
#if KUBE_CURL_HAS_PROTOCOL_NAMES
	return curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "https");
#else
	return curl_easy_setopt(easy, CURLOPT_PROTOCOLS, static_cast<long>(CURLPROTO_HTTPS));
#endif
}

/* The agent makes few connections, and each reads the file, so that a replaced file takes
 * effect. */
CURLcode read_authorities_each_time(CURL *easy)
{
#if KUBE_CURL_KEEPS_AUTHORITIES
	return curl_easy_setopt(easy, CURLOPT_CA_CACHE_TIMEOUT, 0L);
#else
	(void)easy;
	return CURLE_OK;
#endif
}

} // namespace

Transfer::Transfer(std::size_t body_limit) : body_limit_(body_limit), easy_(curl_easy_init()) {}

Result<std::unique_ptr<Transfer>> Transfer::make(const Settings &settings, const Request &request)
{
	std::unique_ptr<Transfer> transfer(new Transfer(request.body_limit));
	if (!transfer->easy_)
		return Error{Errc::internal, "out of memory"};
	if (auto done = transfer->set_up(settings, request); !done)
		return done.error();
	return transfer;
}

Status Transfer::set_up(const Settings &settings, const Request &request)
{
	const CURLcode code = all_of(set_target(settings.access, request.path), set_method(request),
		set_trust(settings.access), set_limits(settings, request), set_callbacks(),
		set_headers(settings, request));
	if (code != CURLE_OK)
		return Error{Errc::internal,
			std::string("libcurl refused an option: ") + curl_easy_strerror(code)};
	return Ok{};
}

/* If the certificate has another name than the address, the URL contains the name, and CONNECT_TO
 * the address. */
CURLcode Transfer::set_target(const Access &access, const std::string &path)
{
	constexpr std::size_t scheme = sizeof("https://") - 1;
	const std::size_t slash = std::min(access.server.find('/', scheme), access.server.size());
	const std::string authority = access.server.substr(scheme, slash - scheme),
			  base = access.server.substr(slash);
	if (access.tls_server_name.empty())
		return curl_easy_setopt(easy(), CURLOPT_URL, (access.server + path).c_str());
	const bool has_port = authority.rfind(':') != std::string::npos && authority.back() != ']';
	connect_to_.reset(
		curl_slist_append(nullptr, ("::" + authority + (has_port ? "" : ":443")).c_str()));
	return all_of(curl_easy_setopt(easy(), CURLOPT_URL,
			      ("https://" + access.tls_server_name + base + path).c_str()),
		curl_easy_setopt(easy(), CURLOPT_CONNECT_TO, connect_to_.get()));
}

CURLcode Transfer::set_method(const Request &request)
{
	if (request.method == Method::get)
		return curl_easy_setopt(easy(), CURLOPT_HTTPGET, 1L);
	request_body_ = request.body;
	return all_of(curl_easy_setopt(easy(), CURLOPT_CUSTOMREQUEST, verb(request.method)),
		curl_easy_setopt(easy(), CURLOPT_POSTFIELDSIZE_LARGE,
			static_cast<curl_off_t>(request_body_.size())),
		curl_easy_setopt(easy(), CURLOPT_POSTFIELDS, request_body_.c_str()));
}

CURLcode Transfer::set_trust(const Access &access)
{
	return all_of(only_https(easy()), read_authorities_each_time(easy()),
		set(easy(), CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2)),
		set(easy(), CURLOPT_SSL_VERIFYPEER, access.verify ? 1L : 0L),
		set(easy(), CURLOPT_SSL_VERIFYHOST, access.verify ? 2L : 0L),
		trust_file_only(easy(), access.ca_file),
		set_if(easy(), CURLOPT_SSLCERT, access.certificate_file),
		set_if(easy(), CURLOPT_SSLKEY, access.key_file),
		set_if(easy(), CURLOPT_PROXY, access.proxy),
		set(easy(), CURLOPT_FOLLOWLOCATION, 0L),
		set(easy(), CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED)));
}

CURLcode Transfer::set_limits(const Settings &settings, const Request &request)
{
	return all_of(set(easy(), CURLOPT_NOSIGNAL, 1L),
		set(easy(), CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_2TLS)),
		set(easy(), CURLOPT_PIPEWAIT, 1L), set(easy(), CURLOPT_TCP_NODELAY, 1L),
		set(easy(), CURLOPT_TCP_KEEPALIVE, 1L),
		set(easy(), CURLOPT_TCP_KEEPIDLE, k_keepalive_idle_s),
		set(easy(), CURLOPT_TCP_KEEPINTVL, k_keepalive_interval_s),
		set(easy(), CURLOPT_FRESH_CONNECT, settings.fresh_connection ? 1L : 0L),
		set(easy(), CURLOPT_CONNECTTIMEOUT_MS,
			static_cast<long>(settings.options.connect_timeout.count())),
		set(easy(), CURLOPT_TIMEOUT_MS, static_cast<long>(request.deadline.count())),
		set_if(easy(), CURLOPT_USERAGENT, settings.options.user_agent));
}

CURLcode Transfer::set_callbacks()
{
	void *self = this;
	return all_of(set(easy(), CURLOPT_WRITEFUNCTION, &Transfer::on_body),
		set(easy(), CURLOPT_WRITEDATA, self),
		set(easy(), CURLOPT_HEADERFUNCTION, &Transfer::on_header),
		set(easy(), CURLOPT_HEADERDATA, self),
		set(easy(), CURLOPT_SOCKOPTFUNCTION, &Transfer::on_socket),
		set(easy(), CURLOPT_ERRORBUFFER, &error_[0]));
}

bool Transfer::add_header(const std::string &line)
{
	curl_slist *longer = curl_slist_append(headers_.get(), line.c_str());
	if (longer == nullptr)
		return false;
	(void)headers_.release(); /* it is part of longer, or longer itself */
	headers_.reset(longer);
	return true;
}

CURLcode Transfer::set_headers(const Settings &settings, const Request &request)
{
	/* The empty "Expect:" prevents libcurl from waiting for 100 Continue before it sends a
	 * body. */
	bool ok = add_header("Accept: " + request.accept) && add_header("Expect:");
	if (request.method != Method::get)
		ok = ok && add_header("Content-Type: " + request.content_type);
	if (!settings.token.empty())
		ok = ok && add_header("Authorization: Bearer " + settings.token);
	return ok ? curl_easy_setopt(easy(), CURLOPT_HTTPHEADER, headers_.get())
		  : CURLE_OUT_OF_MEMORY;
}

std::size_t Transfer::on_body(char *bytes, std::size_t one, std::size_t count, void *self) noexcept
{
	return guard(std::size_t{0}, report_http_bug, [&] {
		auto *transfer = static_cast<Transfer *>(self);
		transfer->last_byte_ = agent::Clock::now();
		const std::size_t size = one * count;
		transfer->overflow_ = transfer->body_.size() + size > transfer->body_limit_;
		if (transfer->overflow_)
			return std::size_t{0};
		transfer->body_.append(bytes, size);
		return size;
	});
}

std::size_t Transfer::on_header(
	char *bytes, std::size_t one, std::size_t count, void *self) noexcept
{
	return guard(std::size_t{0}, report_http_bug, [&] {
		const std::string_view line(bytes, one * count);
		static_cast<Transfer *>(self)->last_byte_ = agent::Clock::now();
		constexpr std::string_view key = "retry-after:";
		const bool is_ours = line.size() > key.size() &&
			std::equal(key.begin(), key.end(), line.begin(), [](char a, char b) {
				return a ==
					static_cast<char>(
						std::tolower(static_cast<unsigned char>(b)));
			});
		if (!is_ours)
			return line.size();
		const std::size_t digits =
			std::min(line.find_first_not_of(' ', key.size()), line.size());
		unsigned seconds = 0;
		if (std::from_chars(line.data() + digits, line.data() + line.size(), seconds).ec ==
			std::errc())
			static_cast<Transfer *>(self)->retry_after_ = std::chrono::seconds(seconds);
		return line.size();
	});
}

int Transfer::on_socket(void *, curl_socket_t fd, curlsocktype) noexcept
{
	/* libcurl does not; programs that the agent runs must not keep the connection. */
	(void)fcntl(fd, F_SETFD, FD_CLOEXEC);
	/* Without this the kernel would retry for a quarter of an hour. Best effort: sockets of
	 * other families refuse the option. */
	(void)setsockopt(
		fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &k_unanswered_ms, sizeof(k_unanswered_ms));
	return CURL_SOCKOPT_OK;
}

long Transfer::status() const
{
	long status = 0;
	(void)curl_easy_getinfo(easy(), CURLINFO_RESPONSE_CODE, &status);
	return status;
}

std::string Transfer::take_body()
{
	std::string taken;
	taken.swap(body_);
	return taken;
}

bool Transfer::was_sent() const
{
	curl_off_t microseconds = 0;
	(void)curl_easy_getinfo(easy(), CURLINFO_PRETRANSFER_TIME_T, &microseconds);
	return microseconds > 0;
}

Error Transfer::failure(CURLcode code) const
{
	if (overflow_)
		return Error{Errc::too_large,
			"the answer is longer than " + std::to_string(body_limit_) + " bytes"};
	const std::string what = error_[0] != '\0' ? error_ : curl_easy_strerror(code);
	switch (code) {
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CERTPROBLEM:
	case CURLE_SSL_CACERT_BADFILE:
	case CURLE_SSL_ISSUER_ERROR:
		return Error{Errc::denied, what};
	default:
		return Error{was_sent() ? Errc::io : Errc::again, what};
	}
}

} // namespace slurmkube::kube
