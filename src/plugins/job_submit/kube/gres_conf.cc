/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/plugins/job_submit/kube/gres_conf.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <set>

namespace slurmkube::plugin
{

namespace
{

constexpr std::string_view k_blanks = " \t\r";
constexpr std::size_t k_lines_max = 20'000, k_line_max = 4096, k_files_max = 1024;
constexpr std::uint64_t k_count_max = 1'000'000;
/* All keys that Slurm knows (_gres_options in Slurm's gres.c). With any other key Slurm cannot
 * parse the file, which is fatal too. */
constexpr std::string_view k_known[] = {"count", "cpus", "cores", "file", "files", "flags", "link",
	"links", "multiplefiles", "name", "type"};
/* Keys that a line for an external node may have. */
constexpr std::string_view k_allowed[] = {
	"count", "cpus", "cores", "file", "files", "name", "type"};
/* Shared devices have rules of their own (gres_c_s.c). */
constexpr std::string_view k_shared[] = {"mps", "shard"};

template <class Set> bool has(const Set &set, std::string_view word)
{
	return std::find(std::begin(set), std::end(set), word) != std::end(set);
}

std::string lower(std::string_view text)
{
	std::string out(text);
	std::transform(out.begin(), out.end(), out.begin(),
		[](unsigned char c) { return static_cast<char>(std::tolower(c)); });
	return out;
}

bool is_plain(char c)
{
	return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
		std::string_view("_-./:,[]").find(c) != std::string_view::npos;
}

bool is_plain_word(std::string_view word)
{
	return !word.empty() && std::all_of(word.begin(), word.end(), is_plain);
}

bool is_name(std::string_view word)
{
	return std::all_of(word.begin(), word.end(),
		[](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-'; });
}

/* Slurm expands all names: two pairs of brackets in one name multiply them. */
bool multiplies(std::string_view hosts)
{
	unsigned brackets = 0;
	bool inside = false;
	for (char c : hosts) {
		inside = c == '[' || (inside && c != ']');
		brackets = c == ',' && !inside ? 0 : brackets + (c == '[');
		if (brackets > 1)
			return true;
	}
	return false;
}

std::string take_word(GresLine &line, std::string_view word, bool is_first)
{
	std::size_t equals = word.find('=');
	if (equals == std::string_view::npos)
		return "\"" + std::string(word.substr(0, 40)) + "\" is not of the form Key=Value";
	std::string key = lower(word.substr(0, equals)), value(word.substr(equals + 1));
	if (!is_plain_word(value))
		return "the value of " + key +
			" has other characters than letters, digits and _-./:,[]";
	if (key == "nodename" && is_first && !multiplies(value)) {
		line.hosts = std::move(value);
		return {};
	}
	if (is_first ? key != "name" : !has(k_known, key))
		return key + (is_first ? " stands first on the line" : " is not a plain key of it");
	return line.keys.emplace(std::move(key), std::move(value)).second
		? std::string()
		: "a key stands twice on the line";
}

std::string take_line(GresConf &conf, std::string_view text, std::size_t number)
{
	GresLine line;
	line.number = number;
	bool is_first = true;
	for (std::size_t at = 0;
		(at = text.find_first_not_of(k_blanks, at)) != std::string_view::npos;
		is_first = false) {
		std::size_t stop = std::min(text.find_first_of(k_blanks, at), text.size());
		std::string trouble = take_word(line, text.substr(at, stop - at), is_first);
		if (!trouble.empty())
			return trouble;
		at = stop;
	}
	if (!is_first)
		conf.lines.push_back(std::move(line));
	return {};
}

/* Checks the line without its comment. Slurm joins lines and escapes characters with backslashes,
 * so that a line with a backslash is not plain. */
std::string check_line(GresConf &conf, std::string_view line, std::size_t number)
{
	if (line.size() > k_line_max || number > k_lines_max)
		return "is too long";
	if (line.find('\0') != std::string_view::npos)
		return "has a NUL character";
	line = line.substr(0, line.find('#'));
	if (line.find('\\') != std::string_view::npos)
		return "has a backslash";
	std::size_t first = std::min(line.find_first_not_of(k_blanks), line.size());
	std::string_view word = line.substr(first, line.find_last_not_of(k_blanks) + 1 - first);
	if (word.empty() || lower(word) == "autodetect=off")
		return {};
	if (lower(word).find("autodetect") != std::string::npos)
		return "has AutoDetect, which slurmctld cannot do";
	return take_line(conf, line, number);
}

/* ---- one node ---- */

const std::string *find(const GresLine &line, const char *key, const char *alias)
{
	auto at = line.keys.find(key);
	if (at == line.keys.end())
		at = line.keys.find(alias);
	return at == line.keys.end() ? nullptr : &at->second;
}

std::optional<std::uint64_t> number(std::string_view text)
{
	std::uint64_t value = 0;
	auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
	return error == std::errc() && end == text.data() + text.size() ? std::optional(value)
									: std::nullopt;
}

/* "0-3,8": ascending ranges of numbers below the node's CPUs. */
bool are_cores(std::string_view text, std::uint32_t cpus)
{
	while (!text.empty()) {
		std::string_view range = text.substr(0, text.find(','));
		bool ends_in_comma = range.size() + 1 == text.size();
		text.remove_prefix(std::min(range.size() + 1, text.size()));
		std::size_t dash = range.find('-');
		auto from = number(range.substr(0, dash)),
		     to = dash == std::string_view::npos ? from : number(range.substr(dash + 1));
		if (!from || !to || *from > *to || *to >= cpus || ends_in_comma)
			return false;
	}
	return true;
}

/* The properties of earlier lines with the same Name, which must be uniform. */
struct Sort {
	bool has_file = false, has_type = false;
	std::set<std::string> files;
};

std::string check_files(const GresLine &line, Sort &sort, const HostLists &lists)
{
	const std::string *file = find(line, "file", "files"),
			  *count = find(line, "count", "count");
	std::uint64_t wanted = count ? number(*count).value_or(0) : 0;
	if (count && (wanted == 0 || wanted > k_count_max))
		return "its Count is not a number from 1 to a million";
	if (!file)
		return {};
	std::vector<std::string> names =
		multiplies(*file) ? std::vector<std::string>() : lists.names(*file, k_files_max);
	if (names.empty())
		return "its File is not a list of at most 1024 files";
	if (count && wanted != names.size())
		return "its Count is not the number of its files";
	for (std::string &name : names)
		if (name.empty() || name.front() != '/' ||
			!sort.files.insert(std::move(name)).second)
			return "a file is named twice, or not by its whole path";
	return sort.files.size() > k_files_max ? "it has more than 1024 files" : std::string();
}

std::string check(const GresLine &line, const GresNode &node, std::map<std::string, Sort> &sorts,
	const HostLists &lists)
{
	for (const auto &[key, value] : line.keys)
		if (!has(k_allowed, key))
			return "it has " + key;
	const std::string *name = find(line, "name", "name"), *cores = find(line, "cores", "cpus");
	if (!name || has(k_shared, lower(*name)))
		return name ? "its devices are shared" : "it has no Name";
	if (!is_name(*name) || (line.keys.contains("type") && !is_name(line.keys.at("type"))))
		return "its Name or Type has other characters than letters, digits, _ and -";
	if ((line.keys.contains("file") && line.keys.contains("files")) ||
		(line.keys.contains("cores") && line.keys.contains("cpus")))
		return "it has two keys of one meaning";
	if (cores && !are_cores(*cores, node.cpus))
		return "its Cores are not among the node's " + std::to_string(node.cpus) + " CPUs";
	const bool has_file = find(line, "file", "files") != nullptr,
		   has_type = line.keys.contains("type");
	auto [at, is_new] = sorts.try_emplace(lower(*name), Sort{has_file, has_type, {}});
	if (at->second.has_file != has_file || at->second.has_type != has_type)
		return "some lines of its Name have File or Type, and others do not";
	if (!is_new && !has_file && !has_type)
		return "it repeats a line";
	return check_files(line, at->second, lists);
}

} // namespace

/* Splits plain lines in the same way as Slurm (common/parse_config.c). */
GresConf parse_gres_conf(std::string_view text)
{
	GresConf conf;
	for (std::size_t line_number = 1; !text.empty() && conf.trouble.empty(); line_number++) {
		std::string_view line = text.substr(0, text.find('\n'));
		text.remove_prefix(std::min(line.size() + 1, text.size()));
		std::string trouble = check_line(conf, line, line_number);
		if (!trouble.empty())
			conf.trouble = "line " + std::to_string(line_number) + ": " + trouble;
	}
	return conf;
}

bool names_node(const GresConf &conf, const std::string &node, const HostLists &lists)
{
	return std::any_of(conf.lines.begin(), conf.lines.end(), [&](const GresLine &line) {
		return !line.hosts.empty() && lists.has(line.hosts, node);
	});
}

std::string why_not_to_load(const GresConf &conf, const GresNode &node, const HostLists &lists)
{
	if (!conf.trouble.empty())
		return conf.trouble;
	std::map<std::string, Sort> sorts;
	for (const GresLine &line : conf.lines) {
		if (!line.hosts.empty() && !lists.has(line.hosts, node.name))
			continue;
		std::string trouble = check(line, node, sorts, lists);
		if (!trouble.empty())
			return "line " + std::to_string(line.number) + ": " + trouble;
	}
	return {};
}

} // namespace slurmkube::plugin
