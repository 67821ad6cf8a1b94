/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The text format of Prometheus 0.0.4, line by line. */
#include "src/codec/metrics_text.h"
#include "testsuite/unit/check.h"

#include <cmath>
#include <limits>

using namespace slurmkube;
using codec::MetricKind;

namespace
{

std::string line_of(codec::MetricsText::Labels labels, double value)
{
	codec::MetricsText text;
	text.family("f", MetricKind::gauge, "Help.");
	text.sample(labels, value);
	const std::string all = text.take_text(), head = "# HELP f Help.\n# TYPE f gauge\n";
	CHECK_EQUAL(all.substr(0, head.size()), head);
	return all.substr(head.size());
}

void a_family_has_help_and_type_once()
{
	codec::MetricsText text;
	text.family("a_total", MetricKind::counter, "Back\\slash, \"quote\"\nand line.");
	text.sample(1);
	text.sample({{"x", "y"}}, 2);
	text.family("b", MetricKind::gauge, "B.");
	text.sample(3);
	CHECK_EQUAL(text.take_text(),
		"# HELP a_total Back\\\\slash, \"quote\"\\nand line.\n# TYPE a_total counter\n"
		"a_total 1\na_total{x=\"y\"} 2\n# HELP b B.\n# TYPE b gauge\nb 3\n");
	CHECK_EQUAL(text.take_text(), "");
}

void values_of_labels_are_escaped()
{
	const struct {
		std::string value, line;
	} rows[] = {
		{"", "f{l=\"\"} 1\n"},
		{"plain", "f{l=\"plain\"} 1\n"},
		{"a\"b", "f{l=\"a\\\"b\"} 1\n"},
		{"a\\b", "f{l=\"a\\\\b\"} 1\n"},
		{"a\nb", "f{l=\"a\\nb\"} 1\n"},
		{"\\n", "f{l=\"\\\\n\"} 1\n"},
		{"{},= ", "f{l=\"{},= \"} 1\n"},
		{"\xc3\xa4", "f{l=\"\xc3\xa4\"} 1\n"},
	};
	for (const auto &row : rows)
		CHECK_EQUAL(line_of({{"l", row.value}}, 1), row.line);
	CHECK_EQUAL(line_of({{"a", "1"}, {"b", "2"}}, 1), "f{a=\"1\",b=\"2\"} 1\n");
}

void numbers_are_exact()
{
	const struct {
		double value;
		std::string text;
	} rows[] = {
		{0, "0"},
		{-1, "-1"},
		{0.001, "0.001"},
		{524.288, "524.288"},
		{9007199254740992.0, "9007199254740992"},
		{1.5e300, "1.5e+300"},
		{std::numeric_limits<double>::infinity(), "+Inf"},
		{-std::numeric_limits<double>::infinity(), "-Inf"},
		{std::nan(""), "NaN"},
	};
	for (const auto &row : rows)
		CHECK_EQUAL(line_of({}, row.value), "f " + row.text + "\n");
}

void a_histogram_ends_with_all_values()
{
	codec::MetricsText text;
	text.family("h_seconds", MetricKind::histogram, "H.");
	text.histogram({{"l", "v"}}, {.buckets = {{0.5, 1}, {1, 3}}, .count = 4, .sum = 7.5});
	text.histogram({.buckets = {}, .count = 0, .sum = 0});
	CHECK_EQUAL(text.take_text(),
		"# HELP h_seconds H.\n# TYPE h_seconds histogram\n"
		"h_seconds_bucket{l=\"v\",le=\"0.5\"} 1\nh_seconds_bucket{l=\"v\",le=\"1\"} 3\n"
		"h_seconds_bucket{l=\"v\",le=\"+Inf\"} 4\nh_seconds_sum{l=\"v\"} 7.5\n"
		"h_seconds_count{l=\"v\"} 4\n"
		"h_seconds_bucket{le=\"+Inf\"} 0\nh_seconds_sum 0\nh_seconds_count 0\n");
}

} // namespace

int main()
{
	return check::run_tests("metrics text",
		{
			TEST(a_family_has_help_and_type_once),
			TEST(values_of_labels_are_escaped),
			TEST(numbers_are_exact),
			TEST(a_histogram_ends_with_all_values),
		});
}
