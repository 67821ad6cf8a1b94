/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kubeconfig.cc - reads the supported parts of a kubeconfig file, and reports unsupported ones
 * clearly.
 */
#include "src/agent/kube/access.h"
#include "src/agent/kube/files.h"
#include "src/agent/kube/yaml_text.h"
#include "src/base/log.h"
#include "src/base/text.h"
#include "src/codec/base64.h"

namespace slurmkube::kube
{

namespace
{

/* Builds Access from one file; the first error ends the reading. */
class Reader
{
      public:
	explicit Reader(const std::string &file) : file_(file) { access_.source = file; }

	Status read(YamlNode root, const std::string &context_name);
	Access take() { return std::move(access_); }

      private:
	/* Finds the contents of a named entry, such as clusters[].cluster. */
	Result<YamlNode> entry(YamlNode root, const char *list, const char *member,
		const std::string &name, YamlNode asked_by) const;
	Status read_cluster(YamlNode cluster);
	Status read_server(YamlNode cluster);
	Status read_verification(YamlNode cluster);
	Status read_user(YamlNode user);
	[[nodiscard]] Status refuse_unsupported(YamlNode user) const;
	/* Sets into to a file name for the key, for example "certificate-authority", or for the key
	 * with "-data", whose contents go to a file in memory. */
	Status file_or_data(YamlNode from, const std::string &key, std::string &into);
	Status data_file(YamlNode data, const std::string &key, std::string &into);
	[[nodiscard]] Error wrong(
		YamlNode where, const std::string &key, const std::string &what) const;

	const std::string &file_;
	Access access_;
};

Error Reader::wrong(YamlNode where, const std::string &key, const std::string &what) const
{
	return Error{Errc::invalid,
		file_ + ":" + std::to_string(where ? where.line() : 1) + ": " +
			printable(key + ": " + what)};
}

Result<YamlNode> Reader::entry(YamlNode root, const char *list, const char *member,
	const std::string &name, YamlNode asked_by) const
{
	for (const YamlNode item : root.get(list).items()) {
		if (item.get("name").text() != name)
			continue;
		const YamlNode contents = item.get(member);
		if (!contents.is_mapping())
			return wrong(item, std::string(list) + "[" + name + "]",
				std::string("has no ") + member);
		return contents;
	}
	return wrong(asked_by, list,
		"there is no entry named '" + name + "'; see the names under " + list + ":");
}

Status Reader::data_file(YamlNode data, const std::string &key, std::string &into)
{
	const auto bytes = codec::decode_base64(data.text());
	if (!bytes || bytes->empty())
		return wrong(data, key,
			"is not base64; put the whole PEM file through base64, or name the file "
			"instead");
	auto fd = memory_file(key.c_str(), *bytes);
	if (!fd)
		return fd.error();
	into = path_of(*fd);
	access_.in_memory.push_back(std::move(fd).value());
	return Ok{};
}

Status Reader::file_or_data(YamlNode from, const std::string &key, std::string &into)
{
	if (const YamlNode data = from.get(key + "-data"))
		return data_file(data, key + "-data", into);
	const YamlNode name = from.get(key);
	if (!name)
		return Ok{};
	into = beside(file_, name.text());
	/* Check the file here: libcurl would only say "problem with the local certificate". */
	if (auto contents = read_small_file(into); !contents)
		return wrong(name, key, contents.error().what);
	return Ok{};
}

Status Reader::read_server(YamlNode cluster)
{
	const YamlNode server = cluster.get("server");
	access_.server = server.text();
	while (access_.server.ends_with('/'))
		access_.server.pop_back();
	if (!access_.server.starts_with("https://") || access_.server.size() <= 8)
		return wrong(server ? server : cluster, "server",
			"'" + server.text() +
				"' is not https://HOST:PORT; credentials are never sent in the "
				"clear");
	return Ok{};
}

Status Reader::read_verification(YamlNode cluster)
{
	const YamlNode insecure = cluster.get("insecure-skip-tls-verify");
	access_.verify = insecure.text() != "true";
	if (access_.verify)
		return Ok{};
	if (!access_.ca_file.empty())
		return wrong(insecure, "insecure-skip-tls-verify",
			"cannot stand beside a certificate authority; remove one of them");
	log_warning(
		"the API server's certificate is not checked: file=%s key=insecure-skip-tls-verify",
		file_.c_str());
	return Ok{};
}

Status Reader::read_cluster(YamlNode cluster)
{
	if (auto done = read_server(cluster); !done)
		return done;
	if (auto done = file_or_data(cluster, "certificate-authority", access_.ca_file); !done)
		return done;
	access_.tls_server_name = cluster.get("tls-server-name").text();
	access_.proxy = cluster.get("proxy-url").text();
	return read_verification(cluster);
}

Status Reader::refuse_unsupported(YamlNode user) const
{
	static constexpr const char *keys[] = {
		"exec", "auth-provider", "username", "password", "as", "as-groups", "as-uid"};
	for (const char *key : keys) {
		if (const YamlNode found = user.get(key))
			return wrong(found, std::string("users[].user.") + key,
				"is not supported; give a token, a tokenFile or a client "
				"certificate, for example of a service account");
	}
	return Ok{};
}

Status Reader::read_user(YamlNode user)
{
	if (auto done = refuse_unsupported(user); !done)
		return done;
	if (auto done = file_or_data(user, "client-certificate", access_.certificate_file); !done)
		return done;
	if (auto done = file_or_data(user, "client-key", access_.key_file); !done)
		return done;
	if (access_.certificate_file.empty() != access_.key_file.empty())
		return wrong(user, "client-certificate",
			"certificate and client-key go together; one is missing");
	access_.token = trimmed(user.get("token").text());
	if (const YamlNode name = user.get("tokenFile")) {
		access_.token_file = beside(file_, name.text());
		if (auto contents = read_small_file(access_.token_file); !contents)
			return wrong(name, "tokenFile", contents.error().what);
	}
	if (access_.certificate_file.empty() && access_.token.empty() && access_.token_file.empty())
		return wrong(user, "users[].user",
			"has no credentials; give a token, a tokenFile or client-certificate and "
			"client-key");
	return Ok{};
}

Status Reader::read(YamlNode root, const std::string &context_name)
{
	const YamlNode current = root.get("current-context");
	const std::string wanted = context_name.empty() ? current.text() : context_name;
	if (wanted.empty())
		return wrong(root, "current-context",
			"is not set; set it, or name a context in the configuration");
	const auto context =
		entry(root, "contexts", "context", wanted, context_name.empty() ? current : root);
	if (!context)
		return context.error();
	const YamlNode cluster_name = context->get("cluster"), user_name = context->get("user");
	const auto cluster = entry(root, "clusters", "cluster", cluster_name.text(),
		cluster_name ? cluster_name : *context);
	if (!cluster)
		return cluster.error();
	const auto user =
		entry(root, "users", "user", user_name.text(), user_name ? user_name : *context);
	if (!user)
		return user.error();
	access_.default_namespace = context->get("namespace").text();
	if (auto done = read_cluster(*cluster); !done)
		return done;
	return read_user(*user);
}

} // namespace

Result<Access> access_from_kubeconfig(const std::string &file, const std::string &context)
{
	const auto contents = read_small_file(file);
	if (!contents)
		return in_context("kubeconfig", contents.error());
	const auto document = YamlText::parse(*contents);
	if (!document)
		return Error{document.error().code, file + ":" + document.error().what};
	Reader reader(file);
	if (auto done = reader.read(document->root(), context); !done)
		return done.error();
	return reader.take();
}

} // namespace slurmkube::kube
