/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * curl_versions.h - differences and faults of libcurl's versions, one name for each fact.
 *
 * No other file may ask for libcurl's version (testsuite/lint/versions.py). Macros are about the
 * headers at compile time, functions about the library at run time. Where no test of ours is named,
 * the bounds come from curl's history.
 *
 * What does not depend on the version is elsewhere: files in memory (libcurl takes blobs since
 * 7.77), and our own deadline for requests (requests.cc; 8.14 ignores the deadline of a transfer
 * that waits for another transfer's connection).
 */
#ifndef SLURMKUBE_AGENT_KUBE_CURL_VERSIONS_H
#define SLURMKUBE_AGENT_KUBE_CURL_VERSIONS_H

#include <curl/curl.h>

/* The form of LIBCURL_VERSION_NUM. */
#define KUBE_CURL_NUMBER(major, minor) (((major) << 16) + ((minor) << 8))

/* CURLOPT_PROTOCOLS_STR replaces CURLOPT_PROTOCOLS. */
#define KUBE_CURL_HAS_PROTOCOL_NAMES (LIBCURL_VERSION_NUM >= KUBE_CURL_NUMBER(7, 85))
/* libcurl caches the authorities of a file for a day. */
#define KUBE_CURL_KEEPS_AUTHORITIES (LIBCURL_VERSION_NUM >= KUBE_CURL_NUMBER(7, 87))

namespace slurmkube::kube
{

inline unsigned curl_running()
{
	static const unsigned number = curl_version_info(CURLVERSION_NOW)->version_num;
	return number;
}

/*
 * Transfers of HTTP/2 share a connection. Before 8.1, data that one transfer has read for another
 * can stay unprocessed until the socket is readable again (lib/http2.c: after a pause the transfer
 * is not expired, and http2_data_pending() has an inverted comparison). If that data was the end of
 * an answer, the server sends nothing more, and the transfer hangs. 8.1 has other buffers.
 */
inline bool curl_leaves_data_aside()
{
	return curl_running() < KUBE_CURL_NUMBER(8, 1);
}

/*
 * Before 8.1, libcurl pauses nghttp2 while a transfer's buffer is full. If that happens in the
 * frame that ends an answer, libcurl notices the end only after more data has arrived on the
 * connection (nghttp2_session_mem_recv() must be called once more without data, and is not). 8.1
 * does not pause nghttp2.
 */
inline bool curl_hides_ends()
{
	return curl_running() < KUBE_CURL_NUMBER(8, 1);
}

/*
 * Transfers wait until it is known whether they can share another transfer's connection. If the
 * connection turns out to be HTTP/1.1, libcurl does not wake them (multi.c does so for HTTP/2
 * only), and they wait until some transfer ends; but streams do not end. Since 8.10, which removed
 * Curl_multiuse_state(), a function that woke them in both cases. Seen with 8.14; later versions
 * are assumed to be the same.
 */
inline bool curl_lets_transfers_sleep()
{
	return curl_running() >= KUBE_CURL_NUMBER(8, 10);
}

} // namespace slurmkube::kube

#endif
