# X_SLURM: libslurm for the agent, and the source tree of the same Slurm for the plugin.
#
#   --with-slurm=PREFIX        an installed Slurm (include/slurm, lib/libslurm.so); default: the system's
#   --with-slurm-src=DIR       its source tree. Without it the plugin is not built. With --enable-plugin-only libslurm is not needed,
#                              and the tree may be any.
#   --with-slurm-build=DIR     where that tree's config.h is; default: DIR itself, else we run its configure into ./slurm-config
#   --enable-untested-slurm    also for a release series that no test of ours has run with
#   --with-slurm-plugindir=DIR where the plugin goes; default: the directory of the installed Slurm's plugins
#
# The plugin must match slurmctld exactly, micro version included (src/common/plugin.c of Slurm), so a tree of another version is an error.
AC_DEFUN([X_TREE_VERSION], [x_tree_version=`$SED -n 's/^ *Version:[[[:space:]]]*//p' "$with_slurm_src/META"`])
AC_DEFUN([X_SLURM], [
  AC_ARG_WITH([slurm], [AS_HELP_STRING([--with-slurm=PREFIX], [an installed Slurm])], [], [with_slurm=])
  AC_ARG_WITH([slurm-src], [AS_HELP_STRING([--with-slurm-src=DIR], [source tree of that Slurm, for the plugin])], [], [with_slurm_src=])
  AC_ARG_WITH([slurm-build], [AS_HELP_STRING([--with-slurm-build=DIR], [directory of its config.h])], [], [with_slurm_build=])
  AC_ARG_ENABLE([untested-slurm], [AS_HELP_STRING([--enable-untested-slurm], [also for a Slurm that was never tested])], [], [enable_untested_slurm=no])
  AC_ARG_WITH([slurm-plugindir], [AS_HELP_STRING([--with-slurm-plugindir=DIR], [directory of Slurm's plugins])], [], [with_slurm_plugindir=])

  SLURM_CPPFLAGS= SLURM_LIBS=-lslurm
  AS_IF([test -n "$with_slurm"], [
    AS_IF([test -r "$with_slurm/include/slurm/slurm.h"], [],
      [AC_MSG_ERROR([--with-slurm=$with_slurm: there is no include/slurm/slurm.h; give the prefix of an installed Slurm])])
    SLURM_CPPFLAGS="-isystem $with_slurm/include"
    SLURM_LIBS="-L$with_slurm/lib -Wl,-rpath,$with_slurm/lib -lslurm"])
  x_save_cppflags="$CPPFLAGS" x_save_libs="$LIBS"
  CPPFLAGS="$CPPFLAGS $SLURM_CPPFLAGS" LIBS="$SLURM_LIBS $LIBS"
  AS_IF([test "x$enable_plugin_only" = xyes], [
    AS_IF([test -r "$with_slurm_src/META"], [], [AC_MSG_ERROR([--enable-plugin-only needs --with-slurm-src=DIR, the top of a Slurm source tree])])
    X_TREE_VERSION
    [x_hex=`echo "$x_tree_version" | $SED 's/^\([0-9]*\)\.0*\([0-9]*\)\.\([0-9]*\).*/((\1 << 16) + (\2 << 8) + \3)/'`]
    CPPFLAGS="$CPPFLAGS -include confslurm.h"
    echo "@%:@define SLURM_VERSION_NUMBER $x_hex" > confslurm.h
    x_version_of="the Slurm tree"
  ], [
    AC_CHECK_HEADER([slurm/slurm.h], [], [AC_MSG_ERROR([slurm/slurm.h not found: install libslurm-dev, or give --with-slurm=PREFIX])])
    AC_MSG_CHECKING([for libslurm])
    AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <slurm/slurm.h>]], [[slurm_init(0);]])], [AC_MSG_RESULT([yes])],
      [AC_MSG_RESULT([no])
       AC_MSG_ERROR([libslurm cannot be linked: install libslurm-dev, or give --with-slurm=PREFIX])])
    CPPFLAGS="$CPPFLAGS -include slurm/slurm_version.h"
    x_version_of=libslurm])
  AC_MSG_CHECKING([for the version of $x_version_of])
  cat > conftest.c <<END
#include "src/base/slurm_versions.h"
x_number SLURM_VERSION_NUMBER
x_is_tested KUBE_SLURM_IS_TESTED(SLURM_VERSION_NUMBER)
x_tested KUBE_SLURM_TESTED
END
  $CC -E -P -I"$srcdir" $CPPFLAGS conftest.c > conftest.facts 2>/dev/null
  rm -f confslurm.h
  x_number=$(( `$SED -n 's/^x_number *//p' conftest.facts` + 0 ))
  x_is_tested=$(( `$SED -n 's/^x_is_tested *//p' conftest.facts` + 0 ))
  x_tested=`$SED -n 's/^x_tested *"\(.*\)"/\1/p' conftest.facts`
  x_libslurm_version=`printf '%02d.%02d.%d' $(( (x_number >> 16) & 255 )) $(( (x_number >> 8) & 255 )) $(( x_number & 255 ))`
  AC_MSG_RESULT([$x_libslurm_version])
  CPPFLAGS="$x_save_cppflags" LIBS="$x_save_libs"
  AS_CASE([$x_is_tested.$enable_untested_slurm],
    [1.*|*.yes], [],
    [AC_MSG_ERROR([Slurm $x_libslurm_version was never tested with slurm-kube, which looks into slurmctld's own structures: tested are $x_tested.
      To build it all the same, and test it before it meets users: --enable-untested-slurm])])

  AS_IF([test -n "$with_slurm_plugindir"], [slurm_plugindir="$with_slurm_plugindir"],
        [test -n "$with_slurm"], [slurm_plugindir="$with_slurm/lib/slurm"],
        [slurm_plugindir=`ls -d /usr/lib/*/slurm-wlm /usr/lib64/slurm /usr/lib/*/slurm 2>/dev/null | head -n 1`])
  AS_IF([test -z "$slurm_plugindir"], [slurm_plugindir='${libdir}/slurm'])

  x_build_plugin=no
  x_slurm_summary="not built: give --with-slurm-src=DIR"
  AS_IF([test -n "$with_slurm_src"], [
    with_slurm_src=`cd "$with_slurm_src" 2>/dev/null && pwd`
    AS_IF([test -r "$with_slurm_src/META"], [], [AC_MSG_ERROR([--with-slurm-src: no META file there; give the top of a Slurm source tree])])
    X_TREE_VERSION
    AC_MSG_CHECKING([whether the Slurm tree is version $x_libslurm_version])
    AS_IF([test "x$x_tree_version" = "x$x_libslurm_version" || test "x$enable_plugin_only" = xyes], [AC_MSG_RESULT([yes])], [
      AC_MSG_RESULT([no, $x_tree_version])
      AC_MSG_ERROR([the tree is Slurm $x_tree_version, the installed libslurm is $x_libslurm_version: slurmctld loads only a plugin of its very version; get the matching tree])])
    AS_IF([test -n "$with_slurm_build"], [], [test -r "$with_slurm_src/config.h"], [with_slurm_build="$with_slurm_src"], [
      with_slurm_build="`pwd`/slurm-config"
      AS_IF([test -r "$with_slurm_build/config.h"], [], [
        AC_MSG_NOTICE([running the Slurm tree's configure for its config.h (about a minute)])
        mkdir -p "$with_slurm_build"
        (cd "$with_slurm_build" && "$with_slurm_src/configure" --disable-dependency-tracking --without-rpath > configure.log 2>&1) ||
          AC_MSG_ERROR([the Slurm tree's configure failed: see $with_slurm_build/configure.log])])])
    AS_IF([test -r "$with_slurm_build/config.h"], [], [AC_MSG_ERROR([no config.h in $with_slurm_build: run that tree's configure, or leave --with-slurm-build out])])
    # Its config.h comes before ours. In a directory of its own: gcc drops -iquote of one that is given with -isystem as well.
    mkdir -p slurm-seam && cp -p "$with_slurm_build/config.h" slurm-seam/config.h || AC_MSG_ERROR([cannot copy Slurm's config.h])
    SLURM_SRC_CPPFLAGS="-iquote `pwd`/slurm-seam -isystem $with_slurm_src -isystem $with_slurm_build -isystem $with_slurm_build/slurm -isystem $with_slurm_src/slurm"
    x_build_plugin=yes
    x_slurm_summary="for Slurm $x_tree_version"])
  AS_IF([test "x$enable_plugin_only" = xyes], [x_agent_summary="not built: --enable-plugin-only"],
        [x_agent_summary="libslurm $x_libslurm_version"])
  SLURM_CONFIGURE_FLAGS="${with_slurm:+--with-slurm=$with_slurm} ${with_slurm_src:+--with-slurm-src=$with_slurm_src} ${with_slurm_build:+--with-slurm-build=$with_slurm_build} --enable-untested-slurm=$enable_untested_slurm"
  AC_SUBST([SLURM_CONFIGURE_FLAGS])
  AM_CONDITIONAL([BUILD_PLUGIN], [test $x_build_plugin = yes])
  # testsuite/component/host has the shape of that slurmctld
  AM_CONDITIONAL([HOST_STUB_FITS], [AS_CASE([$x_build_plugin:$x_libslurm_version], [yes:22.05.*], [true], [false])])
  AC_SUBST([SLURM_CPPFLAGS])
  AC_SUBST([SLURM_LIBS])
  AC_SUBST([SLURM_SRC_CPPFLAGS])
  AC_SUBST([slurm_plugindir])
])
