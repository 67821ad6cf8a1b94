/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * list_page.h - where a list goes on, known before its page is parsed: the server can work on the
 * next one meanwhile.
 */
#ifndef SLURMKUBE_CODEC_LIST_PAGE_H
#define SLURMKUBE_CODEC_LIST_PAGE_H

#include <string>
#include <string_view>

namespace slurmkube::codec
{

/* metadata.continue of a list as API servers write it: in JSON without blanks, metadata before
 * items; or in protobuf. Empty: there is none, or it cannot be seen so. Pure; foreign input. */
std::string next_page_of(std::string_view list);

} // namespace slurmkube::codec

#endif
