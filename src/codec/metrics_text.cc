/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/codec/metrics_text.h"

#include <charconv>
#include <cmath>

namespace slurmkube::codec
{

namespace
{

/* Help texts escape no quotation marks. */
void append_escaped(std::string &out, std::string_view text, bool is_label)
{
	for (const char c : text) {
		if (c == '\n')
			out += "\\n";
		else if (c == '\\')
			out += "\\\\";
		else if (c == '"' && is_label)
			out += "\\\"";
		else
			out += c;
	}
}

/* The shortest text that is read as the same number. */
std::string number_text(double value)
{
	if (std::isnan(value))
		return "NaN";
	if (std::isinf(value))
		return value > 0 ? "+Inf" : "-Inf";
	char digits[32];
	const auto end = std::to_chars(digits, digits + sizeof(digits), value).ptr;
	return {digits, end};
}

const char *kind_text(MetricKind kind)
{
	switch (kind) {
	case MetricKind::counter:
		return "counter";
	case MetricKind::gauge:
		return "gauge";
	case MetricKind::histogram:
		break;
	}
	return "histogram";
}

} // namespace

void MetricsText::family(std::string_view name, MetricKind kind, std::string_view help)
{
	name_ = name;
	text_ += "# HELP " + name_ + " ";
	append_escaped(text_, help, false);
	text_ += "\n# TYPE " + name_ + " " + kind_text(kind) + "\n";
}

void MetricsText::line(std::string_view suffix, Labels labels, std::string_view bound, double value)
{
	text_ += name_;
	text_ += suffix;
	const char *separator = "{";
	for (const auto &[name, label] : labels) {
		text_ += separator;
		text_ += name;
		text_ += "=\"";
		append_escaped(text_, label, true);
		text_ += '"';
		separator = ",";
	}
	if (!bound.empty()) {
		text_ += separator;
		text_ += "le=\"";
		text_ += bound;
		text_ += '"';
	}
	text_ += labels.size() == 0 && bound.empty() ? " " : "} ";
	text_ += number_text(value) + "\n";
}

void MetricsText::sample(Labels labels, double value)
{
	line("", labels, "", value);
}

void MetricsText::histogram(Labels labels, const Histogram &values)
{
	for (const Histogram::Bucket &bucket : values.buckets)
		line("_bucket", labels, number_text(bucket.upper_bound),
			static_cast<double>(bucket.count));
	line("_bucket", labels, "+Inf", static_cast<double>(values.count));
	line("_sum", labels, "", values.sum);
	line("_count", labels, "", static_cast<double>(values.count));
}

} // namespace slurmkube::codec
