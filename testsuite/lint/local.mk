TESTS += %D%/classes.py
TESTS += %D%/clocks.py
TESTS += %D%/commits.py
TESTS += %D%/documents.py
TESTS += %D%/fixed_widths.py
# once is enough, because the tools need half a minute; where Slurm is in a chroot, they are not
if CORE_TESTS
if !SANITIZED
TESTS += %D%/format.py
endif
endif
TESTS += %D%/layers.py
TESTS += %D%/links.py
TESTS += %D%/mutants.py
TESTS += %D%/private.py
TESTS += %D%/recipes.py
TESTS += %D%/recommended.py
TESTS += %D%/sizes.py
TESTS += %D%/tables.py
TESTS += %D%/texts.py
TESTS += %D%/versions.py
TESTS += %D%/widths.py
TESTS += %D%/words
EXTRA_DIST += \
	%D%/classes.py \
	%D%/clocks.py \
	%D%/commits.py \
	%D%/documents.py \
	%D%/fixed_widths.py \
	%D%/format.py \
	%D%/layers.py \
	%D%/links.py \
	%D%/mutants.py \
	%D%/private.py \
	%D%/recipes.py \
	%D%/recommended.py \
	%D%/sizes.py \
	%D%/sources.py \
	%D%/tables.py \
	%D%/texts.py \
	%D%/versions.py \
	%D%/widths.py \
	%D%/words
