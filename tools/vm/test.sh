#!/bin/sh
# Runs the tests of isolation in a virtual machine, on a kernel other than this machine's:
#
#   tools/vm/test.sh KERNEL [amd64|arm64]
#
# KERNEL is a kernel image, such as boot/vmlinuz-* in Debian's linux-image-cloud-amd64. BUSYBOX names a static busybox
# for the same architecture; without it, this machine's. It emulates the processor, so that any architecture runs
# anywhere, and takes some minutes. In the machine the tests are root, in a tree of control groups with all controllers.
# Then thresh is used there as root and as another user, with plugins.isolation=strict: a strategy that ships must work,
# and a plugin that tries to get out must not.
set -eu
kernel=${1:?"usage: $0 KERNEL [amd64|arm64]"}
arch=${2:-amd64}
busybox=${BUSYBOX:-$(command -v busybox || true)}
case $arch in
amd64) qemu="qemu-system-x86_64 -cpu max" console=ttyS0 ;;
arm64) qemu="qemu-system-aarch64 -machine virt -cpu max" console=ttyAMA0 ;;
*) echo "$0: no architecture $arch" >&2 && exit 2 ;;
esac
for needed in ${qemu%% *} cpio "$busybox"; do
	command -v "$needed" >/dev/null || { echo "SKIPPED: ${needed:-a static busybox} is not installed" >&2; exit 0; }
done

cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
mkdir -p "$root/bin" "$root/usr/bin" "$root/usr/lib" "$root/etc" "$root/t"
cp "$busybox" "$root/bin/busybox"
for tool in sleep setsid head true; do
	ln -s /bin/busybox "$root/usr/bin/$tool"
	ln -s busybox "$root/bin/$tool"
done
ln "$root/bin/busybox" "$root/bin/sh" # a program of its own: isolation runs what a link leads to, by that name
ln -s /bin/sh "$root/usr/bin/sh"
printf 'root:x:0:0::/:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n' >"$root/etc/passwd"
tests=./host/internal/plugins/isolate
export CGO_ENABLED=0 GOOS=linux GOARCH="$arch"
go build -trimpath -ldflags='-s -w' -o "$root/t/" $tests/testdata/inside $tests/testdata/hostile
go test -c -trimpath -ldflags='-s -w' -o "$root/t/isolate.test" $tests
go build -trimpath -ldflags='-s -w' -o "$root/t/" ./host/cmd/thresh
mkdir "$root/t/plugins"
go build -trimpath -ldflags='-s -w' -o "$root/t/plugins/thresh-strategy-tries-to-escape" \
	./host/internal/plugins/testdata/faulty
cp examples/sessions/native-mdlinks.json "$root/t/session.json"

# A root that came with the kernel cannot be left with pivot_root, as isolation does: the tests get one of their own.
cat >"$root/init" <<'EOF'
#!/bin/busybox sh
b=/bin/busybox
$b mkdir -p /new && $b mount -t tmpfs root /new
$b cp -a /bin /usr /etc /t /new/
exec $b switch_root /new /t/run
EOF
cat >"$root/t/run" <<'EOF'
#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/usr/bin:/bin TMPDIR=/tmp HOME=/
mkdir -p /proc /sys /dev /tmp
mount -t proc proc /proc && mount -t sysfs sys /sys && mount -t devtmpfs dev /dev
mkdir -p /dev/shm && mount -t tmpfs shm /dev/shm && mount -t tmpfs tmp /tmp
chmod 1777 /dev/shm /tmp
mount -t cgroup2 groups /sys/fs/cgroup
ip link set lo up
cat /proc/version
cd /t && THRESH_TEST_HOSTILE=/t/hostile ./isolate.test -test.v 2>&1 | grep -v '^=== '
/t/strict
su -s /bin/sh nobody -c /t/strict
poweroff -f
EOF
cat >"$root/t/strict" <<'EOF'
#!/bin/sh
export HOME=$(mktemp -d) THRESH_PLUGINS_ISOLATION=strict THRESH_PLUGINS_DIRS=/t/plugins
cd "$HOME"
for command in 'plugins try --step=optimize --strategy high-density' 'plugins try --strategy tries-to-escape'; do
	verdict=PASS
	/t/thresh $command /t/session.json >answer 2>errors || verdict=FAIL
	attempts=$(grep -o 'tcp=[^"]*' answer)
	case $command in
	*optimize*) grep -q '^{"removals":\[[0-9]' answer || verdict=FAIL ;;
	*)
		# No one listens: the network is closed only if another error comes than that. And nothing but what a plugin may
		# do is done.
		case $attempts in 'tcp=permission denied,udp=permission denied,'*) ;; *) verdict=FAIL ;; esac
		[ "$(echo "$attempts" | tr , '\n' | grep '=done$' | tr '\n' ' ')" = 'write-inside=done fewer-files=done ' ] ||
			verdict=FAIL
		;;
	esac
	echo "--- $verdict: strict, as $(id -un): $command: $(head -c 60 answer) $attempts"
	[ $verdict = PASS ] || { cat errors; /t/thresh doctor; }
done
EOF
chmod 755 "$root/init" "$root/t/run" "$root/t/strict"
(cd "$root" && find . | cpio -o -H newc --quiet | gzip -1) >"$work/initrd"

$qemu -accel tcg,thread=multi -m 1500 -smp 2 -nographic -no-reboot -kernel "$kernel" -initrd "$work/initrd" \
	-append "console=$console quiet panic=-1 lsm=landlock,lockdown,yama,integrity" | tr -d '\r' | tee "$work/out"
grep -q '^PASS' "$work/out" && [ "$(grep -c -- '--- PASS: strict' "$work/out")" = 4 ] &&
	! grep -q -- '--- FAIL' "$work/out"
