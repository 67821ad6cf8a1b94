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

/* Replaces by '?' every byte of control characters, including C1, which could end the line or
 * control a terminal, and every byte that is not UTF-8 (RFC 3629), which would make JSON invalid:
 * texts of others are cut at a number of bytes. In place. */
void make_printable(char *text, std::size_t size);
std::string printable(std::string text);

} // namespace slurmkube

#endif
