/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * token.h - the bearer token, kept fresh.
 *
 * A token file is read again each minute, sooner when its token is about to expire, and after the
 * server refused it: kubelets and operators rewrite such files at 80 % of the token's life. The
 * expiry is read from the token without verifying it; only the server judges it.
 */
#ifndef SLURMKUBE_AGENT_KUBE_TOKEN_H
#define SLURMKUBE_AGENT_KUBE_TOKEN_H

#include "src/agent/loop.h"
#include "src/base/result.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace slurmkube::kube
{

/* Of a JSON web token. Times are seconds since the epoch; what it does not say, and all of an
 * opaque token, is empty. */
struct TokenClaims {
	std::optional<std::int64_t> expires, issued;
	std::string issuer, subject;
};
TokenClaims token_claims(const std::string &token);
/* Its claim exp. */
std::optional<std::int64_t> token_expiry(const std::string &token);

class Token
{
      public:
	using Clock = agent::Clock;

	/* file wins over text. Both empty: no token. */
	Token(std::string text, std::string file);
	Token(const Token &) = delete;
	Token &operator=(const Token &) = delete;
	~Token();

	/* What to send now; reads the file when that is due. Empty: send none. */
	const std::string &text(Clock::time_point now);
	/* The server answered 401 to this token. True: the file holds another one by now, so a
	 * second try makes sense. */
	bool refused(Clock::time_point now);

	[[nodiscard]] std::optional<std::int64_t> expires() const { return expires_; }
	[[nodiscard]] const std::string &file() const { return file_; }
	[[nodiscard]] TokenClaims claims() const { return token_claims(text_); }
	/* Why a server may have answered 401, as far as the token itself tells: expired, or of
	 * another cluster. */
	[[nodiscard]] std::string refusal(std::int64_t now) const;
	/* Why the file could not be read the last time; empty: it could. */
	[[nodiscard]] const std::string &trouble() const { return trouble_; }

      private:
	bool read(Clock::time_point now);
	[[nodiscard]] Clock::duration until_next_read() const;
	[[nodiscard]] std::string name() const;
	void wipe();

	std::string text_, file_, trouble_;
	std::optional<std::int64_t> expires_;
	Clock::time_point next_read_{};
};

} // namespace slurmkube::kube

#endif
