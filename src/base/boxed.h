/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * boxed.h - an object on the heap, or none, that is copied with its owner: for members that few
 * owners have.
 *
 * Boxed<T> is as large as a pointer.
 */
#ifndef SLURMKUBE_BASE_BOXED_H
#define SLURMKUBE_BASE_BOXED_H

#include <memory>
#include <utility>

namespace slurmkube
{

template <class T> class Boxed
{
      public:
	Boxed() = default;
	Boxed(Boxed &&) noexcept = default;
	Boxed &operator=(Boxed &&) noexcept = default;
	Boxed(const Boxed &other) : held_(copy_of(other)) {}
	Boxed &operator=(const Boxed &other)
	{
		held_ = copy_of(other);
		return *this;
	}
	~Boxed() = default;

	void emplace() { held_ = std::make_unique<T>(); }
	void reset() { held_.reset(); }
	explicit operator bool() const { return held_ != nullptr; }
	T *operator->() { return held_.get(); }
	const T *operator->() const { return held_.get(); }

      private:
	static std::unique_ptr<T> copy_of(const Boxed &other)
	{
		return other.held_ ? std::make_unique<T>(*other.held_) : nullptr;
	}

	std::unique_ptr<T> held_;
};

} // namespace slurmkube

#endif
