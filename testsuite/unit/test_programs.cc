/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs that ours run: their output and how they end. */
#include "src/base/programs.h"
#include "testsuite/unit/check.h"

using namespace slurmkube;

namespace
{

void the_output_comes_whole()
{
	const auto text = output_of({"echo", "a  b"});
	CHECK(text.ok() && *text == "a  b\n");
	const auto much = output_of({"head", "-c", "1000000", "/dev/zero"});
	CHECK(much.ok() && much->size() == 1000000);
}

void what_cannot_be_run_or_fails_is_an_error()
{
	const auto missing = output_of({"no-such-program-of-ours"});
	CHECK(!missing.ok() && missing.error().code == Errc::not_found);
	const auto fails = output_of({"false"});
	CHECK(!fails.ok() && fails.error().code == Errc::invalid);
}

/* The program ends although its remaining output is not read. */
void too_much_output_is_an_error()
{
	const auto endless = output_of({"cat", "/dev/zero"});
	CHECK(!endless.ok() && endless.error().code == Errc::too_large);
}

} // namespace

int main()
{
	return check::run_tests("programs",
		{TEST(the_output_comes_whole), TEST(what_cannot_be_run_or_fails_is_an_error),
			TEST(too_much_output_is_an_error)});
}
