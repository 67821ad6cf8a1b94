# Unit file, example configuration, permissions in Kubernetes.
dist_doc_DATA = \
	%D%/example-pod.yaml \
	%D%/policies.yaml \
	%D%/policy-options.yaml \
	%D%/policy-scheduler-name.yaml \
	%D%/rbac.yaml \
	%D%/slurm-kube.slurm.conf \
	%D%/slurmkubed.yaml
EXTRA_DIST += %D%/slurmkubed.service.in
CLEANFILES += %D%/slurmkubed.service

if HAVE_SYSTEMD_UNIT
systemdsystemunit_DATA = %D%/slurmkubed.service
endif

%D%/slurmkubed.service: $(srcdir)/%D%/slurmkubed.service.in Makefile
	$(AM_V_GEN)$(MKDIR_P) %D% && $(SED) 's|[@]sbindir[@]|$(sbindir)|g' \
		$(srcdir)/%D%/slurmkubed.service.in > $@

EXTRA_DIST += contribs/completion/skube.bash
