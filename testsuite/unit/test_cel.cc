/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CEL selectors that are understood. Kubernetes has the same verdicts, errors included: they were
 * compared with those of testsuite/oracle. */
#include "testsuite/unit/cel_device.h"
#include "testsuite/unit/check.h"

#include <vector>

using namespace slurmkube;
using namespace slurmkube::unit;

namespace
{

struct Row {
	const char *selector, *verdict;
};

void check_rows(const std::vector<Row> &rows)
{
	for (const Row &row : rows)
		CHECK_EQUAL(row.selector + (" is " + verdict(row.selector)),
			row.selector + (" is " + std::string(row.verdict)));
}

void selectors_in_use_are_understood()
{
	check_rows({
		{"device.driver == 'gpu.nvidia.com' && @.type == 'gpu'", "true"},
		{"device.driver == 'gpu.nvidia.com' && @.type == 'mig'", "false"},
		{"device.driver == 'compute-domain.nvidia.com' && @.id == 0", "false"},
		{"device.driver == \"dra.cpu\"", "false"},
		{"@.type == '1g.5gb'", "false"},
		{"@.productName == \"Tesla T4\"", "false"},
		{"@.productName.lowerAscii().matches('^.*a100.*$')", "true"},
		{"#.multiprocessors.isLessThan(quantity(\"30\"))", "false"},
		{"device.attributes[\"resource.kubernetes.io\"].numaNode == 0", "true"},
		{"#.memory.compareTo(quantity('4Gi')) >= 0", "true"},
		{"@.type in ['mig', 'gpu']", "true"},
		{"@.?isSriovVf.orValue(false)", "false"},
		{"@.rdma == true", "true"},
		{"@.rdma", "true"},
		{"#.memory.isGreaterThan(quantity(\"20Gi\"))", "true"},
		{"@.index >= 2", "true"},
		{"@.driverVersion.isGreaterThan(semver('1.2.2'))", "true"},
		{"cel.bind(dra, @, dra.type == 'gpu' && dra.rdma)", "true"},
		{"has(@.type) && @.type != ''", "true"},
		/* of an older API */
		{"device.attributes[\"memory\"] == 1", "refused"},
		{"@.type.stringValue == 'gpu'", "error"},
	});
}

void what_is_missing_is_an_error()
{
	check_rows({
		{"@.absent == 1", "error"},
		{"@[\"absent\"] == 1", "error"},
		{"#.absent.compareTo(quantity('1')) == 0", "error"},
		{"device.attributes[\"absent.com\"].type == 'gpu'", "error"},
		{"has(@.absent)", "false"},
		{"has(device.attributes[\"absent.com\"].type)", "false"},
		{"has(device.attributes.absent)", "true"}, /* as an empty map */
		{"has(@.type.absent)", "false"},
		{"has(@.absent.absent)", "error"},
		{"has(device.driver)", "true"},
		{"\"absent.com\" in device.attributes", "false"},
		{"\"gpu.nvidia.com\" in device.attributes", "true"},
		{"\"type\" in @ && \"memory\" in # && !(\"type\" in #)", "true"},
		{"size(@) == 7 && size(device.attributes) == 2", "true"},
		{"size(device.attributes[\"absent.com\"]) == 0", "true"},
	});
}

void an_id_without_domain_has_the_drivers()
{
	check_rows({
		{"@.type == 'gpu' && @.productName == 'NVIDIA A100-SXM4'", "true"},
		{"device.attributes[\"\"].type == 'gpu'", "error"},
		{"device.attributes['resource.kubernetes.io'][\"numaNode\"] == 0", "true"},
		{"cel.bind(d, device.driver, device.attributes[d].type == 'gpu')", "true"},
	});
}

void optionals_have_a_value_or_none()
{
	check_rows({
		{"@.?type.orValue('x') == 'gpu'", "true"},
		{"@.?absent.orValue('x') == 'x'", "true"},
		{"@[?\"absent\"].orValue('x') == 'x'", "true"},
		{"@.?rdma.orValue(false)", "true"},
		{"@.?type.hasValue() && !@.?absent.hasValue()", "true"},
		{"@.?type.value() == 'gpu'", "true"},
		{"@.?absent.value() == 'gpu'", "error"},
		{"@.?type.absent.hasValue()", "false"},
		{"@.type.?absent.hasValue()", "false"},
		{"device.?attributes[\"gpu.nvidia.com\"].type.orValue('x') == 'gpu'", "true"},
		{"#.?memory.orValue(quantity('0')).isGreaterThan(quantity('1'))", "true"},
		{"[1, 2][?5].orValue(7) == 7", "true"},
		{"@.?type.orValue(@.absent) == 'gpu'", "true"}, /* not evaluated */
		{"cel.bind(o, @.?type, o.hasValue() && o.value() == 'gpu')", "true"},
		{"@.?type == 'gpu'", "refused"},
		{"@.?type", "refused"},
		{"#.?memory.orValue('0') == 'x'", "refused"},
	});
}

void and_and_or_absorb_errors()
{
	check_rows({
		{"@.absent && false", "false"},
		{"false && @.absent", "false"},
		{"@.absent && true", "error"},
		{"@.absent || true", "true"},
		{"@.absent || false", "error"},
		{"@.type && false", "false"}, /* a string is an error here */
		{"@.type || @.rdma", "true"},
		{"@.type && @.rdma", "error"},
		{"true && true && @.absent && true && false", "false"},
		{"[1, 2].exists(x, @.absent == x || x == 2)", "true"},
		{"[1, 2].exists(x, @.absent == x)", "error"},
		{"[1, 2].all(x, @.absent == x && x == 2)", "false"},
		{"[1, 2].all(x, x == 1 || @.absent == x)", "error"},
		{"true ? @.rdma : @.absent", "true"},
		{"@.type ? true : true", "error"},
		{"@.absent ? true : true", "error"},
	});
}

void operators_have_their_precedence()
{
	check_rows({
		{"true || true && false", "true"},
		{"(true || true) && false", "false"},
		{"!false && true", "true"},
		{"!true == false", "true"},
		{"1 + 2 * 3 == 7 && (1 + 2) * 3 == 9", "true"},
		{"7 - 2 - 1 == 4 && 8 / 2 / 2 == 2 && 7 % 4 * 2 == 6", "true"},
		{"1 < 2 == true", "true"},
		{"-2 + 3 == 1 && - 2 == 0 - 2 && 3 -2 == 1", "true"},
		{"false ? true : false ? true : true", "true"},
		{"true ? false ? true : false : true", "refused"},
		{"1 + 1 in [2]", "true"},
		{"-@.index == -3", "true"},
		{"@.rdma ? @.index == 3 : @.absent", "true"},
	});
}

void numbers_are_compared_across_types()
{
	check_rows({
		{"@.index == 3.0 && @.index < 3.5 && 2 < 2.5 && 2.5 < 3", "true"},
		{"1 == 1.0", "refused"},
		{"@.index in [1.0, 3.0]", "true"},
		{"@.index in [3.5]", "false"},
		{"@.largest == 9223372036854775807.0", "true"}, /* compared as doubles */
		{"@.largest < 1e300 && @.largest > -1e300", "true"},
		{"0.0 / 0.0 == 0.0 / 0.0", "false"},
		{"0.0 / 0.0 < 1.0", "error"},
		{"1.0 / 0.0 > 1e300", "true"},
		{"@.index == '3'", "false"},
		{"'3' == @.index", "false"},
		{"@.index < '3'", "error"},
		{"@.rdma < @.index", "error"},
		{"false < true && 'a' < 'b' && 'B' < 'a'", "true"},
	});
}

void arithmetic_overflows_with_an_error()
{
	check_rows({
		{"9223372036854775807 + 1 > 0", "error"},
		{"-9223372036854775808 - 1 < 0", "error"},
		{"9223372036854775807 * 2 > 0 || true", "true"},
		{"-9223372036854775808 / -1 > 0", "error"},
		{"-9223372036854775808 % -1 == 0", "error"},
		{"-(-9223372036854775808) > 0", "error"},
		{"5 / 0 == 0", "error"},
		{"5 % 0 == 0", "error"},
		{"-7 / 2 == -3 && -7 % 2 == -1", "true"},
		{"@.largest + 1 > 0", "error"},
		{"@.index + 1 == 4 && @.index * 1.0 > 0.0", "error"},
		{"'a' + @.type == 'agpu'", "true"},
		{"'a' + @.index == 'a3'", "error"},
		{"0x10 == 16 && -0x8000000000000000 < 0", "true"},
		{".5 + 1e1 == 10.5", "true"},
	});
}

void quantities_and_versions_have_their_own_comparisons()
{
	check_rows({
		{"#.memory == quantity('42949672960') && #.memory != quantity('40G')", "true"},
		{"#.memory.compareTo(quantity('40.0000000001Gi')) == -1", "true"},
		{"sign(#.memory) == 1 && sign(quantity('-1n')) == -1", "true"},
		{"isQuantity('1Gi') && !isQuantity('1Gb') && !isQuantity(@.type)", "true"},
		{"quantity(@.type) == #.memory", "error"},
		{"#.memory < quantity('1')", "refused"},
		{"#.memory == @.index", "error"}, /* a quantity equals no other type */
		{"@.index == #.memory", "false"}, /* but not the other way round */
		{"#.memory != @.index", "true"},
		{"@.driverVersion == semver('1.2.3-rc.1')", "true"},
		{"@.driverVersion == '1.2.3-rc.1'", "error"},
		{"'1.2.3-rc.1' == @.driverVersion", "false"},
		{"@.driverVersion != '1.2.3-rc.1'", "true"},
		{"@.driverVersion.compareTo(semver('1.2.3')) == -1", "true"},
		{"@.driverVersion.isLessThan(quantity('1'))", "error"},
		{"#.memory.isLessThan(semver('1.0.0'))", "refused"},
		{"@.driverVersion in ['1.2.3-rc.1'] || true", "error"}, /* and not absorbed */
		{"@.driverVersion in [semver('1.2.3-rc.1')]", "true"},
		{"isSemver('1.0.0') && !isSemver('1.0')", "true"},
		{"semver(@.type) == semver('1.0.0')", "error"},
	});
}

void strings_have_functions()
{
	check_rows({
		{"@.greeting.size() == 5 && size(@.greeting) == 5", "true"},
		{"@.index.size() == 1", "error"},
		{"@.greeting.startsWith('Gr\u00FC') && @.greeting.endsWith('e')", "true"},
		{"@.greeting.contains('\u00FC') && @.greeting.contains('')", "true"},
		{"@.greeting.upperAscii() == 'GR\u00FC\u00DFE'", "true"},
		{"@.index.startsWith('3')", "error"},
		{"@.greeting.matches('^Gr..e$') && matches(@.greeting, 'r.')", "true"},
		{"'gpu'.matches(\"g\") == @.type.matches(r'^\\w+$')", "true"},
		{"@.index.matches('3')", "error"},
	});
}

void lists_and_keys_are_searched()
{
	check_rows({
		{"2 in [1, 2] && !(3 in [1, 2])", "true"},
		{"@.index in [@.index]", "true"},
		{"'gpu' in @.type", "error"},
		{"[1, 2, 3,].exists(x, x == 2) && [1, 2].all(x, x > 0)", "true"},
		{"[1, 2].exists(x, [2, 3].exists(y, x == y))", "true"},
		{"@.exists(k, k == 'type') && device.attributes.all(k, k.contains('.'))", "true"},
		{"@.type.exists(x, true)", "error"},
		{"[1, 2][1] == 2 && [@.index][0] == 3", "true"},
		{"[1, 2][2] == 2", "error"},
		{"@.type[0] == 'g'", "error"},
		{"[3, 4].size() == 2 && size([1]) == 1", "true"},
		{"[0.0 / 0.0].exists(x, x == x)", "false"},
	});
}

void what_bind_declares_is_evaluated_when_used()
{
	check_rows({
		{"cel.bind(x, @.absent, true)", "true"},
		{"cel.bind(x, @.absent, x == 1)", "error"},
		{"cel.bind(x, 1, cel.bind(x, x + 1, x == 2))", "true"},
		{"cel.bind(x, @.driverVersion in ['1.2.3'], true)", "true"},
		{"cel.bind(x, cel.bind(y, 1, cel.bind(z, 2, z)), [3].all(e, x == 2 && e == 3))",
			"true"},
		{"[1, 2].all(e, cel.bind(x, e, x == e))", "true"},
		{"cel.bind(d, device, d.driver == 'gpu.nvidia.com')", "true"},
		{"cel.bind(x, 1, true) && x == 1", "refused"},
	});
}

void strings_are_written_in_many_ways()
{
	check_rows({
		{R"('\x41\u0042\U00000043\104' == "ABCD")", "true"},
		{R"('\a\b\f\n\r\t\v\\\'\"\`\?'.size() == 12)", "true"},
		{R"(r'\d' == "\\d" && R"\" == '\\')", "true"},
		{"'''a\n'b''' == \"a\\n'b\"", "true"},
		{"'''a\r\nb''' == 'a\\nb'", "true"},
		{R"("""a"b""" == 'a"b' && r'''\''' == "\\")", "true"},
		{"'' == \"\" && '''''' == ''", "true"},
		{R"('\u00fc' == '\xfc' && '\U0001F600'.size() == 1)", "true"},
		{"true // a comment", "true"},
		{" \t\r\n\ftrue", "true"},
	});
}

void the_result_must_be_true_or_false()
{
	check_rows({
		{"@.index", "error"},
		{"@.type", "error"},
		{"@.rdma && true", "true"},
		{"device.allowMultipleAllocations", "false"},
		{"@.rdma ? @.rdma : 'x'", "true"},
		{"@.rdma ? @.type : false", "error"},
	});
}

} // namespace

int main()
{
	return check::run_tests("cel",
		{
			TEST(selectors_in_use_are_understood),
			TEST(what_is_missing_is_an_error),
			TEST(an_id_without_domain_has_the_drivers),
			TEST(optionals_have_a_value_or_none),
			TEST(and_and_or_absorb_errors),
			TEST(operators_have_their_precedence),
			TEST(numbers_are_compared_across_types),
			TEST(arithmetic_overflows_with_an_error),
			TEST(quantities_and_versions_have_their_own_comparisons),
			TEST(strings_have_functions),
			TEST(lists_and_keys_are_searched),
			TEST(what_bind_declares_is_evaluated_when_used),
			TEST(strings_are_written_in_many_ways),
			TEST(the_result_must_be_true_or_false),
		});
}
