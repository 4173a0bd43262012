#!/bin/sh
# install.sh DIR: the npm packages of versions.txt, each line in DIR/NAME, without touching anything else. What is there stays.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
while read -r name packages; do
	to=$1/$name
	[ "$(cat "$to/installed" 2>/dev/null)" = "$packages" ] && continue
	rm -rf "$to"
	mkdir -p "$to"
	echo '{"private":true}' > "$to/package.json"
	# shellcheck disable=SC2086 # the line is a list
	if (cd "$to" && npm install --no-audit --no-fund --loglevel=error $packages > install.log 2>&1); then
		echo "$packages" > "$to/installed"
	else
		echo "NOTE: $name cannot be installed here: $(tail -n 1 "$to/install.log")"
	fi
done < "$here/versions.txt"
