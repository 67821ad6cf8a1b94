/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * selectors.cc - our verdicts on CEL selectors and devices, for the cases that "oracle cel" judges,
 * in the same order.
 *
 * Each line on stdin is a case: "selector", "driver" and "device". Each line on stdout has
 * "refused" (the selector does not compile), "error" (it fails on the device) or "match", and the
 * "cost".
 */
#include "src/codec/json.h"
#include "src/core/cel/selector.h"

#include <cstdio>
#include <iostream>

using namespace slurmkube;
namespace cel = slurmkube::core::cel;

namespace
{

[[noreturn]] void give_up(const std::string &why)
{
	(void)fprintf(stderr, "selectors: %s\n", why.c_str());
	std::exit(1);
}

template <class T> T needed(std::optional<T> value, const char *what)
{
	if (!value)
		give_up(std::string("not a ") + what);
	return *std::move(value);
}

cel::Attribute attribute_of(json_object *value)
{
	if (codec::get(value, "int") != nullptr)
		return codec::get_int(value, "int");
	if (codec::get(value, "bool") != nullptr)
		return codec::get_bool(value, "bool");
	if (codec::get(value, "version") != nullptr)
		return needed(cel::Version::parse(codec::get_string(value, "version")), "version");
	return codec::get_string(value, "string");
}

cel::Device device_of(json_object *one)
{
	json_object *given = codec::get(one, "device");
	cel::Device device;
	device.driver = codec::get_string(one, "driver");
	device.allow_multiple_allocations = codec::get_bool(given, "allowMultipleAllocations");
	for (const auto &[name, unused] : codec::get_strings(codec::get(given, "attributes")))
		cel::add_attribute(
			device, name, attribute_of(codec::get(given, "attributes", name.c_str())));
	for (const auto &[name, unused] : codec::get_strings(codec::get(given, "capacity")))
		cel::add_capacity(device, name,
			needed(cel::Quantity::parse(codec::get_string(
				       codec::get(given, "capacity", name.c_str()), "value")),
				"quantity"));
	return device;
}

codec::Json answer(json_object *one)
{
	codec::Json out = codec::new_object();
	const auto selector = cel::compile(codec::get_string(one, "selector"));
	if (!selector) {
		codec::put(out.get(), "refused", selector.error().what);
		return out;
	}
	std::size_t cost = 0;
	const auto match = cel::matches(*selector, device_of(one), cost);
	codec::put(out.get(), "cost", static_cast<std::uint64_t>(cost));
	if (match)
		codec::put(out.get(), "match", *match);
	else
		codec::put(out.get(), "error", match.error().what);
	return out;
}

} // namespace

int main()
{
	for (std::string line; std::getline(std::cin, line);) {
		const auto one = codec::parse_json(line, std::size_t{1} << 20);
		if (!one)
			give_up(one.error().what);
		std::cout << codec::to_text(answer(one->get()).get()) << '\n';
	}
	return 0;
}
