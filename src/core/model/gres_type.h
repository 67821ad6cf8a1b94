/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gres_type.h - text of Kubernetes as the type of a generic resource (GRES) of Slurm.
 */
#ifndef SLURMKUBE_CORE_MODEL_GRES_TYPE_H
#define SLURMKUBE_CORE_MODEL_GRES_TYPE_H

#include <string>

namespace slurmkube::core
{

/* Slurm compares types by case, so all are in lower case. Characters other than letters, digits,
 * '-', '_' and '.' become '_', because they would end the word. */
std::string as_gres_type(const std::string &text);

} // namespace slurmkube::core

#endif
