# X_UNITY: most of the time to compile a file of src goes into the headers that it includes, so the
# files of a folder are compiled together; doc/design/testing.md.
AC_DEFUN([X_UNITY], [
  AC_ARG_ENABLE([unity],
    [AS_HELP_STRING([--disable-unity], [compile each file alone: slower as a whole, faster after a change of one file])],
    [], [enable_unity=yes])
  AM_CONDITIONAL([UNITY], [test "x$enable_unity" != xno])
])
