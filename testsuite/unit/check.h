/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * check.h - CUnit for C++: one program per module, tests named by sentences.
 *
 *	static void quantity_without_digits_is_refused() { CHECK(!parse_quantity("m").ok()); }
 *	int main() { return run_tests("quantity", {TEST(quantity_without_digits_is_refused)}); }
 *
 * CHECK continues after a failure, REQUIRE returns from the test. Never use CUnit's FATAL macros:
 * they leave by longjmp and skip destructors. A test that throws fails. The program exits with 0
 * only if every test ran and no check failed.
 */
#ifndef SLURMKUBE_TESTSUITE_UNIT_CHECK_H
#define SLURMKUBE_TESTSUITE_UNIT_CHECK_H

#include <initializer_list>
#include <sstream>
#include <string>

#if defined(__SANITIZE_ADDRESS__)
#define SLURMKUBE_IS_SANITIZED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SLURMKUBE_IS_SANITIZED true
#endif
#endif
#ifndef SLURMKUBE_IS_SANITIZED
#define SLURMKUBE_IS_SANITIZED false
#endif

namespace slurmkube::check
{

/* With sanitizers and without optimization, code is up to 90 times slower, so what only
 * repeats the same steps, until a limit stops it for example, is done less often there. */
inline constexpr bool k_is_sanitized = SLURMKUBE_IS_SANITIZED;

struct Test {
	const char *name;
	void (*body)();
};

int run_tests(const char *suite, std::initializer_list<Test> tests);

/* Records one check; returns ok. */
bool record(bool ok, const char *expression, const char *file, int line,
	const std::string &detail = {});

template <class A, class B>
bool record_equal(const A &a, const B &b, const char *expression, const char *file, int line)
{
	if (a == b)
		return record(true, expression, file, line);
	std::ostringstream text;
	if constexpr (requires(std::ostream & o) {
			      o << a;
			      o << b;
		      })
		text << "left is '" << a << "', right is '" << b << "'";
	return record(false, expression, file, line, text.str());
}

} // namespace slurmkube::check

#define TEST(function)                                                                             \
	::slurmkube::check::Test                                                                   \
	{                                                                                          \
#function, function                                                                \
	}
#define CHECK(expression)                                                                          \
	((void)::slurmkube::check::record(                                                         \
		static_cast<bool>(expression), #expression, __FILE__, __LINE__))
#define CHECK_EQUAL(a, b)                                                                          \
	((void)::slurmkube::check::record_equal((a), (b), #a " == " #b, __FILE__, __LINE__))
#define REQUIRE(expression)                                                                        \
	do {                                                                                       \
		if (!::slurmkube::check::record(                                                   \
			    static_cast<bool>(expression), #expression, __FILE__, __LINE__))       \
			return;                                                                    \
	} while (0)

#endif
