/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/kube/token.h"

#include "src/agent/kube/files.h"
#include "src/base/log.h"
#include "src/base/owned.h"

#include <algorithm>
#include <cerrno>
#include <ctime>

#include <jwt.h>

#include <cstring>

namespace slurmkube::kube
{

namespace
{

using namespace std::chrono_literals;
using Jwt = Owned<jwt_t, jwt_free>;

/* libjwt 1 reads a token without checking its signature when it gets no key. */
Jwt decode(const std::string &token)
{
	jwt_t *raw = nullptr;
	if (jwt_decode(&raw, token.c_str(), nullptr, 0) != 0)
		return nullptr;
	return Jwt(raw);
}

/* It goes into a header line: anything but printable characters would end or split that. */
bool is_one_word(const std::string &token)
{
	return !token.empty() && std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

} // namespace

std::optional<std::int64_t> token_expiry(const std::string &token)
{
	if (std::count(token.begin(), token.end(), '.') != 2)
		return std::nullopt;
	const Jwt jwt = decode(token);
	if (!jwt)
		return std::nullopt;
	errno = 0;
	const long expiry = jwt_get_grant_int(jwt.get(), "exp");
	if (errno != 0 || expiry <= 0)
		return std::nullopt;
	return expiry;
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

/* Half of what is left of a short life, at least a second; a minute for the rest. */
Token::Clock::duration Token::until_next_read() const
{
	if (!expires_)
		return 60s;
	const std::int64_t left = *expires_ - static_cast<std::int64_t>(std::time(nullptr));
	return std::chrono::seconds(std::clamp<std::int64_t>(left / 2, 1, 60));
}

bool Token::read(Clock::time_point now)
{
	auto contents = read_small_file(file_);
	std::string fresh = contents ? trimmed(*contents) : std::string();
	const std::string trouble = !contents ? contents.error().what : is_one_word(fresh) ? "" : "'" + file_ + "' does not hold a token";
	if (!trouble.empty() && trouble != trouble_)
		log_error("token file unreadable, going on with the last token: %s", trouble.c_str());
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
		(void)read(now); /* trouble() tells; the old token may still be good */
	return text_;
}

bool Token::refused(Clock::time_point now)
{
	return !file_.empty() && read(now);
}

} // namespace slurmkube::kube
