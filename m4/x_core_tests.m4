# X_CORE_TESTS: what tests only src/core and src/base does not depend on the Slurm and the libraries at hand. testsuite/check
# builds the project several times and runs those tests once.
AC_DEFUN([X_CORE_TESTS], [
  AC_ARG_ENABLE([core-tests],
    [AS_HELP_STRING([--disable-core-tests], [leave out the unit tests and the simulator of src/core])],
    [], [enable_core_tests=yes])
  AM_CONDITIONAL([CORE_TESTS], [test "x$enable_core_tests" != xno])
])
