/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_text.cc - credentials and small text functions: base64, the expiry of tokens, escaping,
 * truncating, trimming.
 */
#include "src/agent/kube/client.h"
#include "src/agent/kube/files.h"
#include "src/agent/kube/token.h"
#include "src/codec/base64.h"
#include "src/codec/kube_writes.h"
#include "testsuite/fuzz/fuzz.h"

using namespace slurmkube;
using namespace slurmkube::fuzz;

namespace
{

std::string encode_base64(std::string_view bytes)
{
	constexpr char alphabet[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	std::string text;
	for (std::size_t i = 0; i < bytes.size(); i += 3) {
		std::uint32_t bits = 0;
		for (std::size_t j = i; j < i + 3; j++)
			bits = bits << 8 |
				(j < bytes.size() ? static_cast<unsigned char>(bytes[j]) : 0U);
		for (unsigned j = 0; j < 4; j++)
			text += j <= bytes.size() - i ? alphabet[bits >> (18 - 6 * j) & 63] : '=';
	}
	return text;
}

void check_base64(std::string_view text)
{
	const auto forth = codec::decode_base64(encode_base64(text));
	MUST(forth && *forth == text);
	const auto bytes = codec::decode_base64(text);
	MUST(says_why(bytes));
	if (!bytes)
		return;
	MUST(bytes->size() <= text.size() / 4 * 3);
	const auto again = codec::decode_base64(encode_base64(*bytes));
	MUST(again && *again == *bytes);
}

/* Tries the text both as the payload of a token and as a whole token. */
void check_token(std::string_view text)
{
	std::string payload = encode_base64(text);
	std::replace(payload.begin(), payload.end(), '+', '-');
	std::replace(payload.begin(), payload.end(), '/', '_');
	payload.erase(std::min(payload.find('='), payload.size()));
	for (const std::string &token : {std::string(text), "eyJhbGciOiJub25lIn0." + payload + ".",
		     "eyJhbGciOiJSUzI1NiJ9." + payload + ".c2ln"}) {
		const auto expiry = kube::token_expiry(token);
		MUST(!expiry || *expiry > 0);
		/* The token becomes a valid header line, or is refused. */
		kube::Token sent(token, {});
		const std::string header = sent.text(kube::Token::Clock::time_point());
		MUST(header.find_first_of("\r\n \t") == std::string::npos && is_printable(header));
	}
}

bool is_escaped(std::string_view text)
{
	return is_printable(text) && text.find_first_of(" &=?#/\\\"<>") == std::string_view::npos;
}

bool starts_a_character(char c)
{
	return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
	Input input(data, size);
	const std::size_t most = input.byte();
	const std::string_view text = input.rest();
	check_base64(text);
	check_token(text);
	const std::string escaped = kube::escape_query(text);
	MUST(is_escaped(escaped) && escaped.size() >= text.size() &&
		escaped.size() <= 3 * text.size());
	const std::string_view cut = codec::cut_utf8(text, most);
	MUST(cut.size() <= most && text.starts_with(cut));
	MUST(cut.size() == text.size() || cut.empty() || starts_a_character(text[cut.size()]));
	const std::string trimmed = kube::trimmed(text);
	MUST(trimmed.empty() || (trimmed.front() != ' ' && trimmed.back() != '\n'));
	return 0;
}
