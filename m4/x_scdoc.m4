# X_SCDOC: scdoc makes the man pages; a tarball carries them made.
AC_DEFUN([X_SCDOC], [
  AC_ARG_VAR([SCDOC], [scdoc, which makes the man pages])
  AC_CHECK_PROG([SCDOC], [scdoc], [scdoc])
  AM_CONDITIONAL([HAVE_SCDOC], [test -n "$SCDOC"])
  AS_IF([test -n "$SCDOC"], [x_scdoc_summary=scdoc], [x_scdoc_summary="not built: install scdoc"])
])
