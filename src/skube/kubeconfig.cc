/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/skube/kubeconfig.h"

#include "src/base/owned.h"
#include "src/base/programs.h"
#include "src/codec/json.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <optional>
#include <pwd.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace slurmkube::skube
{

namespace
{

using codec::get;
using codec::get_string;

constexpr std::size_t k_view_max = std::size_t{4} << 20;

struct Owner {
	uid_t user;
	gid_t group;
};

Error file_error(const std::string &what, const std::string &file)
{
	return Error{Errc::io, what + " '" + file + "': " + std::generic_category().message(errno)};
}

/* Empty unless root runs the command: the files then belong to the caller. */
Result<std::optional<Owner>> find_owner(const std::string &name)
{
	if (geteuid() != 0)
		return std::optional<Owner>();
	const passwd *entry = getpwnam(name.c_str()); // NOLINT(concurrency-mt-unsafe): one thread
	if (!entry)
		return Error{Errc::not_found,
			"no user on this machine is called '" + name +
				"': name SlurmUser of slurm.conf with --owner"};
	return std::optional(Owner{entry->pw_uid, entry->pw_gid});
}

/* An existing directory is left unchanged. */
Status make_directory_of(const std::string &file, const std::optional<Owner> &owner)
{
	const std::string directory = file.substr(0, file.rfind('/'));
	if (directory.empty() || access(directory.c_str(), F_OK) == 0)
		return Ok{};
	if (mkdir(directory.c_str(), 0700) != 0 ||
		(owner && chown(directory.c_str(), owner->user, owner->group) != 0))
		return file_error("cannot make", directory);
	return Ok{};
}

/* Atomic, and never readable by other users. */
Status write_file(
	const std::string &file, const std::string &text, const std::optional<Owner> &owner)
{
	if (auto made = make_directory_of(file, owner); !made)
		return made;
	std::string fresh = file + ".XXXXXX";
	const UniqueFd fd(mkostemp(fresh.data(), O_CLOEXEC));
	if (!fd)
		return file_error("cannot write", file);
	const bool written =
		write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
		(!owner || fchown(fd.get(), owner->user, owner->group) == 0) &&
		fsync(fd.get()) == 0 && rename(fresh.c_str(), file.c_str()) == 0;
	if (written)
		return Ok{};
	const Error error = file_error("cannot write", file);
	(void)unlink(fresh.c_str());
	return error;
}

/* Strings of JSON are valid in YAML. */
std::string quoted(const std::string &text)
{
	const codec::Json value(
		json_object_new_string_len(text.data(), static_cast<int>(text.size())));
	return json_object_to_json_string_ext(
		value.get(), JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
}

Result<std::string> new_token(const KubeconfigFiles &files)
{
	auto token = output_of({"kubectl", "create", "token", "--namespace",
		files.account_namespace, files.account, "--duration", files.duration});
	if (!token)
		return Error{token.error().code,
			token.error().what +
				"\nIs the output of skube manifests applied, and may you create "
				"tokens of service "
				"accounts?"};
	return token;
}

/* An agent that is directed to another cluster by mistake finds none of its pods there. */
Status is_for_same_server(const std::string &file, const std::string &text)
{
	std::ifstream in(file);
	const std::string there{
		std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
	const std::size_t line = text.find("    server: ");
	const std::string server = text.substr(line, text.find('\n', line) - line);
	if (there.empty() || there.find(server + "\n") != std::string::npos)
		return Ok{};
	return Error{Errc::conflict,
		file + " is there and not for the API server of kubectl's current context (" +
			server.substr(4) +
			"); nothing was written. Choose the right context, or move that file away"};
}

} // namespace

Result<std::string> kubeconfig_text(json_object *view, const std::string &token_file)
{
	json_object *cluster = get(codec::array_at(get(view, "clusters"), 0), "cluster");
	if (get_string(cluster, "server").empty())
		return Error{Errc::invalid,
			"kubectl has no current context with a server: set KUBECONFIG to an "
			"administrator's kubeconfig"};
	std::string text = "# Made by skube kubeconfig. The agent renews the token; run that again "
			   "if the agent was away for longer than the token lives.\n"
			   "apiVersion: v1\nkind: Config\ncurrent-context: slurm-kube\n"
			   "contexts:\n- name: slurm-kube\n  context: {cluster: kubernetes, user: "
			   "slurmkubed, namespace: slurm-kube}\n"
			   "clusters:\n- name: kubernetes\n  cluster:\n";
	for (const char *key :
		{"server", "certificate-authority-data", "tls-server-name", "proxy-url"}) {
		const std::string value = get_string(cluster, key);
		text += value.empty() ? ""
				      : std::string("    ") + key + ": " + quoted(value) + "\n";
	}
	if (codec::get_bool(cluster, "insecure-skip-tls-verify"))
		text += "    insecure-skip-tls-verify: true\n";
	return text + "users:\n- name: slurmkubed\n  user:\n    tokenFile: " + quoted(token_file) +
		"\n";
}

Status write_kubeconfig(const KubeconfigFiles &files)
{
	const auto owner = find_owner(files.owner);
	if (!owner)
		return owner.error();
	const auto view = output_of({"kubectl", "config", "view", "--raw", "--minify", "--flatten",
		"--output", "json"});
	if (!view)
		return view.error();
	const auto parsed = codec::parse_json(*view, k_view_max);
	if (!parsed)
		return in_context("kubectl config view", parsed.error());
	const auto text = kubeconfig_text(parsed->get(), files.token);
	if (!text)
		return text.error();
	if (auto same = is_for_same_server(files.kubeconfig, *text); !same)
		return same;
	const auto token = new_token(files);
	if (!token)
		return token.error();
	if (auto written = write_file(files.token, *token, *owner); !written)
		return written;
	if (auto written = write_file(files.kubeconfig, *text, *owner); !written)
		return written;
	(void)printf("%s: written; name it as kubeconfig in slurmkubed.yaml\n%s: written; the "
		     "agent renews it\n",
		files.kubeconfig.c_str(), files.token.c_str());
	return Ok{};
}

} // namespace slurmkube::skube
