# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# The disk of the virtual machine: Debian with systemd, its kernel, Debian's Slurm, and the programs
# of a node that testsuite/k8s/build makes; sourced by run, after chroot.sh and built.sh. The image
# is in the cache, $image, with its kernel and initrd beside it. slurm-kube is not in it, but the
# libraries that its packages need.
# shellcheck disable=SC2016,SC2154 # the chroot's shell expands; from chroot.sh, built.sh and run

IMAGE_RECIPE=2 # increment it when this file changes
IMAGE_SIZE=8G  # sparse
# The second line: what set-up and the cases need. The third: for the container runtime.
IMAGE_PACKAGES="systemd systemd-sysv dbus udev linux-image-cloud-amd64 openssh-server slurmd
	slurm-client openssl curl ca-certificates iproute2 procps kmod jq python3 less
	runc containernetworking-plugins"
[ "$runtime" = containerd ] || IMAGE_PACKAGES="$IMAGE_PACKAGES $oci_runtime conmon"
image=$CACHE/vm/$suite-$runtime.ext4
opt=opt/slurm-kube # the cache of testsuite/k8s in the virtual machine
HOST=hybrid1
ADDRESS=10.0.2.15 # what QEMU's network gives to the first machine

image_key() {
	echo "$IMAGE_RECIPE $(cat "$CACHE/k8s/bin/.kubectl.version" \
		"$CACHE"/node/bin/.*.version "$CACHE/node/images/.version" | tr '\n' ' ')"
}

install_image_packages() {
	echo force-unsafe-io > "$root/etc/dpkg/dpkg.cfg.d/unsafe"
	in_root apt-get update
	# shellcheck disable=SC2086 # one word per package
	in_root apt-get -y install --no-install-recommends $IMAGE_PACKAGES || return 1
	cp "$out"/*.deb "$root/var/cache/"
	in_root sh -ec 'apt-get -y install --no-install-recommends /var/cache/*.deb
		dpkg --purge $(dpkg-query -W -f "\${Package}\n" "slurm-kube*")
		rm /var/cache/*.deb && apt-get clean'
}

copy_programs() {
	local programs=(containerd containerd-shim-runc-v2 ctr)
	[ "$runtime" = containerd ] || programs=(crio copyimg pinns)
	mkdir -p "$root/$opt/node" "$root/usr/local/bin"
	cp -r "$CACHE/node/images" "$root/$opt/node/"
	cp "${programs[@]/#/$CACHE/node/bin/}" \
		"$CACHE"/node/bin/{kubelet,dra-example-kubeletplugin} "$CACHE/k8s/bin/kubectl" \
		"$root/usr/local/bin/"
}

configure_image() {
	echo $HOST > "$root/etc/hostname"
	printf '127.0.0.1 localhost\n%s %s\n' $ADDRESS $HOST > "$root/etc/hosts"
	echo '/dev/vda / ext4 defaults 0 1' > "$root/etc/fstab"
	# no gateway: no packet leaves the machine
	printf '[Match]\nName=eth0\n[Network]\nAddress=%s/24\nLinkLocalAddressing=no\n' $ADDRESS \
		> "$root/etc/systemd/network/10-eth0.network"
	in_root systemctl enable systemd-networkd
	in_root systemctl mask apt-daily.timer apt-daily-upgrade.timer
	[ -e "$CACHE/vm/key" ] || ssh-keygen -q -t ed25519 -N '' -f "$CACHE/vm/key"
	mkdir "$root/root/.ssh"
	cp "$CACHE/vm/key.pub" "$root/root/.ssh/authorized_keys"
}

# Makes $image, if it is not there or old.
have_image() {
	mkdir -p "$CACHE/vm"
	lock "vm-$suite-$runtime"
	[ "$(cat "$image.key" 2> /dev/null)" = "$(image_key)" ] && return
	need_space "$CACHE" 8 "the virtual machine's disk"
	clean_root
	lock "vm-$suite-$runtime"
	with_progress "packages of the image" "$CACHE/log/vm-packages.log" last_line \
		install_image_packages || exit 1
	copy_programs
	with_progress "configuration of the image" "$CACHE/log/vm-configure.log" last_line \
		configure_image || exit 1
	cp "$root"/boot/vmlinuz-* "$image.kernel"
	cp "$root"/boot/initrd.img-* "$image.initrd"
	rm -f "$image"
	with_progress "file system of the image" "$CACHE/log/vm-mke2fs.log" last_line \
		mke2fs -q -t ext4 -d "$root" "$image" $IMAGE_SIZE || exit 1
	image_key > "$image.key"
	rm -rf --one-file-system "$root"
}
