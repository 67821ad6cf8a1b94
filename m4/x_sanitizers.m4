# X_SANITIZERS: --enable-sanitizers=address,undefined or =thread; the two families cannot be mixed. =fuzzer is address,undefined and, with clang, the
# coverage that libFuzzer asks for: then "make fuzzers" links testsuite/fuzz/fuzz_*.fuzzer.
AC_DEFUN([X_SANITIZERS], [
  AC_ARG_ENABLE([sanitizers],
    [AS_HELP_STRING([--enable-sanitizers@<:@=LIST@:>@], [instrument with address,undefined (default of LIST), thread or fuzzer])],
    [], [enable_sanitizers=no])
  x_sanitizers= FUZZER_LDFLAGS= FORTIFY_CPPFLAGS=
  AS_CASE([$enable_sanitizers],
    [no], [FORTIFY_CPPFLAGS=-D_FORTIFY_SOURCE=2],
    [yes], [x_sanitizers=address,undefined],
    [fuzzer], [x_sanitizers=address,undefined,fuzzer-no-link FUZZER_LDFLAGS=-fsanitize=fuzzer],
    [*address*thread*|*thread*address*], [AC_MSG_ERROR([--enable-sanitizers=$enable_sanitizers: address and thread exclude each other; build twice])],
    [x_sanitizers=$enable_sanitizers])
  SANITIZER_FLAGS=${x_sanitizers:+"-fsanitize=$x_sanitizers -fno-omit-frame-pointer -fno-sanitize-recover=all"}
  AC_SUBST([SANITIZER_FLAGS])
  AM_CONDITIONAL([SANITIZED], [test -n "$x_sanitizers"])
  AC_SUBST([FUZZER_LDFLAGS])
  AC_SUBST([FORTIFY_CPPFLAGS])
])
