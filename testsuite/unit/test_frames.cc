/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/codec/frames.h"
#include "testsuite/unit/check.h"

#include <string>
#include <vector>

using slurmkube::codec::FrameReader;

namespace
{

std::vector<std::string> drain(FrameReader &reader)
{
	std::vector<std::string> lines;
	while (const auto line = reader.next())
		lines.emplace_back(*line);
	return lines;
}

void append(std::vector<std::string> &to, const std::vector<std::string> &more)
{
	to.insert(to.end(), more.begin(), more.end());
}

const std::string k_stream = "{\"a\":1}\n\r\n{\"b\":\"x\r\"}\r\n\n{\"c\":3}\n{\"half";
/* A protobuf watch, followed by a text line, which no server sends. */
const std::string k_counted("\0\0\0\3a\nb\0\0\0\0\0\0\0\1xline\n\0\0\1", 24);
const std::vector<std::string> k_frames = {"a\nb", "x", "line"};
const std::vector<std::string> k_lines = {"{\"a\":1}", "{\"b\":\"x\r\"}", "{\"c\":3}"};

void chunks_may_end_at_any_two_bytes()
{
	for (std::size_t first = 0; first <= k_stream.size(); first++) {
		for (std::size_t second = first; second <= k_stream.size(); second++) {
			FrameReader reader(100);
			std::vector<std::string> got;
			for (const std::string &chunk :
				{k_stream.substr(0, first), k_stream.substr(first, second - first),
					k_stream.substr(second)}) {
				reader.add(chunk);
				append(got, drain(reader));
			}
			CHECK(got == k_lines);
			CHECK_EQUAL(reader.pending(), 6U);
		}
	}
}

void single_bytes_do_as_well()
{
	FrameReader reader(100);
	std::vector<std::string> got;
	for (const char c : k_stream) {
		reader.add({&c, 1});
		append(got, drain(reader));
	}
	CHECK(got == k_lines);
}

void frames_with_a_length_may_end_anywhere_too()
{
	for (std::size_t first = 0; first <= k_counted.size(); first++) {
		FrameReader reader(100);
		std::vector<std::string> got;
		for (const std::string &chunk :
			{k_counted.substr(0, first), k_counted.substr(first)}) {
			reader.add(chunk);
			append(got, drain(reader));
		}
		CHECK(got == k_frames);
		CHECK_EQUAL(reader.pending(), 3U);
	}
}

void the_limit_counts_for_lengths()
{
	FrameReader fits(5), too_long(5);
	fits.add({"\0\0\0\5"
		  "12345",
		9});
	CHECK_EQUAL(drain(fits).size(), 1U);
	CHECK(!fits.too_long());
	too_long.add({"\0\0\0\6", 4}); /* known before it has come */
	CHECK(drain(too_long).empty());
	CHECK(too_long.too_long());
}

void lines_not_yet_taken_are_kept_over_an_add()
{
	FrameReader reader(100);
	reader.add("one\ntwo\nthr");
	CHECK_EQUAL(std::string(*reader.next()), "one");
	reader.add("ee\n");
	CHECK(drain(reader) == (std::vector<std::string>{"two", "three"}));
}

void the_limit_is_exact()
{
	FrameReader fits(5), too_long(5), growing(5);
	fits.add("12345\n");
	CHECK_EQUAL(drain(fits).size(), 1U);
	CHECK(!fits.too_long());
	too_long.add("ok\n123456\nnext\n");
	CHECK_EQUAL(drain(too_long).size(), 1U);
	CHECK(too_long.too_long());
	growing.add("123456"); /* no newline in sight */
	CHECK(drain(growing).empty());
	CHECK(growing.too_long());
	growing.add("\nafter\n");
	CHECK(drain(growing).empty());
}

} // namespace

int main()
{
	return slurmkube::check::run_tests("frames",
		{
			TEST(chunks_may_end_at_any_two_bytes),
			TEST(single_bytes_do_as_well),
			TEST(frames_with_a_length_may_end_anywhere_too),
			TEST(the_limit_counts_for_lengths),
			TEST(lines_not_yet_taken_are_kept_over_an_add),
			TEST(the_limit_is_exact),
		});
}
