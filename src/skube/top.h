/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * top.h - skube top: what waits, what runs, how fast, and which pod has waited longest.
 */
#ifndef SLURMKUBE_SKUBE_TOP_H
#define SLURMKUBE_SKUBE_TOP_H

#include "src/skube/list.h"

#include <json-c/json.h>

#include <string>

namespace slurmkube::skube
{

/* Two replies to `top`, and the seconds between them; before may be null: no rates. */
struct TopSample {
	json_object *now = nullptr, *before = nullptr;
	double seconds = 0;
	std::int64_t clock = 0; /* seconds since the epoch, for ages */
};

/* The page, with a final newline. No line is wider than the style allows. Pure. */
std::string top_page(const TopSample &sample, TextStyle style);

struct TopRequest {
	Format format = Format::table; /* or json or yaml: one reply as data */
	std::string socket = {};
	bool once = false;
};

/* On a terminal, draws a page every 2 s until a signal ends skube; else, or with once, prints one
 * page with the rates of one second. Returns the exit status. */
int top(const TopRequest &wanted);

} // namespace slurmkube::skube

#endif
