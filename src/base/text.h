/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * text.h - makes text from other sources safe for lines that people read: logs, messages,
 * terminals.
 */
#ifndef SLURMKUBE_BASE_TEXT_H
#define SLURMKUBE_BASE_TEXT_H

#include <cstddef>
#include <string>

namespace slurmkube
{

/* Replaces every control character, including C1 in UTF-8, by '?': it could end the line or control
 * a terminal. In place. */
void make_printable(char *text, std::size_t size);
std::string printable(std::string text);

} // namespace slurmkube

#endif
