/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * index_list.h - the indices of devices as Slurm writes them: "0-1,3".
 */
#ifndef SLURMKUBE_CORE_MODEL_INDEX_LIST_H
#define SLURMKUBE_CORE_MODEL_INDEX_LIST_H

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace slurmkube::core
{

/* In ascending order; empty text: none. Nothing: it is no such list, or longer than Slurm's lists
 * are (1,024). */
std::optional<std::vector<std::uint32_t>> indices_of(std::string_view text);

} // namespace slurmkube::core

#endif
