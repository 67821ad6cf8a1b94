TESTS += %D%/layers
TESTS += %D%/words
EXTRA_DIST += \
	%D%/layers \
	%D%/words
