# X_SANITIZERS: --enable-sanitizers=address,undefined or =thread; the two families cannot be mixed.
AC_DEFUN([X_SANITIZERS], [
  AC_ARG_ENABLE([sanitizers],
    [AS_HELP_STRING([--enable-sanitizers@<:@=LIST@:>@], [instrument with address,undefined (default of LIST) or thread])],
    [], [enable_sanitizers=no])
  AS_CASE([$enable_sanitizers],
    [no], [SANITIZER_FLAGS=],
    [yes], [enable_sanitizers=address,undefined],
    [*address*thread*|*thread*address*], [AC_MSG_ERROR([--enable-sanitizers=$enable_sanitizers: address and thread exclude each other; build twice])])
  AS_IF([test "x$enable_sanitizers" != xno], [SANITIZER_FLAGS="-fsanitize=$enable_sanitizers -fno-omit-frame-pointer -fno-sanitize-recover=all"])
  AC_SUBST([SANITIZER_FLAGS])
])
