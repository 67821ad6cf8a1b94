# X_SYSTEMD_UNIT_DIR: where the unit file goes: below the prefix, but for /usr where systemd itself says; --with-systemdsystemunitdir=no leaves it out.
AC_DEFUN([X_SYSTEMD_UNIT_DIR], [
  AC_ARG_WITH([systemdsystemunitdir],
    [AS_HELP_STRING([--with-systemdsystemunitdir=DIR], [directory of systemd units, or no])],
    [], [with_systemdsystemunitdir=])
  AS_IF([test -n "$with_systemdsystemunitdir"], [],
        [test "x$prefix" = x/usr], [with_systemdsystemunitdir=`$PKG_CONFIG --variable=systemdsystemunitdir systemd 2>/dev/null`])
  AS_IF([test -z "$with_systemdsystemunitdir"], [with_systemdsystemunitdir='${prefix}/lib/systemd/system'])
  systemdsystemunitdir="$with_systemdsystemunitdir"
  AC_SUBST([systemdsystemunitdir])
  AM_CONDITIONAL([HAVE_SYSTEMD_UNIT], [test "x$with_systemdsystemunitdir" != xno])
])
