/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/policy/slinky_node.h"

#include "src/base/text.h"

#include <algorithm>

namespace slurmkube::core
{

namespace
{

constexpr std::size_t k_features_most = 32, k_feature_max = 64;
constexpr std::size_t k_refused_most = 8, k_quoted_max = 64;
constexpr std::size_t k_annotation_max = 4096; /* more of an annotation is not read */
constexpr std::size_t k_reason_max = 200;
constexpr std::size_t k_topology_max = 1024;
constexpr std::string_view k_spec_prefix = "k8s/";
/* Slurm reads others in expressions of features, or as the end of a word. */
constexpr std::string_view k_partition_characters =
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._";
constexpr std::string_view k_spec_characters =
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._/=";

std::string value_of(const NodeAnnotations &annotations, const char *key)
{
	const auto found = annotations.find(key);
	return found == annotations.end() ? "" : found->second;
}

std::string_view trimmed(std::string_view text)
{
	const std::size_t begin = std::min(text.find_first_not_of(" \t\n"), text.size());
	const std::size_t end = text.find_last_not_of(" \t\n");
	return end == std::string_view::npos ? "" : text.substr(begin, end + 1 - begin);
}

/* Calls take(word) for each word that is not empty. */
template <class Take> void for_each_word(std::string_view list, Take take)
{
	if (list.size() > k_annotation_max) /* without the word that the limit cuts */
		list = list.substr(
			0, std::min(list.rfind(',', k_annotation_max), k_annotation_max));
	while (!list.empty()) {
		const std::size_t comma = std::min(list.find(','), list.size());
		if (const std::string_view word = trimmed(list.substr(0, comma)); !word.empty())
			take(word);
		list.remove_prefix(std::min(comma + 1, list.size()));
	}
}

bool is_word(std::string_view word, std::string_view characters)
{
	return word.size() <= k_feature_max &&
		word.find_first_not_of(characters) == std::string_view::npos;
}

void refuse(SlinkyFeatures &out, std::string_view word)
{
	if (out.refused.size() < k_refused_most)
		out.refused.push_back(printable(std::string(word.substr(0, k_quoted_max))));
}

void accept(SlinkyFeatures &out, std::string feature)
{
	if (std::ranges::find(out.features, feature) != out.features.end())
		return;
	if (out.features.size() < k_features_most)
		out.features.push_back(std::move(feature));
	else
		refuse(out, feature);
}

} // namespace

bool is_of_slinky(std::string_view annotation)
{
	return annotation == k_external_partitions || annotation == k_features_spec ||
		annotation == k_topology_spec || annotation == k_cordon_reason;
}

SlinkyFeatures slinky_features(const NodeAnnotations &annotations, const std::string &node_feature)
{
	SlinkyFeatures out;
	for_each_word(value_of(annotations, k_external_partitions), [&](std::string_view word) {
		const bool is_reserved =
			word == node_feature || word.starts_with(node_feature + "-");
		if (is_word(word, k_partition_characters) && !is_reserved)
			accept(out, std::string(word));
		else
			refuse(out, word);
	});
	for_each_word(value_of(annotations, k_features_spec), [&](std::string_view word) {
		if (is_word(word, k_spec_characters))
			accept(out, std::string(k_spec_prefix) + std::string(word));
		else
			refuse(out, word);
	});
	return out;
}

std::string slinky_topology(const NodeAnnotations &annotations)
{
	std::string spec = value_of(annotations, k_topology_spec);
	if (spec.size() > k_topology_max)
		spec.clear();
	return spec;
}

std::string slinky_cordon_reason(const NodeAnnotations &annotations)
{
	const std::string text = value_of(annotations, k_cordon_reason);
	return printable(std::string(trimmed(text).substr(0, k_reason_max)));
}

} // namespace slurmkube::core
