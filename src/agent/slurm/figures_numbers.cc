/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The numbers within texts of Slurm. */
#include "src/agent/slurm/figures.h"

#include <charconv>
#include <cmath>

namespace slurmkube::slurm::figures
{

namespace
{

constexpr Figure k_bytes_per_mib = Figure{1024} * 1024;
constexpr std::string_view k_units = "KMGTPEZ";

/* Takes what is before separator off text. */
std::string_view take(std::string_view &text, char separator)
{
	const std::size_t end = text.find(separator);
	const std::string_view part = text.substr(0, end);
	text = end == std::string_view::npos ? "" : text.substr(end + 1);
	return part;
}

Figure number_in(std::string_view text, Figure otherwise)
{
	Figure value = otherwise;
	(void)std::from_chars(text.data(), text.data() + text.size(), value);
	return value;
}

/* "1", "3-5" or "8-20:4". */
Figure size_of(std::string_view range)
{
	const Figure first = number_in(take(range, '-'), 0);
	if (range.empty())
		return 1;
	const Figure last = number_in(take(range, ':'), first), step = number_in(range, 1);
	return last < first || step == 0 ? 1 : (last - first) / step + 1;
}

/* "62.50G": 62.5 with the unit G; the unit of a number without one is '\0'. */
struct Amount {
	double value = 0;
	char unit = '\0';
};

Amount amount_in(std::string_view tres, std::string_view key)
{
	while (!tres.empty()) {
		std::string_view value = take(tres, ',');
		if (take(value, '=') != key)
			continue;
		Amount amount;
		const char *end = value.data() + value.size();
		const auto read = std::from_chars(value.data(), end, amount.value);
		if (read.ptr != end)
			amount.unit = *read.ptr;
		return amount;
	}
	return {};
}

double power_of(char unit)
{
	const std::size_t place = k_units.find(unit);
	return place == std::string_view::npos ? 1 : std::pow(1024, place + 1);
}

} // namespace

Figure tasks_in(std::string_view array)
{
	std::string_view tasks = take(array, '%');
	Figure sum = 0;
	while (!tasks.empty())
		sum += size_of(take(tasks, ','));
	return sum == 0 ? 1 : sum;
}

Figure gpus_in(std::string_view gres)
{
	Figure sum = 0;
	while (!gres.empty()) {
		/* commas within parentheses separate no resources */
		std::size_t end = 0;
		int depth = 0;
		for (; end < gres.size() && (gres[end] != ',' || depth > 0); end++)
			depth += gres[end] == '(' ? 1 : gres[end] == ')' ? -1 : 0;
		std::string_view one = gres.substr(0, end);
		gres.remove_prefix(std::min(end + 1, gres.size()));
		std::string_view rest = one;
		if (take(rest, ':') != "gpu")
			continue;
		if (rest.starts_with("(null):"))
			rest.remove_prefix(sizeof("(null):") - 1);
		rest = rest.substr(0, rest.find('('));
		const std::size_t colon = rest.rfind(':');
		sum += number_in(
			colon == std::string_view::npos ? rest : rest.substr(colon + 1), 0);
	}
	return sum;
}

Figure tres_in(std::string_view tres, std::string_view key)
{
	const Amount amount = amount_in(tres, key);
	return static_cast<Figure>(std::llround(amount.value * power_of(amount.unit)));
}

/* A number without a unit is in MiB. */
Figure memory_in(std::string_view tres)
{
	const Amount amount = amount_in(tres, "mem");
	const double unit = amount.unit == '\0' ? k_bytes_per_mib : power_of(amount.unit);
	return static_cast<Figure>(std::llround(amount.value * unit));
}

} // namespace slurmkube::slurm::figures
