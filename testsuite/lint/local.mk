TESTS += %D%/classes
TESTS += %D%/clocks
TESTS += %D%/commits
TESTS += %D%/documents
# once is enough: where Slurm is in a chroot, the tools are not
if CORE_TESTS
TESTS += %D%/format
endif
TESTS += %D%/layers
TESTS += %D%/links
TESTS += %D%/mutants
TESTS += %D%/private
TESTS += %D%/recommended
TESTS += %D%/sizes
TESTS += %D%/tables
TESTS += %D%/texts
TESTS += %D%/versions
TESTS += %D%/widths
TESTS += %D%/words
EXTRA_DIST += \
	%D%/classes \
	%D%/clocks \
	%D%/commits \
	%D%/documents \
	%D%/format \
	%D%/layers \
	%D%/links \
	%D%/mutants \
	%D%/private \
	%D%/recommended \
	%D%/sizes \
	%D%/sources.py \
	%D%/tables \
	%D%/texts \
	%D%/versions \
	%D%/widths \
	%D%/words
