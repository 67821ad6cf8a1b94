/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "testsuite/unit/check.h"

#include "src/base/guard.h"

#include <CUnit/Basic.h>

#include <cstdio>
#include <vector>

namespace slurmkube::check
{

namespace
{

/* CUnit calls plain functions without arguments: the n-th call runs the n-th test. */
std::vector<Test> g_tests;
std::size_t g_next = 0;

void run_next()
{
	const Test test = g_tests.at(g_next++);
	(void)guard(
		0, [&](const char *what) { (void)record(false, what, test.name, 0); },
		[&] {
			test.body();
			return 0;
		});
}

} // namespace

bool record(bool ok, const char *expression, const char *file, int line, const std::string &detail)
{
	CU_assertImplementation(ok ? CU_TRUE : CU_FALSE, static_cast<unsigned>(line), expression,
		file, "", CU_FALSE);
	if (!ok)
		(void)fprintf(stderr, "%s:%d: %s\n%s%s", file, line, expression, detail.c_str(),
			detail.empty() ? "" : "\n");
	return ok;
}

int run_tests(const char *suite, std::initializer_list<Test> tests)
{
	g_tests = tests;
	if (CU_initialize_registry() != CUE_SUCCESS)
		return 1;
	CU_pSuite registered = CU_add_suite(suite, nullptr, nullptr);
	for (const Test &test : g_tests)
		(void)CU_add_test(registered, test.name, run_next);
	CU_basic_set_mode(CU_BRM_VERBOSE);
	(void)CU_basic_run_tests();
	const bool all_ran = CU_get_number_of_tests_run() == g_tests.size() && !g_tests.empty();
	const bool none_failed = CU_get_number_of_failure_records() == 0;
	CU_cleanup_registry();
	return all_ran && none_failed ? 0 : 1;
}

} // namespace slurmkube::check
