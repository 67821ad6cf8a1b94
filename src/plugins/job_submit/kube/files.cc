/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/plugins/job_submit/kube/files.h"

#include "src/base/owned.h"
#include "src/plugins/job_submit/kube/facts.h"

#include <cstdlib>

#include <fcntl.h>

namespace slurmkube::plugin
{

namespace
{

constexpr std::size_t k_file_max = 8 * 1024 * 1024;

} // namespace

std::string read_conf_file(const char *name)
{
	Owned<char, std::free> path(kube_seam_conf_path(name));
	UniqueFd fd(path ? open(path.get(), O_RDONLY | O_CLOEXEC) : -1);
	std::string text;
	char buffer[16384];
	ssize_t n = 0;
	while (fd && text.size() < k_file_max && (n = read(fd.get(), buffer, sizeof(buffer))) > 0)
		text.append(buffer, static_cast<std::size_t>(n));
	return text;
}

} // namespace slurmkube::plugin
