# Guides, which make install puts into docdir, and manual pages, which scdoc makes and the tarball
# has.
dist_doc_DATA += \
	NEWS.md \
	README.md \
	%D%/admin.md \
	%D%/architecture.svg \
	%D%/benchmarks.md \
	%D%/benchmarks.svg \
	%D%/comparison.md \
	%D%/hybrid.md \
	%D%/index.md \
	%D%/metrics.md \
	%D%/migrate-slurm-bridge.md \
	%D%/migrate-sunk.md \
	%D%/devices.md \
	%D%/symptoms.md \
	%D%/tutorial-admin.md \
	%D%/tutorial-platform.md \
	%D%/tutorial-user.md \
	%D%/user.md
EXTRA_DIST += \
	.clang-format \
	.clang-tidy \
	.editorconfig \
	.flake8 \
	CONTRIBUTING.md \
	pyproject.toml \
	%D%/design \
	%D%/man/skube.1.scd \
	%D%/man/slurm-kube.7.scd \
	%D%/man/slurmkube-node.8.scd \
	%D%/man/slurmkubed.8.scd \
	%D%/man/slurmkubed.yaml.5.scd \
	%D%/site/build \
	%D%/site/hooks.py \
	%D%/site/mkdocs.yml \
	%D%/site/requirements.txt \
	%D%/site/scdoc.py

# The web site. Its programs come by pip, so it is not part of "make all".
.PHONY: site
site:
	$(srcdir)/%D%/site/build $(abs_builddir)/site
clean-local:
	rm -rf site

if HAVE_MAN_PAGES
dist_man_MANS += \
	%D%/man/skube.1 \
	%D%/man/slurm-kube.7 \
	%D%/man/slurmkube-node.8 \
	%D%/man/slurmkubed.8 \
	%D%/man/slurmkubed.yaml.5
endif

if HAVE_SCDOC
MAINTAINERCLEANFILES = $(dist_man_MANS)
SUFFIXES = .scd
.scd:
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(SCDOC) < $< > $@.tmp && mv $@.tmp $@
endif
