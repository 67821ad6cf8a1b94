# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# What build-packages and build-plugin share; sourced, never run.

pkg=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source-path=SCRIPTDIR source=../../testsuite/common.sh
. "$pkg/../../testsuite/common.sh"

# shellcheck disable=SC2034 # for the scripts that source this file
PLUGIN_PACKAGES="build-essential debhelper dpkg-dev pkgconf libjson-c-dev libmunge-dev"

# The files of the tree, without what a build made: those that git tracks, or in an unpacked tarball
# all.
export_tree() {
	mkdir -p "$1"
	if git -C "$SOURCE" -c safe.directory='*' rev-parse > /dev/null 2>&1; then
		git -C "$SOURCE" -c safe.directory='*' ls-files -z |
			tar -C "$SOURCE" --null -T - -cf - | tar -C "$1" -xf -
	else
		tar -C "$SOURCE" -cf - . | tar -C "$1" -xf -
	fi
}

# The release tarball of this tree, in DIRECTORY: the path of the file. It does not depend on the
# Slurm at hand.
make_tarball() {
	local tree=$1/tree log=$1/dist.log
	export_tree "$tree"
	with_progress "make dist" "$log" last_line env -C "$tree" sh -ec '
		[ -e configure ] || ./autogen.sh
		./configure -q --disable-core-tests
		make -s dist' || exit 1
	echo "$tree"/slurm-kube-*.tar.xz
}

# FILE: fills in a template (*.in), and removes the template. The script sets $revision.
# shellcheck disable=SC2154
fill_in() {
	sed -e "s|@SOURCE@|$source_name|g" -e "s|@VERSION@|$version|g" \
		-e "s|@REVISION@|$revision|g" -e "s|@SLURM_VERSION@|${slurm_version:-}|g" \
		"$1" > "${1%.in}"
	chmod --reference="$1" "${1%.in}"
	rm "$1"
}

# NAME TARBALL DEBIAN WORK: unpacks the source package NAME with the directory DEBIAN. Its version
# is that of the tarball, so that configure.ac is the only place with a version.
unpack_source() {
	local file
	source_name=$1
	version=$(basename "$2" .tar.xz)
	version=${version#slurm-kube-}
	tree=$4/$source_name-$version
	mkdir -p "$tree"
	cp "$2" "$4/${source_name}_$version.orig.tar.xz"
	tar -C "$tree" --strip-components=1 -xf "$2"
	cp -r "$3" "$tree/debian"
	cp -n "$pkg"/debian/copyright "$pkg"/debian/changelog.in "$tree/debian/"
	mkdir -p "$tree/debian/source"
	echo "3.0 (quilt)" > "$tree/debian/source/format"
	for file in "$tree"/debian/*.in; do fill_in "$file"; done
}

# WORK OUT: builds the unpacked source package, and moves what was built to OUT. Times in packages
# come from the changelog, so the same sources give the same packages.
build_source() {
	local options=${DEB_BUILD_OPTIONS:-nocheck}
	[[ $options = *parallel* ]] || options="$options parallel=${MAKE_JOBS:-$(nproc)}"
	with_progress "dpkg-buildpackage $source_name" "$1/$source_name.log" last_line \
		env -C "$tree" -u TAR_OPTIONS DEB_BUILD_OPTIONS="$options" LC_ALL=C.UTF-8 \
		dpkg-buildpackage -us -uc -F || exit 1
	mkdir -p "$2"
	find "$1" -maxdepth 1 -type f -not -name '*.log' -exec mv -t "$2" {} +
}

# The same time for all files of the tarball, whenever it is made.
tar_options() {
	local date
	date=$(sed -n 's/^ -- .*>  //p' "$pkg/debian/changelog.in")
	echo "--sort=name --mtime=@$(date -d "$date" +%s) --owner=0 --group=0 --numeric-owner" \
		"--pax-option=exthdr.name=%d/PaxHeaders/%f,delete=atime,delete=ctime"
}
