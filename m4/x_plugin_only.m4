# X_PLUGIN_ONLY: --enable-plugin-only builds job_submit/kube and nothing else, for any Slurm tree, whatever Slurm is installed.
# It needs json-c, but neither libslurm nor the libraries of the agent.
AC_DEFUN([X_PLUGIN_ONLY], [
  AC_ARG_ENABLE([plugin-only],
    [AS_HELP_STRING([--enable-plugin-only], [build only the plugin, for the tree of --with-slurm-src; libslurm is not needed])],
    [], [enable_plugin_only=no])
  AM_CONDITIONAL([BUILD_AGENT], [test "x$enable_plugin_only" != xyes])
])
