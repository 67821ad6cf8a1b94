/* SPDX-License-Identifier: GPL-2.0-or-later */
/* grouped.h - several test programs in one, for the files that testsuite/unit/group writes. */
#ifndef SLURMKUBE_TESTSUITE_UNIT_GROUPED_H
#define SLURMKUBE_TESTSUITE_UNIT_GROUPED_H

namespace slurmkube::check
{

/* The program that is started with this name calls main. */
class Grouped
{
      public:
	Grouped(const char *name, int (*main)());
};

} // namespace slurmkube::check

#endif
