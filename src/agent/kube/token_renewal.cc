/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/kube/token_renewal.h"

#include "src/base/owned.h"
#include "src/codec/json.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

namespace slurmkube::kube
{

namespace
{

constexpr std::size_t k_token_answer_max = std::size_t{64} << 10;
constexpr std::int64_t k_shortest_life = 600; /* seconds; the API server issues no shorter ones */

struct Account {
	std::string name_space, name;
};

/* "system:serviceaccount:NAMESPACE:NAME" */
std::optional<Account> account_of(std::string_view subject)
{
	constexpr std::string_view prefix = "system:serviceaccount:";
	if (!subject.starts_with(prefix))
		return std::nullopt;
	subject.remove_prefix(prefix.size());
	const std::size_t colon = subject.find(':');
	if (colon == std::string_view::npos || colon == 0 || colon + 1 == subject.size())
		return std::nullopt;
	return Account{
		std::string(subject.substr(0, colon)), std::string(subject.substr(colon + 1))};
}

Error file_error(const std::string &what, const std::string &file)
{
	return Error{Errc::io, what + " '" + file + "': " + std::generic_category().message(errno)};
}

bool write_all(const UniqueFd &fd, const std::string &text)
{
	return write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
		fsync(fd.get()) == 0;
}

Status take_token(const Result<Response> &answer, const std::string &file)
{
	if (!answer)
		return answer.error();
	const auto object = codec::parse_json(answer->body, k_token_answer_max);
	if (!object)
		return object.error();
	const std::string token = codec::get_string(codec::get(object->get(), "status"), "token");
	if (token.empty())
		return Error{Errc::invalid, "the answer has no token"};
	return write_token_file(file, token);
}

} // namespace

std::string account_namespace_of(const std::string &subject)
{
	const auto account = account_of(subject);
	return account ? account->name_space : "";
}

bool renewal_due(const TokenClaims &claims, std::int64_t now)
{
	if (!claims.expires || !claims.issued || *claims.expires <= *claims.issued)
		return false;
	return *claims.expires - now <= (*claims.expires - *claims.issued) / 3;
}

Result<Request> renewal_request(const TokenClaims &claims)
{
	const auto account = account_of(claims.subject);
	if (!account)
		return Error{Errc::invalid, "the token is not that of a service account"};
	const std::int64_t life = claims.expires.value_or(0) - claims.issued.value_or(0);
	codec::Json body = codec::new_object(), spec = codec::new_object();
	codec::put(body.get(), "apiVersion", "authentication.k8s.io/v1");
	codec::put(body.get(), "kind", "TokenRequest");
	codec::put(spec.get(), "expirationSeconds", std::max(life, k_shortest_life));
	codec::put(body.get(), "spec", std::move(spec));
	Request request;
	request.method = Method::post;
	request.path = "/api/v1/namespaces/" + escape_query(account->name_space) +
		"/serviceaccounts/" + escape_query(account->name) + "/token";
	request.body = codec::to_text(body.get());
	request.body_limit = k_token_answer_max;
	return request;
}

Status write_token_file(const std::string &file, const std::string &token)
{
	std::string fresh = file + ".XXXXXX";
	const UniqueFd fd(mkostemp(fresh.data(), O_CLOEXEC)); /* mode 0600 */
	if (!fd)
		return file_error("cannot write beside", file);
	if (write_all(fd, token + "\n") && rename(fresh.c_str(), file.c_str()) == 0)
		return Ok{};
	const Error error = file_error("cannot write", file);
	(void)unlink(fresh.c_str());
	return error;
}

void renew_token(Client &client, std::function<void(Status)> done)
{
	auto request = renewal_request(client.token().claims());
	if (!request) {
		client.after(std::chrono::milliseconds(0),
			[done = std::move(done), error = request.error()] { done(error); });
		return;
	}
	client.send(std::move(*request),
		[&client, done = std::move(done), file = client.token().file()](
			const Result<Response> &answer) {
			const Status written = take_token(answer, file);
			if (written)
				client.read_token();
			done(written);
		});
}

} // namespace slurmkube::kube
