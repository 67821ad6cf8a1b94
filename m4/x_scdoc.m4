# X_SCDOC: scdoc makes the man pages; a tarball carries them made. From git without scdoc there are none.
AC_DEFUN([X_SCDOC], [
  AC_ARG_VAR([SCDOC], [scdoc, which makes the man pages])
  AC_CHECK_PROG([SCDOC], [scdoc], [scdoc])
  AS_IF([test -n "$SCDOC"], [x_scdoc_summary=scdoc],
        [test -r "$srcdir/doc/man/skube.1"], [x_scdoc_summary="as delivered"],
        [x_scdoc_summary="not built: install scdoc"])
  AM_CONDITIONAL([HAVE_SCDOC], [test -n "$SCDOC"])
  AM_CONDITIONAL([HAVE_MAN_PAGES], [test -n "$SCDOC" || test -r "$srcdir/doc/man/skube.1"])
])
