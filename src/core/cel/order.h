/* SPDX-License-Identifier: GPL-2.0-or-later */
/* order.h - comparison as a number: negative, zero or positive. */
#ifndef SLURMKUBE_CORE_CEL_ORDER_H
#define SLURMKUBE_CORE_CEL_ORDER_H

namespace slurmkube::core::cel
{

template <class T> int order(const T &a, const T &b)
{
	return a < b ? -1 : b < a ? 1 : 0;
}

} // namespace slurmkube::core::cel

#endif
