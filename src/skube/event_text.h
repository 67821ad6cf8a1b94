/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * event_text.h - the events of `skube watch` as text for people: which object, and what is new of
 * it. Pure.
 */
#ifndef SLURMKUBE_SKUBE_EVENT_TEXT_H
#define SLURMKUBE_SKUBE_EVENT_TEXT_H

#include <json-c/json.h>

#include <map>
#include <string>
#include <vector>

namespace slurmkube::skube
{

class EventText
{
      public:
	/* The text for a line of the agent: one line for an object that has changed so that people
	 * see it, several where a new list lacks objects, none for the rest. clock: begins each
	 * line. */
	std::string of(json_object *event, const std::string &clock);

      private:
	struct Shown {
		std::string name; /* "pod lab/train-0" */
		std::vector<std::string>
			facts;            /* each kind has its own; an empty one says nothing */
		bool is_confirmed = true; /* false: a new list has not had it yet */
	};

	void begin_list();
	std::string end_list(const std::string &clock);
	std::string seen(const std::string &key, Shown now, const std::string &clock);
	std::string gone(const std::string &key, const std::string &name, const std::string &clock);

	std::map<std::string, Shown> shown_; /* by kind and identity */
};

} // namespace slurmkube::skube

#endif
