/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * owned.h - one owner for each object of a C library, and for each descriptor.
 *
 * Owned<CURL, curl_easy_cleanup> is as large as a pointer. UniqueFd closes on destruction.
 */
#ifndef SLURMKUBE_BASE_OWNED_H
#define SLURMKUBE_BASE_OWNED_H

#include <memory>
#include <utility>

#include <unistd.h>

namespace slurmkube
{

template <auto Fn> struct FreeWith {
	template <class T> void operator()(T *p) const noexcept { (void)Fn(p); }
};

template <class T, auto Fn> using Owned = std::unique_ptr<T, FreeWith<Fn>>;

class UniqueFd
{
      public:
	UniqueFd() = default;
	explicit UniqueFd(int fd) : fd_(fd) {}
	UniqueFd(UniqueFd &&o) noexcept : fd_(std::exchange(o.fd_, -1)) {}
	UniqueFd &operator=(UniqueFd &&o) noexcept
	{
		if (this != &o) {
			reset();
			fd_ = std::exchange(o.fd_, -1);
		}
		return *this;
	}
	UniqueFd(const UniqueFd &) = delete;
	UniqueFd &operator=(const UniqueFd &) = delete;
	~UniqueFd() { reset(); }

	[[nodiscard]] int get() const { return fd_; }
	explicit operator bool() const { return fd_ >= 0; }
	/* The caller closes the descriptor. */
	[[nodiscard]] int release() { return std::exchange(fd_, -1); }
	void reset()
	{
		if (fd_ >= 0)
			/* Linux closes the descriptor even if close() returns EINTR, and other
			 * errors cannot be handled here */
			(void)::close(fd_);
		fd_ = -1;
	}

      private:
	int fd_ = -1;
};

} // namespace slurmkube

#endif
