/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/node/containerd_status.h"

#include "src/codec/json.h"
#include "src/node/files.h"

#include <fstream>

namespace slurmkube::node
{

namespace
{

/* Its message may be what runc said. */
constexpr std::size_t k_status_max = std::size_t{1} << 20;
constexpr const char *k_folder = "io.containerd.grpc.v1.cri/containers";

std::string content_of_status(const std::filesystem::path &file)
{
	std::ifstream in(file);
	std::string text(k_status_max, '\0');
	in.read(text.data(), static_cast<std::streamsize>(text.size()));
	text.resize(static_cast<std::size_t>(in.gcount()));
	return text;
}

} // namespace

bool ContainerdStatus::has_ended(const std::string &container) const
{
	if (root_.empty() || !is_plain_name(container))
		return false;
	const Result<codec::Json> status = codec::parse_json(
		content_of_status(root_ / k_folder / container / "status"), k_status_max);
	return status && codec::get_string(status->get(), "Version") == "v1" &&
		codec::get_int(status->get(), "FinishedAt") > 0;
}

} // namespace slurmkube::node
