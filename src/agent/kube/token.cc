/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/kube/token.h"

#include "src/agent/kube/files.h"
#include "src/base/log.h"
#include "src/base/owned.h"
#include "src/base/text.h"
#include "src/codec/time.h"

#include <algorithm>
#include <cerrno>

#include <jwt.h>

#include <cstring>

namespace slurmkube::kube
{

namespace
{

using namespace std::chrono_literals;
using Jwt = Owned<jwt_t, jwt_free>;

/* Without a key, libjwt 1 decodes a token without verifying its signature. */
Jwt decode(const std::string &token)
{
	jwt_t *raw = nullptr;
	if (jwt_decode(&raw, token.c_str(), nullptr, 0) != 0)
		return nullptr;
	return Jwt(raw);
}

std::optional<std::int64_t> time_claim(jwt_t *jwt, const char *name)
{
	errno = 0;
	const long value = jwt_get_grant_int(jwt, name);
	return errno == 0 && value > 0 ? std::optional<std::int64_t>(value) : std::nullopt;
}

std::string text_claim(jwt_t *jwt, const char *name)
{
	const char *value = jwt_get_grant(jwt, name);
	return value != nullptr ? printable(value) : "";
}

/* The token becomes part of a header line, which other characters would end or split. */
bool is_one_word(const std::string &token)
{
	return !token.empty() &&
		std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

} // namespace

TokenClaims token_claims(const std::string &token)
{
	if (std::count(token.begin(), token.end(), '.') != 2)
		return {};
	const Jwt jwt = decode(token);
	if (!jwt)
		return {};
	return {.expires = time_claim(jwt.get(), "exp"),
		.issued = time_claim(jwt.get(), "iat"),
		.issuer = text_claim(jwt.get(), "iss"),
		.subject = text_claim(jwt.get(), "sub")};
}

std::optional<std::int64_t> token_expiry(const std::string &token)
{
	return token_claims(token).expires;
}

Token::Token(std::string text, std::string file) : text_(std::move(text)), file_(std::move(file))
{
	if (!is_one_word(text_))
		text_.clear();
	expires_ = token_expiry(text_);
}

Token::~Token()
{
	wipe();
}

void Token::wipe()
{
	explicit_bzero(text_.data(), text_.size());
}

/* Half of the remaining life, from 1 s to 60 s; 60 s for a token without an expiry. */
Token::Clock::duration Token::until_next_read() const
{
	if (!expires_)
		return 60s;
	const std::int64_t left = *expires_ - agent::now().wall_s;
	return std::chrono::seconds(std::clamp<std::int64_t>(left / 2, 1, 60));
}

bool Token::read(Clock::time_point now)
{
	auto contents = read_small_file(file_);
	std::string fresh = contents ? trimmed(*contents) : std::string();
	const std::string trouble = !contents ? contents.error().what
		: is_one_word(fresh)          ? ""
					      : "'" + file_ + "' does not hold a token";
	if (!trouble.empty() && trouble != trouble_)
		log_error(
			"token file unreadable, the last token stays in use: %s", trouble.c_str());
	trouble_ = trouble;
	const bool changed = trouble.empty() && fresh != text_;
	if (changed) {
		wipe();
		text_ = std::move(fresh);
		expires_ = token_expiry(text_);
	}
	next_read_ = now + until_next_read();
	return changed;
}

const std::string &Token::text(Clock::time_point now)
{
	if (!file_.empty() && now >= next_read_)
		(void)read(now); /* trouble() reports failures; the old token may still be valid */
	return text_;
}

std::string Token::name() const
{
	return file_.empty() ? "the token" : "the token in '" + file_ + "'";
}

std::string Token::refusal(std::int64_t now) const
{
	if (text_.empty())
		return "";
	const TokenClaims claims = token_claims(text_);
	if (claims.expires && *claims.expires <= now)
		return name() + " expired at " + codec::format_time(*claims.expires) +
			"; skube kubeconfig writes a new one";
	if (!claims.expires)
		return name() +
			" is not one that this API server has issued, or it has been revoked";
	return name() + " is good until " + codec::format_time(*claims.expires) +
		" by its own word; the API server does not know it: was it made for another "
		"cluster" +
		(claims.issuer.empty() ? "" : " (its issuer is " + claims.issuer + ")") +
		", or its service account deleted?";
}

bool Token::refused(Clock::time_point now)
{
	return !file_.empty() && read(now);
}

} // namespace slurmkube::kube
