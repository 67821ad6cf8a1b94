# X_CUNIT: CUnit, without which the unit tests are not built.
AC_DEFUN([X_CUNIT], [
  PKG_CHECK_MODULES([CUNIT], [cunit], [x_cunit=yes x_cunit_summary="CUnit"], [
    AC_CHECK_HEADER([CUnit/Basic.h], [AC_CHECK_LIB([cunit], [CU_initialize_registry], [x_cunit=yes CUNIT_LIBS=-lcunit], [x_cunit=no])], [x_cunit=no])
    AS_IF([test $x_cunit = yes], [x_cunit_summary=CUnit], [x_cunit_summary="not built: install CUnit"])])
  AM_CONDITIONAL([HAVE_CUNIT], [test $x_cunit = yes])
])
