/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_link.cc - lines between plugin and agent, in both directions: a decoded message encodes to a
 * line that decodes to the same message.
 */
#include "src/codec/link.h"
#include "src/plugins/job_submit/kube/feed.h"
#include "testsuite/fuzz/fuzz.h"

using namespace slurmkube;
using namespace slurmkube::fuzz;

namespace
{

void check_message(std::string_view line)
{
	const auto decoded = codec::decode_link(line);
	MUST(says_why(decoded));
	if (!decoded)
		return;
	const std::string encoded = codec::encode_link(decoded->seq, decoded->message);
	MUST(encoded.find('\n') == std::string::npos);
	const auto again = codec::decode_link(encoded);
	MUST(again && *again == *decoded);
	MUST(codec::encode_link(again->seq, again->message) == encoded);
	/* the limit of the queue uses line_size(), which must be close to the real length */
	MUST(plugin::line_size(decoded->message) <= 64 * 1024 + 8 * encoded.size());
}

void check_welcome(std::string_view line)
{
	const auto welcome = codec::decode_welcome(line);
	MUST(says_why(welcome));
	if (!welcome)
		return;
	const auto again = codec::decode_welcome(codec::encode_welcome(*welcome));
	MUST(again && *again == *welcome);
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
	const std::string_view line = Input(data, size).rest();
	check_message(line);
	check_welcome(line);
	return 0;
}
