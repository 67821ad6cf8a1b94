/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * metrics_text.h - writes metrics in Prometheus' text format, version 0.0.4.
 *
 * The caller begins a family and writes its samples before the next family; each combination of
 * labels once. Names must be valid, because they are constants of ours; values of labels are
 * escaped and may be any text in UTF-8.
 */
#ifndef SLURMKUBE_CODEC_METRICS_TEXT_H
#define SLURMKUBE_CODEC_METRICS_TEXT_H

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace slurmkube::codec
{

inline constexpr char k_metrics_type[] = "text/plain; version=0.0.4; charset=utf-8";

enum class MetricKind { counter, gauge, histogram };

struct Histogram {
	struct Bucket {
		double upper_bound;  /* inclusive */
		std::uint64_t count; /* of all values up to upper_bound */
	};
	std::vector<Bucket> buckets; /* ascending, without the last one, +Inf */
	std::uint64_t count = 0;     /* of all values */
	double sum = 0;
};

class MetricsText
{
      public:
	using Labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

	void family(std::string_view name, MetricKind kind, std::string_view help);
	void sample(double value) { sample({}, value); }
	void sample(Labels labels, double value);
	void histogram(const Histogram &values) { histogram({}, values); }
	void histogram(Labels labels, const Histogram &values);

	[[nodiscard]] std::string take_text() { return std::exchange(text_, {}); }

      private:
	void line(std::string_view suffix, Labels labels, std::string_view bound, double value);

	std::string text_, name_;
};

} // namespace slurmkube::codec

#endif
