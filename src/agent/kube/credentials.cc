/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/kube/credentials.h"

#include "src/agent/kube/files.h"
#include "src/agent/kube/token_renewal.h"
#include "src/base/log.h"
#include "src/codec/time.h"

#include <cstring>
#include <unistd.h>

namespace slurmkube::kube
{

namespace
{

constexpr std::chrono::seconds k_between_looks{5};
constexpr std::int64_t k_between_renewals = 60; /* after a failure, in seconds */
constexpr std::int64_t k_warn_share = 10;       /* a tenth of the token's life is left */

std::string directory_of(const std::string &file)
{
	const std::size_t slash = file.rfind('/');
	return slash == std::string::npos ? "." : file.substr(0, slash + 1);
}

} // namespace

Credentials::Credentials(Client &client, std::string kubeconfig)
    : client_(client), kubeconfig_(std::move(kubeconfig))
{
	if (auto contents = kubeconfig_.empty() ? Result<std::string>(std::string())
						: read_small_file(kubeconfig_);
		contents)
		contents_ = std::move(*contents);
}

void Credentials::start()
{
	look();
}

void Credentials::look()
{
	read_kubeconfig(false);
	const std::int64_t now = agent::now().wall_s;
	renew_if_due(now);
	warn_of_expiry(now);
	client_.after(k_between_looks, [this] { look(); });
}

void Credentials::reload()
{
	read_kubeconfig(true);
	client_.read_token();
}

/* Only the kubeconfig itself is read here, which may contain tokens and *-data fields. The files
 * that it names are read by libcurl and by Token. */
void Credentials::read_kubeconfig(bool even_if_same)
{
	if (kubeconfig_.empty())
		return;
	auto contents = read_small_file(kubeconfig_);
	if (contents && *contents == contents_ && !even_if_same)
		return;
	auto access = contents ? access_from_kubeconfig(kubeconfig_)
			       : Result<Access>(in_context("kubeconfig", contents.error()));
	/* the agent's state is about one cluster: in another one, all pods would seem to be lost */
	if (access && access->server != client_.server())
		access = Error{Errc::invalid,
			"kubeconfig " + kubeconfig_ + " names another API server, " +
				access->server + "; restart slurmkubed to go there"};
	const std::string trouble = access ? "" : access.error().what;
	if (!trouble.empty() && trouble != file_trouble_)
		log_error("kubeconfig not taken, the last credentials stay in use: %s",
			trouble.c_str());
	file_trouble_ = trouble;
	if (!access)
		return; /* the next look tries again: the file may have been half written */
	explicit_bzero(contents_.data(), contents_.size());
	contents_ = std::move(*contents);
	client_.replace_access(std::move(*access));
	next_renewal_ = 0;
	log_info("kubeconfig read again: file=%s", kubeconfig_.c_str());
}

void Credentials::renew_if_due(std::int64_t now)
{
	const Token &token = client_.token();
	if (kubeconfig_.empty() || renewing_ || now < next_renewal_ || token.file().empty() ||
		!renewal_due(token.claims(), now))
		return;
	if (access(directory_of(token.file()).c_str(), W_OK) != 0) {
		renewal_trouble_ = "its directory is not writable for the agent";
		return;
	}
	renewing_ = true;
	renew_token(client_, [this, now](const Status &status) { renewed(status, now); });
}

void Credentials::renewed(const Status &status, std::int64_t now)
{
	renewing_ = false;
	const std::string trouble = status ? "" : status.error().what;
	if (!trouble.empty() && trouble != renewal_trouble_)
		log_warning("token not renewed: file=%s error=%s", client_.token().file().c_str(),
			trouble.c_str());
	renewal_trouble_ = trouble;
	next_renewal_ = now + k_between_renewals;
	if (status)
		log_info("token renewed: file=%s expires=%s", client_.token().file().c_str(),
			codec::format_time(client_.token_expires().value_or(0)).c_str());
}

/* Warns once per token when a tenth of its life is left, and once when it has expired. */
void Credentials::warn_of_expiry(std::int64_t now)
{
	const TokenClaims claims = client_.token().claims();
	if (!claims.expires)
		return;
	const std::int64_t left = *claims.expires - now,
			   life = *claims.expires - claims.issued.value_or(*claims.expires);
	const std::string at = codec::format_time(*claims.expires);
	const std::string state = left <= 0   ? "expired " + at
		: left <= life / k_warn_share ? "expires " + at
					      : "";
	if (state.empty() || state == warned_)
		return;
	warned_ = state;
	log_warning("the token of the API server %s: %s; skube kubeconfig writes one that the "
		    "agent renews",
		state.c_str(),
		renewal_trouble_.empty() ? "nobody has renewed it" : renewal_trouble_.c_str());
}

std::string Credentials::trouble() const
{
	if (!file_trouble_.empty())
		return file_trouble_;
	const std::string token = client_.token_trouble();
	if (!token.empty())
		return token;
	if (renewal_trouble_.empty() || !client_.token_expires())
		return "";
	return "the token expires at " + codec::format_time(*client_.token_expires()) +
		" and is not renewed: " + renewal_trouble_;
}

} // namespace slurmkube::kube
