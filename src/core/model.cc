/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/model.h"

namespace slurmkube::core
{
} // namespace slurmkube::core
