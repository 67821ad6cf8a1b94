/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * list_request.h - from the options of `skube show` to the request and to the look of its reply.
 */
#ifndef SLURMKUBE_SKUBE_LIST_REQUEST_H
#define SLURMKUBE_SKUBE_LIST_REQUEST_H

#include "src/codec/json.h"
#include "src/skube/list.h"
#include "src/skube/options.h"

namespace slurmkube::skube
{

/* "wide", "name", "json", "yaml", or empty for a table; json is the option --json. data_only: only
 * json and yaml. invalid: another word, or --json together with another format. */
Result<Format> format_of(const Options &options, bool data_only);

/* The text with the numbers of users in place of their names. invalid: a text that
 * parse_selection() refuses, a user that this host does not have, or --namespace together with
 * --all-namespaces. */
Result<core::SelectionText> selection_of(const List &list, const Options &options);

/* The member "select" of the request; null if nothing is selected. */
codec::Json select_member(const core::SelectionText &text);

} // namespace slurmkube::skube

#endif
