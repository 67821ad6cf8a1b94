/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * selection.h - which rows of `skube show` a client wants. skube checks the texts before it asks,
 * and the agent parses the same texts and leaves out the other rows.
 *
 * Pure. A row must satisfy every criterion that is given.
 */
#ifndef SLURMKUBE_CORE_INSPECT_SELECTION_H
#define SLURMKUBE_CORE_INSPECT_SELECTION_H

#include "src/base/result.h"
#include "src/core/model/job.h"
#include "src/core/model/label_selector.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace slurmkube::core
{

enum class ListKind { jobs, pods, nodes };

/* As on the command line and in the request; an empty text is no criterion. */
struct SelectionText {
	std::string namespaces = {}; /* "lab,physics" */
	std::string labels = {};     /* in kubectl's syntax; the labels of a pod or node */
	std::string states = {};     /* "RUNNING,PD", in any case */
	std::string users = {};      /* numbers: "1001,1002" */
	std::string nodes = {};      /* a host list: "n[1-3],m1" */
	bool active = false;         /* without what has ended */
	bool operator==(const SelectionText &) const = default;
};

/* An empty member is no criterion. */
struct Selection {
	std::set<std::string> namespaces;
	LabelSelector labels;
	std::set<std::string> states; /* full names in capitals */
	std::set<std::uint32_t> users;
	std::set<std::string> nodes;
	bool active = false;
};

/* invalid, too_large: the error quotes the wrong part and says what is accepted. */
Result<Selection> parse_selection(ListKind kind, const SelectionText &text);

/* What a selection looks at in a row. Pointers are borrowed. */
struct Selectable {
	std::string name_space = {};
	const std::map<std::string, std::string> *labels = nullptr; /* nullptr: has none */
	std::vector<std::string> states = {}; /* each word that the row answers to */
	std::int64_t user = -1;               /* -1: unknown, which no user matches */
	std::vector<std::string> nodes = {};
	bool has_ended = false;
};

bool selects(const Selection &selection, const Selectable &row);

/* Slurm's name of a state, as squeue and sacct print it: "OUT_OF_MEMORY". */
const char *slurm_state_name(JobState state);

/* The state names that a list knows, for error messages and completion. */
const std::vector<std::string_view> &state_names(ListKind kind);

/* Whether the phase of a pod has this name, in capitals. A pod answers to its phase, and to the
 * state of its job only where no phase has that name: `--state RUNNING` means running pods. */
bool is_phase_name(std::string_view name);

/* ASCII letters as capitals. */
std::string upper(std::string_view text);

} // namespace slurmkube::core

#endif
