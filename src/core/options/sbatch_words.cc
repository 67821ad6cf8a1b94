/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the value of slurm-kube.io/sbatch: splits it into words as a shell does and reads options
 * as getopt_long() does. */
#include "src/core/options/options.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace slurmkube::core
{

namespace
{

constexpr std::size_t k_sbatch_max = 16384; /* bytes */

/* The kind of quotes around the current character. */
enum class Quote { none, single, twice };

/* Handles quotes and backslashes as a shell does; expands nothing. */
class Splitter
{
      public:
	Result<std::vector<std::string>> split(std::string_view text)
	{
		for (const char c : text)
			take(c);
		if (quote_ != Quote::none || escaped_)
			return Error{Errc::invalid,
				escaped_ ? "ends with a backslash" : "a quote is not closed"};
		end_word();
		return std::move(words_);
	}

      private:
	void take(char c)
	{
		if (escaped_)
			take_escaped(c);
		else if (quote_ == Quote::none)
			take_plain(c);
		else if (c == (quote_ == Quote::single ? '\'' : '"'))
			quote_ = Quote::none;
		else if (c == '\\' && quote_ == Quote::twice)
			escaped_ = true;
		else
			add(c);
	}

	/* Inside double quotes a backslash escapes only the characters below; before any other it
	 * stands for itself. */
	void take_escaped(char c)
	{
		escaped_ = false;
		if (quote_ == Quote::twice && c != '"' && c != '\\' && c != '$' && c != '`')
			add('\\');
		add(c);
	}

	void take_plain(char c)
	{
		if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
			end_word();
		} else if (c == '\\') {
			escaped_ = true;
		} else if (c == '\'' || c == '"') {
			quote_ = c == '"' ? Quote::twice : Quote::single;
			in_word_ = true;
		} else {
			add(c);
		}
	}

	void add(char c)
	{
		in_word_ = true;
		word_ += c;
	}

	void end_word()
	{
		if (in_word_)
			words_.push_back(std::move(word_));
		word_.clear();
		in_word_ = false;
	}

	std::vector<std::string> words_;
	std::string word_;
	bool in_word_ = false, escaped_ = false;
	Quote quote_ = Quote::none;
};

const Option *by_long(std::string_view name)
{
	const auto all = options();
	const auto found = std::find_if(all.begin(), all.end(),
		[name](const Option &o) { return !o.sbatch.empty() && o.sbatch == name; });
	return found == all.end() ? nullptr : &*found;
}

const Option *by_letter(char letter)
{
	const auto all = options();
	const auto found = std::find_if(all.begin(), all.end(),
		[letter](const Option &o) { return o.letter != 0 && o.letter == letter; });
	return found == all.end() ? nullptr : &*found;
}

Error refused(const std::string &shown, const RefusedOption *known, std::string_view name)
{
	if (known)
		return Error{Errc::invalid, shown + ": " + std::string(known->reason)};
	return Error{Errc::invalid,
		shown + ": no option of sbatch that has a meaning here; " + suggestions(name)};
}

Error refused_long(const std::string &name)
{
	const auto all = refused_options();
	const auto known = std::find_if(
		all.begin(), all.end(), [&](const RefusedOption &o) { return o.sbatch == name; });
	return refused("--" + name.substr(0, 64), known == all.end() ? nullptr : &*known, name);
}

Error refused_letter(char letter)
{
	const auto all = refused_options();
	const auto known = std::find_if(all.begin(), all.end(),
		[letter](const RefusedOption &o) { return o.letter != 0 && o.letter == letter; });
	return refused(std::string("-") + letter, known == all.end() ? nullptr : &*known,
		std::string_view(&letter, 1));
}

/* Applies the options in the words, one after the other. */
class Words
{
      public:
	Words(std::vector<std::string> words, const OptionContext &context, JobSpec &spec)
	    : words_(std::move(words)), context_(context), spec_(spec)
	{
	}

	Status read()
	{
		for (next_ = 0; next_ < words_.size();) {
			const std::string word = words_[next_++];
			const Status done = word.starts_with("--") && word.size() > 2
				? read_long(word.substr(2))
				: word.starts_with('-') && word.size() > 1
				? read_letters(word.substr(1))
				: not_an_option(word);
			if (!done)
				return done;
		}
		return Ok{};
	}

      private:
	static Status not_an_option(const std::string &word)
	{
		return Error{Errc::invalid,
			"'" + word.substr(0, 64) +
				"' is not an option: the command belongs in the pod's containers"};
	}

	Status read_long(const std::string &word)
	{
		const std::size_t equals = word.find('=');
		const std::string name = word.substr(0, equals);
		const Option *option = by_long(name);
		if (!option)
			return refused_long(name);
		if (equals == std::string::npos)
			return apply(*option, "--" + name, std::nullopt);
		if (option->argument == Argument::none)
			return Error{Errc::invalid, "--" + name + " takes no value"};
		return apply(*option, "--" + name, word.substr(equals + 1));
	}

	/* -H, -pkube, -p kube, -Hpkube */
	Status read_letters(std::string letters)
	{
		while (!letters.empty()) {
			const char letter = letters.front();
			const Option *option = by_letter(letter);
			if (!option)
				return refused_letter(letter);
			const bool has_value =
				letters.size() > 1 && option->argument != Argument::none;
			const auto value =
				has_value ? std::optional(letters.substr(1)) : std::nullopt;
			if (const Status done = apply(*option, std::string("-") + letter, value);
				!done)
				return done;
			letters = has_value ? "" : letters.substr(1);
		}
		return Ok{};
	}

	Status apply(
		const Option &option, const std::string &shown, std::optional<std::string> value)
	{
		if (!value && option.argument == Argument::required) {
			if (next_ >= words_.size())
				return Error{Errc::invalid,
					shown + " needs a value: " + std::string(option.takes)};
			value = words_[next_++];
		}
		const std::string given = value.value_or(std::string(option.implied));
		const Status done = (option.apply_sbatch ? option.apply_sbatch : option.apply)(
			given, context_, spec_);
		if (done)
			note_given(option, spec_);
		return done
			? done
			: Status(in_context(shown + (value ? " '" + given.substr(0, 64) + "'" : ""),
				  done.error()));
	}

	std::vector<std::string> words_;
	std::size_t next_ = 0;
	const OptionContext &context_;
	JobSpec &spec_;
};

constexpr std::string_view k_container =
	"the command and its environment belong in the pod's containers";
constexpr std::string_view k_log = "the pod's log is kept by Kubernetes: kubectl logs";
constexpr std::string_view k_shape = "the pods decide how many tasks there are and what each has";
constexpr std::string_view k_sockets =
	"a pod cannot choose sockets and cores; the kubelet's CPU and topology managers place it";
constexpr std::string_view k_waits = "sbatch itself does this, and it is not run";
constexpr std::string_view k_gpus = "give --gres=gpu:COUNT, which counts per node";
constexpr std::string_view k_slurmd = "needs slurmd on the node, and there is none";

constexpr RefusedOption k_refused[] = {
	{"array", 'a', "a job stands for one pod; use a Job with completionMode: Indexed"},
	{"acctg-freq", 0, k_slurmd},
	{"batch", 0, k_slurmd},
	{"bbf", 0, "no file of yours can be read here; give --bb"},
	{"cluster-constraint", 0, "the agent submits to one cluster"},
	{"clusters", 'M', "the agent submits to one cluster"},
	{"container", 0, k_container},
	{"container-id", 0, k_container},
	{"cores-per-socket", 0, k_sockets},
	{"cpu-freq", 0, k_slurmd},
	{"distribution", 'm', k_shape},
	{"error", 'e', k_log},
	{"export", 0, k_container},
	{"export-file", 0, k_container},
	{"external", 0, "it always is one"},
	{"extra-node-info", 'B', k_sockets},
	{"get-user-env", 0, k_container},
	{"gpu-bind", 0, k_slurmd},
	{"gpu-freq", 0, k_slurmd},
	{"gpus", 'G', k_gpus},
	{"gpus-per-node", 0, k_gpus},
	{"gpus-per-socket", 0, k_gpus},
	{"gpus-per-task", 0, k_gpus},
	{"gres-flags", 0, k_sockets},
	{"help", 'h', k_waits},
	{"hint", 0, k_sockets},
	{"ignore-pbs", 0, k_container},
	{"input", 'i', k_container},
	{"mem-bind", 0, k_slurmd},
	{"mem-per-cpu", 0, "give --mem, or resources.requests.memory in the pod"},
	{"mem-per-gpu", 0, "give --mem, or resources.requests.memory in the pod"},
	{"mincpus", 0, "give --cpus-per-task, or resources.requests.cpu in the pod"},
	{"network", 0, k_slurmd},
	{"no-kill", 'k', "a pod does not survive its node"},
	{"no-requeue", 0, "it never is: the pod's controller makes a new pod"},
	{"ntasks", 'n', k_shape},
	{"ntasks-per-core", 0, k_shape},
	{"ntasks-per-gpu", 0, k_shape},
	{"ntasks-per-socket", 0, k_shape},
	{"oom-kill-step", 0, k_slurmd},
	{"open-mode", 0, k_log},
	{"output", 'o', k_log},
	{"overcommit", 'O', "a CPU that Slurm gives to a pod is its own"},
	{"oversubscribe", 's',
		"a CPU that Slurm gives to a pod is its own; nodes are shared anyway"},
	{"parsable", 0, k_waits},
	{"power", 0, "not for users"},
	{"profile", 0, k_slurmd},
	{"propagate", 0, k_container},
	{"quiet", 'Q', k_waits},
	{"reboot", 0, "nodes belong to Kubernetes and are not rebooted for a pod"},
	{"requeue", 0, "a pod cannot go back to the queue; its controller makes a new one"},
	{"resv-ports", 0, k_slurmd},
	{"signal", 0,
		"Slurm signals job steps, and a pod has none. At its time limit the pod gets TERM: "
		"give it time to save in terminationGracePeriodSeconds (a preStop hook may send "
		"another signal), "
		"and reduce timelimit by the warning time that --signal would have given"},
	{"sockets-per-node", 0, k_sockets},
	{"stepmgr", 0, k_slurmd},
	{"test-only", 0, k_waits},
	{"tmp", 0, "ask for ephemeral-storage in the pod's requests"},
	{"tres-bind", 0, k_slurmd},
	{"tres-per-task", 0, k_gpus},
	{"umask", 0, k_container},
	{"usage", 0, k_waits},
	{"verbose", 'v', k_waits},
	{"version", 'V', k_waits},
	{"wait", 'W', k_waits},
	{"wait-all-nodes", 0, k_slurmd},
	{"wrap", 0, k_container},
	{"x11", 0, k_container},
};

} // namespace

std::span<const RefusedOption> refused_options()
{
	return k_refused;
}

Status apply_sbatch_words(const std::string &text, const OptionContext &context, JobSpec &spec)
{
	if (text.size() > k_sbatch_max)
		return Error{
			Errc::invalid, "longer than " + std::to_string(k_sbatch_max) + " bytes"};
	auto words = Splitter().split(text);
	if (!words)
		return words.error();
	return Words(std::move(*words), context, spec).read();
}

} // namespace slurmkube::core
