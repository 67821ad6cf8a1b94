/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * list_page.h - finds the continue token of a list without parsing the page, so that the API server
 * can prepare the next page while this one is parsed.
 */
#ifndef SLURMKUBE_CODEC_LIST_PAGE_H
#define SLURMKUBE_CODEC_LIST_PAGE_H

#include <string>
#include <string_view>

namespace slurmkube::codec
{

/* metadata.continue of a list in the form in which API servers write it: JSON without blanks and
 * with metadata before items, or protobuf. Empty: there is none, or the list has another form.
 * Pure; input from other programs. */
std::string next_page_of(std::string_view list);

} // namespace slurmkube::codec

#endif
