TESTS += %D%/layers
TESTS += %D%/tables
TESTS += %D%/words
EXTRA_DIST += \
	%D%/layers \
	%D%/tables \
	%D%/words
