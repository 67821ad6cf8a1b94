# Unit file, example configuration, permissions in Kubernetes.
dist_doc_DATA += \
	%D%/example-pod.yaml \
	%D%/policies.yaml \
	%D%/policy-options.yaml \
	%D%/policy-scheduler-name.yaml \
	%D%/rbac.yaml \
	%D%/slurm-kube.slurm.conf \
	%D%/slurmkube-node.conf \
	%D%/slurmkubed.yaml
units = %D%/slurmkubed.service %D%/slurmkubed@.service %D%/slurmkube-node.service
EXTRA_DIST += %D%/slurmkubed.service.in %D%/slurmkubed@.service.in \
	%D%/slurmkube-node.service.in %D%/50-slurm-kube.in %D%/50-slurm-kube.prolog.in \
	%D%/50-slurm-kube.json.in
CLEANFILES += $(units) $(scripts_of_slurmd) %D%/50-slurm-kube.json
# Epilog and Prolog in slurm.conf name them. They have one name in two folders.
scripts_of_slurmd = %D%/50-slurm-kube %D%/prolog.d/50-slurm-kube
epilogdir = $(pkglibexecdir)/epilog.d
prologdir = $(pkglibexecdir)/prolog.d
epilog_SCRIPTS = %D%/50-slurm-kube
prolog_SCRIPTS = %D%/prolog.d/50-slurm-kube

if HAVE_SYSTEMD_UNIT
systemdsystemunit_DATA = $(units)
endif

make_unit = $(AM_V_GEN)$(MKDIR_P) %D% && $(SED) 's|[@]sbindir[@]|$(sbindir)|g' \
	$(srcdir)/$@.in > $@
%D%/slurmkubed.service: $(srcdir)/%D%/slurmkubed.service.in Makefile
	$(make_unit)
%D%/slurmkubed@.service: $(srcdir)/%D%/slurmkubed@.service.in Makefile
	$(make_unit)
%D%/slurmkube-node.service: $(srcdir)/%D%/slurmkube-node.service.in Makefile
	$(make_unit)
%D%/50-slurm-kube: $(srcdir)/%D%/50-slurm-kube.in Makefile
	$(make_unit)
%D%/50-slurm-kube.json: $(srcdir)/%D%/50-slurm-kube.json.in Makefile
	$(make_unit)
%D%/prolog.d/50-slurm-kube: $(srcdir)/%D%/50-slurm-kube.prolog.in Makefile
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(SED) 's|[@]sbindir[@]|$(sbindir)|g' \
		$(srcdir)/%D%/50-slurm-kube.prolog.in > $@

# Where each shell looks for completions; distributions may use other directories.
bashcompletiondir = $(datadir)/bash-completion/completions
fishcompletiondir = $(datadir)/fish/vendor_completions.d
zshcompletiondir = $(datadir)/zsh/site-functions
# each shell wants another name
install-data-local:
	$(MKDIR_P) $(DESTDIR)$(bashcompletiondir) $(DESTDIR)$(fishcompletiondir) \
		$(DESTDIR)$(zshcompletiondir)
	$(INSTALL_DATA) $(srcdir)/contribs/completion/skube.bash \
		$(DESTDIR)$(bashcompletiondir)/skube
	$(INSTALL_DATA) $(srcdir)/contribs/completion/skube.fish $(DESTDIR)$(fishcompletiondir)
	$(INSTALL_DATA) $(srcdir)/contribs/completion/skube.zsh $(DESTDIR)$(zshcompletiondir)/_skube
uninstall-local:
	rm -f $(DESTDIR)$(bashcompletiondir)/skube $(DESTDIR)$(fishcompletiondir)/skube.fish \
		$(DESTDIR)$(zshcompletiondir)/_skube
