/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/options/text.h"

#include "src/core/model/names.h"
#include "src/core/options/options.h"

#include <algorithm>

namespace slurmkube::core
{

namespace
{

/* For example "-A" and "--account=". */
std::vector<std::string> sbatch_forms(const Option &option)
{
	if (option.sbatch.empty())
		return {};
	std::vector<std::string> forms;
	if (option.letter)
		forms.push_back(std::string("-") + option.letter);
	forms.push_back("--" + std::string(option.sbatch) +
		(option.argument == Argument::required                  ? "="
				: option.argument == Argument::optional ? "[=]"
									: ""));
	return forms;
}

std::string joined(const std::vector<std::string> &list, const char *before, const char *after)
{
	std::string out;
	for (const std::string &item : list)
		out += (out.empty() ? "" : ", ") + (before + item + after);
	return out;
}

std::string sbatch_form(const Option &option)
{
	return joined(sbatch_forms(option), "", "");
}

/* The full keys of an option's aliases */
std::vector<std::string> aliases_of(const Option &option)
{
	std::vector<std::string> all;
	if (!option.bridge.empty())
		all.push_back(names::k_bridge_prefix + std::string(option.bridge));
	if (!option.sunk.empty())
		all.push_back(names::k_sunk_prefix + std::string(option.sunk));
	return all;
}

std::string in_column(std::string text, std::size_t width)
{
	text.resize(std::max(width, text.size()), ' ');
	return text + "  ";
}

/* The option's meaning, followed by the versions of Slurm that have it and whether it can be
 * changed. */
std::string remarks_of(const Option &option)
{
	std::string out(option.meaning);
	if (!option.since.empty())
		out += " Slurm " + std::string(option.since) + " or later.";
	if (option.fixed)
		out += " Cannot be changed while the job waits.";
	return out;
}

bool has_name(const Option &option, std::string_view name)
{
	const auto aliases = aliases_of(option);
	return name == option.name || name == names::k_option_prefix + std::string(option.name) ||
		(!option.sbatch.empty() && name == option.sbatch) ||
		name == "--" + std::string(option.sbatch) ||
		(option.letter && name == std::string("-") + option.letter) ||
		std::find(aliases.begin(), aliases.end(), name) != aliases.end();
}

std::string described(const Option &option)
{
	std::string out = names::k_option_prefix + std::string(option.name) + ": " +
		std::string(option.takes) + "\n\n" + remarks_of(option) + "\n\n";
	if (!option.sbatch.empty())
		out += "in slurm-kube.io/sbatch: " + sbatch_form(option) + "\n";
	for (const std::string &alias : aliases_of(option))
		out += "alias: " + alias + "\n";
	return out;
}

std::string_view without_dashes(std::string_view name)
{
	while (name.starts_with('-'))
		name.remove_prefix(1);
	return name;
}

/* Escapes the characters that have a meaning in scdoc. */
std::string scdoc_escaped(std::string_view text)
{
	std::string out;
	for (const char c : text) {
		if (c == '_' || c == '*' || c == '\\' || c == '<' || c == '>' || c == '#' ||
			c == '~')
			out += '\\';
		out += c;
	}
	return out;
}

/* Breaks the text into lines of at most `width` characters, each after the indent. The escape is
 * put before a line that would begin with a dash, because that would begin a list. */
std::string wrapped(const std::string &text, std::size_t width, const std::string &indent,
	const std::string &escape = "")
{
	std::string out, line;
	for (std::size_t at = 0; at < text.size();) {
		const std::size_t end = std::min(text.find(' ', at), text.size());
		const std::string word = text.substr(at, end - at);
		if (line.empty()) {
			line = word;
		} else if (line.size() + 1 + word.size() > width) {
			out += indent + line + "\n";
			line = (word.starts_with('-') ? escape : "") + word;
		} else {
			line += " " + word;
		}
		at = end + 1;
	}
	return out + indent + line + "\n";
}

} // namespace

std::string explain_options()
{
	std::string out = in_column("OPTION", 20) + in_column("VALUE", 34) + "SBATCH\n";
	for (const Option &option : options())
		out += in_column(std::string(option.name), 20) +
			in_column(std::string(option.takes), 34) + sbatch_form(option) + "\n";
	return out +
		"\nEach is an annotation slurm-kube.io/OPTION of the pod; slurm-kube.io/sbatch "
		"takes sbatch's options in one string.\n"
		"skube explain options NAME tells more of one.\n";
}

std::optional<std::string> explain_option(std::string_view name)
{
	for (const Option &option : options()) {
		if (has_name(option, name))
			return described(option);
	}
	for (const RefusedOption &refused : refused_options()) {
		if (refused.sbatch == without_dashes(name) ||
			(refused.letter && name == std::string("-") + refused.letter))
			return "sbatch --" + std::string(refused.sbatch) +
				" is refused: " + std::string(refused.reason) + "\n";
	}
	return std::nullopt;
}

std::string options_in_scdoc()
{
	std::string out;
	for (const Option &option : options()) {
		std::string text = scdoc_escaped(remarks_of(option));
		if (!option.sbatch.empty())
			text += " sbatch: *" + scdoc_escaped(sbatch_form(option)) + "*.";
		if (const auto aliases = aliases_of(option); !aliases.empty())
			text += std::string(aliases.size() == 1 ? " Alias: " : " Aliases: ") +
				scdoc_escaped(joined(aliases, "", "")) + ".";
		out += "*" + std::string(option.name) + "* " + scdoc_escaped(option.takes) + "\n" +
			wrapped(text, 72, "\t", "\\") + "\n";
	}
	return out;
}

std::string options_in_markdown()
{
	std::string out;
	for (const Option &option : options()) {
		std::string text = remarks_of(option);
		if (const auto forms = sbatch_forms(option); !forms.empty())
			text += " sbatch: " + joined(forms, "`", "`") + ".";
		if (const auto aliases = aliases_of(option); !aliases.empty())
			text += std::string(aliases.size() == 1 ? " Alias: " : " Aliases: ") +
				joined(aliases, "`", "`") + ".";
		out += "- `" + std::string(option.name) + ": " + std::string(option.takes) +
			"`\n\n" + wrapped(text, 78, "  ") + "\n";
	}
	return out;
}

} // namespace slurmkube::core
