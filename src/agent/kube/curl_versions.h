/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * curl_versions.h - what the versions of libcurl have and get wrong, one name for each fact.
 *
 * The only place that asks for libcurl's version; testsuite/lint/versions.py holds that. Macros are
 * about the headers that we are compiled with, functions about the library that runs. Bounds are
 * of curl's own history where no test of ours is named.
 *
 * What is the same for all versions is not here: files in memory (libcurl takes blobs from 7.77
 * on), and our own deadline of a request (requests.cc; 8.14 forgets that of a transfer that waits
 * for another one's connection).
 */
#ifndef SLURMKUBE_AGENT_KUBE_CURL_VERSIONS_H
#define SLURMKUBE_AGENT_KUBE_CURL_VERSIONS_H

#include <curl/curl.h>

/* The form of LIBCURL_VERSION_NUM. */
#define KUBE_CURL_NUMBER(major, minor) (((major) << 16) + ((minor) << 8))

/* CURLOPT_PROTOCOLS_STR, before CURLOPT_PROTOCOLS. */
#define KUBE_CURL_HAS_PROTOCOL_NAMES (LIBCURL_VERSION_NUM >= KUBE_CURL_NUMBER(7, 85))
/* The authorities of a file are kept for a day. */
#define KUBE_CURL_KEEPS_AUTHORITIES (LIBCURL_VERSION_NUM >= KUBE_CURL_NUMBER(7, 87))

namespace slurmkube::kube
{

inline unsigned curl_running()
{
	static const unsigned number = curl_version_info(CURLVERSION_NOW)->version_num;
	return number;
}

/*
 * Transfers share a connection of HTTP/2, and what one of them has read for another can be left
 * aside until the socket is readable again (lib/http2.c: after a pause nobody expires the transfer,
 * and http2_data_pending() compares the wrong way round). When that was the end of an answer, the
 * server has nothing more to send. Up to 8.0: 8.1 has other buffers.
 */
inline bool curl_leaves_data_aside()
{
	return curl_running() < KUBE_CURL_NUMBER(8, 1);
}

/*
 * nghttp2 is paused where a transfer's buffer is full. When that is in the frame that ends an
 * answer, libcurl sees the end only after more has come on the connection, whatever that is
 * (nghttp2_session_mem_recv() wants to be called once more, with nothing, and is not). Up to 8.0:
 * 8.1 does not pause nghttp2.
 */
inline bool curl_hides_ends()
{
	return curl_running() < KUBE_CURL_NUMBER(8, 1);
}

/*
 * Transfers that wait to see whether they can share another one's connection wait until some
 * transfer ends where that connection turns out to be of HTTP/1.1 (multi.c wakes them for HTTP/2
 * only), and streams do not end. Seen with 8.14; since 8.10, where Curl_multiuse_state(), which
 * woke them for both, went. Newer ones than 8.14 are taken to be alike.
 */
inline bool curl_lets_transfers_sleep()
{
	return curl_running() >= KUBE_CURL_NUMBER(8, 10);
}

} // namespace slurmkube::kube

#endif
