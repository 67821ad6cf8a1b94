# X_WARNINGS: warning flags that the compilers accept, in WARN_CFLAGS and WARN_CXXFLAGS; --enable-werror makes them errors.
# The user's CFLAGS and CXXFLAGS are never touched.
AC_DEFUN([X_TRY_FLAG], [
  AC_LANG_PUSH([$1])
  x_save="$$2"
  $2="$$2 -Werror $3"
  AC_COMPILE_IFELSE([AC_LANG_PROGRAM()], [$4="$$4 $3"])
  $2="$x_save"
  AC_LANG_POP([$1])
])
AC_DEFUN([X_WARNINGS], [
  AC_ARG_ENABLE([werror], [AS_HELP_STRING([--enable-werror], [warnings are errors])], [], [enable_werror=no])
  AC_MSG_CHECKING([for warning and hardening flags])
  WARN_CFLAGS= WARN_CXXFLAGS= HARDEN_FLAGS= HARDEN_LDFLAGS= NO_UNIQUE_CXXFLAGS=
  # What Slurm does not declare in this version must not become a symbol that slurmctld misses later.
  X_TRY_FLAG([C], [CFLAGS], [-Werror=implicit-function-declaration], [WARN_CFLAGS])
  x_save_ldflags="$LDFLAGS"
  LDFLAGS="$LDFLAGS -Wl,-z,relro,-z,now"
  AC_LINK_IFELSE([AC_LANG_PROGRAM()], [HARDEN_LDFLAGS="-Wl,-z,relro,-z,now"])
  LDFLAGS="$x_save_ldflags"
  m4_foreach_w([x_flag], [-Wall -Wextra -Wshadow -Wformat=2 -Wundef -Wvla -Wimplicit-fallthrough -Wmissing-declarations -Wcast-qual],
    [X_TRY_FLAG([C], [CFLAGS], x_flag, [WARN_CFLAGS])
     X_TRY_FLAG([C++], [CXXFLAGS], x_flag, [WARN_CXXFLAGS])])
  m4_foreach_w([x_flag], [-Wpedantic -Wconversion -Wsign-conversion -Wold-style-cast -Wcast-align=strict
     -Wnon-virtual-dtor -Woverloaded-virtual -Wsuggest-override -Wduplicated-cond -Wduplicated-branches
     -Wlogical-op -Wredundant-decls -Wextra-semi -Wdouble-promotion],
    [X_TRY_FLAG([C++], [CXXFLAGS], x_flag, [WARN_CXXFLAGS])])
  X_TRY_FLAG([C++], [CXXFLAGS], [-fno-gnu-unique], [NO_UNIQUE_CXXFLAGS])
  X_TRY_FLAG([C++], [CXXFLAGS], [-fstack-protector-strong], [HARDEN_FLAGS])
  AS_IF([test "x$enable_werror" = xyes], [WARN_CFLAGS="$WARN_CFLAGS -Werror" WARN_CXXFLAGS="$WARN_CXXFLAGS -Werror"])
  AC_MSG_RESULT([done])
  AC_SUBST([WARN_CFLAGS])
  AC_SUBST([WARN_CXXFLAGS])
  AC_SUBST([HARDEN_FLAGS])
  AC_SUBST([HARDEN_LDFLAGS])
  AC_SUBST([NO_UNIQUE_CXXFLAGS])
])
