/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * asker.h - asks programs such as kubectl and scontrol, one question after the other.
 */
#ifndef SLURMKUBE_SKUBE_ASKER_H
#define SLURMKUBE_SKUBE_ASKER_H

#include "src/base/programs.h"
#include "src/base/result.h"
#include "src/base/text.h"

#include <sstream>
#include <string>

namespace slurmkube::skube
{

/* Keeps the first failure, and asks nothing after it. */
class Asker
{
      public:
	Words lines(const Words &words)
	{
		if (!status_)
			return {};
		auto text = output_of(words);
		if (!text)
			status_ = text.error();
		return text ? lines_of(printable_lines(*text)) : Words();
	}
	[[nodiscard]] const Status &status() const { return status_; }

      private:
	static std::string printable_lines(const std::string &text)
	{
		std::string all;
		for (const std::string &line : lines_of(text))
			all += printable(line) + "\n";
		return all;
	}
	Status status_ = Ok{};
};

/* kubectl with the options for that kubeconfig and context; empty: its defaults. */
inline Words kubectl_with(const std::string &kubeconfig, const std::string &context)
{
	Words command{"kubectl"};
	if (!kubeconfig.empty())
		command.insert(command.end(), {"--kubeconfig", kubeconfig});
	if (!context.empty())
		command.insert(command.end(), {"--context", context});
	return command;
}

inline Words joined(Words first, const Words &rest)
{
	first.insert(first.end(), rest.begin(), rest.end());
	return first;
}

/* The items of a list with commas, as scontrol prints it. */
inline Words listed(const std::string &text)
{
	Words all;
	std::istringstream in(text);
	for (std::string one; std::getline(in, one, ',');) {
		if (!one.empty() && one != "(null)")
			all.push_back(one);
	}
	return all;
}

/* The address of the API server that kubectl uses. */
inline std::string server_of(Asker &ask, const Words &kubectl)
{
	const Words lines = ask.lines(joined(kubectl,
		{"config", "view", "--minify", "--output",
			"jsonpath={.clusters[0].cluster.server}"}));
	return lines.empty() ? "" : lines.front();
}

} // namespace slurmkube::skube

#endif
