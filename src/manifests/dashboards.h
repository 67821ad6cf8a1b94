/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dashboards.h - the dashboards of contribs/monitoring as an object that Grafana's sidecar finds.
 */
#ifndef SLURMKUBE_MANIFESTS_DASHBOARDS_H
#define SLURMKUBE_MANIFESTS_DASHBOARDS_H

#include "src/manifests/site.h"

#include <string>

namespace slurmkube::manifests
{

/* ConfigMap with the label grafana_dashboard: "1", as YAML. */
std::string dashboards(const Site &site);

} // namespace slurmkube::manifests

#endif
