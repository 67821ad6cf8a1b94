# X_CXX20: the compiler speaks C++20 (GCC 11, Clang 14). Adds the flag to CXX, as AX_CXX_COMPILE_STDCXX does.
AC_DEFUN([X_CXX20], [
  AC_LANG_PUSH([C++])
  CXX="$CXX -std=c++20"
  AC_MSG_CHECKING([whether $CXX compiles C++20])
  AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#include <compare>
    struct S { int a; auto operator<=>(const S &) const = default; };]], [[return S{1} < S{.a = 2} ? 0 : 1;]])],
    [AC_MSG_RESULT([yes])],
    [AC_MSG_RESULT([no])
     AC_MSG_ERROR([a C++20 compiler is needed: GCC 11 or Clang 14, or later; give it with CXX=])])
  AC_LANG_POP([C++])
])
