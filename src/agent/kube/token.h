/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * token.h - the bearer token, kept up to date.
 *
 * A token file is read again every minute, more often shortly before its token expires, and after
 * the server has refused the token: kubelets and operators rewrite such files at 80 % of the
 * token's life. The expiry is read from the token without verification; only the server verifies
 * tokens.
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

/* Claims of a JSON web token. Times are seconds since the epoch. A missing claim is empty, as are
 * all claims of an opaque token. */
struct TokenClaims {
	std::optional<std::int64_t> expires, issued;
	std::string issuer, subject;
};
TokenClaims token_claims(const std::string &token);
/* The claim exp. */
std::optional<std::int64_t> token_expiry(const std::string &token);

class Token
{
      public:
	using Clock = agent::Clock;

	/* file takes precedence over text. Both empty: no token. */
	Token(std::string text, std::string file);
	Token(const Token &) = delete;
	Token &operator=(const Token &) = delete;
	~Token();

	/* The token to send; reads the file if that is due. Empty: send none. */
	const std::string &text(Clock::time_point now);
	/* To be called when the server has answered 401. True: the file has a new token, so that
	 * another attempt makes sense. */
	bool refused(Clock::time_point now);

	[[nodiscard]] std::optional<std::int64_t> expires() const { return expires_; }
	[[nodiscard]] const std::string &file() const { return file_; }
	[[nodiscard]] TokenClaims claims() const { return token_claims(text_); }
	/* Why a server may have answered 401, as far as the token shows: it has expired, or another
	 * cluster has issued it. now: seconds since the epoch. */
	[[nodiscard]] std::string refusal(std::int64_t now) const;
	/* Why the last attempt to read the file failed; empty: it did not. */
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
