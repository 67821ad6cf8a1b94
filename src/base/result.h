/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * result.h - errors as values.
 *
 * A function that can fail returns Result<T>: a value or an Error. There are few error codes, and
 * their names say what the caller should do, not where the error came from. Nothing here throws.
 */
#ifndef SLURMKUBE_BASE_RESULT_H
#define SLURMKUBE_BASE_RESULT_H

#include <string>
#include <utility>
#include <variant>

namespace slurmkube
{

enum class Errc {
	invalid,   /* tell the user: the input cannot work */
	not_found, /* the object is gone, or never existed */
	conflict,  /* the object has changed: read it again, then decide */
	denied,    /* credentials or permissions: an administrator must act */
	again,     /* try later; nothing is wrong with the request */
	too_large, /* a limit of slurm-kube is exceeded */
	io,        /* the connection broke; a write may or may not have happened */
	internal,  /* a bug in slurm-kube */
};

struct Error {
	Errc code;
	std::string what; /* lower case, no full stop; outer context first */
};

/* The request is wrong or not allowed: it is not worth a repetition. */
inline bool is_refusal(const Error &error)
{
	return error.code == Errc::invalid || error.code == Errc::denied;
}

struct Ok {
};

template <class T> class [[nodiscard]] Result
{
      public:
	Result(T value)
	    : state_(std::in_place_index<0>, std::move(value))
	{} // NOLINT(google-explicit-constructor): return sites
	Result(Error error)
	    : state_(std::in_place_index<1>, std::move(error))
	{} // NOLINT(google-explicit-constructor): return sites

	[[nodiscard]] bool ok() const { return state_.index() == 0; }
	explicit operator bool() const { return ok(); }

	/* Only after ok(). */
	T &value() & { return *std::get_if<0>(&state_); }
	const T &value() const & { return *std::get_if<0>(&state_); }
	T &&value() && { return std::move(*std::get_if<0>(&state_)); }
	T &operator*() & { return value(); }
	const T &operator*() const & { return value(); }
	T *operator->() { return &value(); }
	const T *operator->() const { return &value(); }

	/* Only after !ok(). */
	[[nodiscard]] const Error &error() const { return *std::get_if<1>(&state_); }

      private:
	std::variant<T, Error> state_;
};

using Status = Result<Ok>;

/* The same error with "context: " in front. */
inline Error in_context(const std::string &context, const Error &e)
{
	return Error{e.code, context + ": " + e.what};
}

} // namespace slurmkube

#endif
